//! Block input and output: reads and writes at an offset, reads that never wait or never fill the
//! page cache, copies and reflinks within the kernel, and the alignment of direct transfers.

use std::fs::File;
use std::io::ErrorKind;
use std::time::Duration;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{Error, Result};

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
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ReadManner {
    /// Reads only from the page cache and never waits (`RWF_NOWAIT`, Linux 4.14).
    WithoutWaiting,
    /// Evicts the read pages from the page cache after the read, unless they were there before
    /// (`RWF_DONTCACHE`, Linux 6.14, on some file systems).
    WithoutCaching,
}

/// Required alignment of direct transfers ([`crate::file::OpenMode::Direct`]) of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct DirectAlignment {
    /// Of the buffer's address, in bytes.
    pub memory_bytes: u32,
    /// Of the file offset and of the length, in bytes.
    pub offset_bytes: u32,
}

face! {
    os::block_io;

    /// Reads up to `block.len()` bytes at `offset` (one `pread`, repeated if a signal interrupts it).
    /// Returns 0 at the end of the file.
    ///
    /// # Errors
    /// If the file cannot be read, or has no offsets, such as a pipe.
    #[inline]
    pub fn read_at(file: &File, block: &mut [u8], offset: u64) -> Result<usize>;

    /// Writes all of `block` at `offset`, with as few `pwrite` calls as the system allows.
    ///
    /// # Errors
    /// If the file cannot be written, or no space is left.
    #[inline]
    pub fn write_at(file: &File, block: &[u8], offset: u64) -> Result<()>;

    /// As [`read_at`], in the given mode (one `preadv2`); `None` if the read would have to wait.
    ///
    /// # Errors
    /// [`crate::Error::NotSupported`] if this kernel or file system does not support the mode;
    /// otherwise as [`read_at`].
    #[inline]
    pub fn read_at_as(
        file: &File,
        block: &mut [u8],
        offset: u64,
        manner: ReadManner,
    ) -> Result<Option<usize>> = refuse("reading in another manner");

    /// Copies up to `len` bytes from the current position of one file to that of another, within the
    /// kernel (one `copy_file_range`). Both positions advance. Returns 0 at the end of `from`.
    ///
    /// # Errors
    /// [`crate::Error::NotSupported`] if the kernel cannot copy between these two files; another error
    /// if one of them cannot be read or written.
    pub fn copy_range(from: &File, to: &File, len: usize) -> Result<usize>
        = refuse("copying within the kernel");

    /// Makes `to` share all blocks of `from` until one of them changes (reflink, `FICLONE`). Replaces
    /// the contents of `to`.
    ///
    /// # Errors
    /// [`crate::Error::NotSupported`] if the file system cannot share blocks, or the files are on
    /// different file systems.
    pub fn share_blocks(from: &File, to: &File) -> Result<()>
        = refuse("sharing blocks between files");

    /// The alignment of direct transfers (`statx` with `STATX_DIOALIGN`, Linux 6.1); `None` if the
    /// kernel or the file system does not report it.
    ///
    /// # Errors
    /// [`crate::Error::NotSupported`] if this file does not support direct transfers.
    pub fn direct_alignment(file: &File) -> Result<Option<DirectAlignment>>
        = refuse("direct input and output");

    /// Waits for at most `timeout` until a read of a pipe or device will not block. Returns false on a
    /// timeout, so that the caller can check a stop flag while no data arrives.
    ///
    /// # Errors
    /// If the system refuses.
    pub fn wait_readable(file: &File, timeout: Duration) -> Result<bool>
        = refuse("waiting for a file");

    /// Waits for at most `timeout` until a write to a pipe or device will not block; false on a
    /// timeout.
    ///
    /// # Errors
    /// If the system refuses.
    pub fn wait_writable(file: &File, timeout: Duration) -> Result<bool>
        = refuse("waiting for a file");
}
