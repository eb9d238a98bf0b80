//! Parts of files: read and written at an offset, without waiting, without caching, copied and
//! shared within the kernel; and the alignment that direct transfers need.

use std::fs::File;
use std::io::ErrorKind;
use std::time::Duration;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{Error, Result, os};

/// Reads up to `block.len()` bytes at `offset` (one `pread`, again if a signal cut it off); 0 at the
/// end of the file.
///
/// # Errors
/// If the file cannot be read, or has no offsets, as a pipe.
#[inline]
pub fn read_at(file: &File, block: &mut [u8], offset: u64) -> Result<usize> {
    os::block_io::read_at(file, block, offset)
}

/// Fills `block` from `offset` on: one `pread`, and more of them only where the system gives less than
/// was asked for.
///
/// # Errors
/// As [`read_at`], and [`crate::Error::Os`] with [`std::io::ErrorKind::UnexpectedEof`] if the file ends
/// before.
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

/// Writes all of `block` at `offset`, by as few `pwrite` as the system lets it.
///
/// # Errors
/// If the file cannot be written, or there is no room.
#[inline]
pub fn write_at(file: &File, block: &[u8], offset: u64) -> Result<()> {
    os::block_io::write_at(file, block, offset)
}

/// How [`read_at_as`] reads.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ReadManner {
    /// Only what needs no waiting, which is what is in the page cache (`RWF_NOWAIT`, Linux 4.14).
    WithoutWaiting,
    /// What was not in the page cache leaves it again after the read (`RWF_DONTCACHE`, Linux 6.14, on
    /// some file systems).
    WithoutCaching,
}

/// As [`read_at`], in a manner (one `preadv2`); `None` if that would have had to wait.
///
/// # Errors
/// [`crate::Error::NotSupported`] if this kernel or file system knows no such manner; else as
/// [`read_at`].
#[inline]
pub fn read_at_as(
    file: &File,
    block: &mut [u8],
    offset: u64,
    manner: ReadManner,
) -> Result<Option<usize>> {
    os::block_io::read_at_as(file, block, offset, manner)
}

/// Copies up to `len` bytes from one file's position to another's without their passing through this
/// process (one `copy_file_range`); both positions move on. 0 at the end of `from`.
///
/// # Errors
/// [`crate::Error::NotSupported`] if this pair of files cannot do that; else if one of them cannot
/// be read or written.
pub fn copy_range(from: &File, to: &File, len: usize) -> Result<usize> {
    os::block_io::copy_range(from, to, len)
}

/// Lets `to` share all blocks of `from` until one of them is changed (reflink, `FICLONE`); takes the
/// place of what `to` held.
///
/// # Errors
/// [`crate::Error::NotSupported`] if their file system cannot share blocks, or they lie on two.
pub fn share_blocks(from: &File, to: &File) -> Result<()> {
    os::block_io::share_blocks(from, to)
}

/// What direct transfers ([`crate::file::OpenMode::Direct`]) of a file must be multiples of.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct DirectAlignment {
    /// The address of the buffer, in bytes.
    pub memory_bytes: u32,
    /// Offset in the file, and length, in bytes.
    pub offset_bytes: u32,
}

/// Asks for the alignment of direct transfers (`statx` with `STATX_DIOALIGN`, Linux 6.1); `None`
/// where the kernel or the file system does not tell.
///
/// # Errors
/// [`crate::Error::NotSupported`] if it tells that this file has no direct transfers.
pub fn direct_alignment(file: &File) -> Result<Option<DirectAlignment>> {
    os::block_io::direct_alignment(file)
}

/// Waits until a read of a pipe or device will not block, at most for `timeout`; whether it will not.
/// So a caller can look about while nothing comes.
///
/// # Errors
/// If the system refuses.
pub fn wait_readable(file: &File, timeout: Duration) -> Result<bool> {
    os::block_io::wait_readable(file, timeout)
}

/// Waits until a write to a pipe or device will not block, at most for `timeout`; whether it will not.
///
/// # Errors
/// If the system refuses.
pub fn wait_writable(file: &File, timeout: Duration) -> Result<bool> {
    os::block_io::wait_writable(file, timeout)
}
