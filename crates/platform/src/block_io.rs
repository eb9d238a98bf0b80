//! Block input and output: reads and writes at an offset, reads that never wait or never fill the
//! page cache, copies and reflinks within the kernel, and the alignment of direct transfers.

use std::fs::File;
use std::io::ErrorKind;

use crate::{Error, Result};

pub use crate::os::block_io::{
    copy_range, direct_alignment, read_at, read_at_as, share_blocks, wait_readable, wait_writable,
    write_at,
};

/// Fills `block` from `offset` on: one `pread`, and more only after a short read.
///
/// # Errors
/// As [`read_at`], and [`crate::Error::Os`] with [`std::io::ErrorKind::UnexpectedEof`] if the file
/// ends too early.
#[inline]
pub fn read_exact_at(file: &File, block: &mut [u8], offset: u64) -> Result<()> {
    let mut filled = 0;
    while filled < block.len() {
        match read_at(file, &mut block[filled..], offset + filled as u64)? {
            0 => return Err(Error::os("read a file")(ErrorKind::UnexpectedEof)),
            count => filled += count,
        }
    }
    Ok(())
}

/// Mode of [`read_at_as`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ReadManner {
    /// Reads only from the page cache and never waits (`RWF_NOWAIT`, Linux 4.14).
    WithoutWaiting,
    /// Evicts the read pages from the page cache after the read, unless they were there before
    /// (`RWF_DONTCACHE`, Linux 6.14, on some file systems).
    WithoutCaching,
}

/// Required alignment of direct transfers ([`crate::file::OpenMode::Direct`]) of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DirectAlignment {
    /// Of the buffer's address, in bytes.
    pub memory_bytes: u32,
    /// Of the file offset and of the length, in bytes.
    pub offset_bytes: u32,
}
