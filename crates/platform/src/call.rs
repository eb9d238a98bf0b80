//! The calls whose cost is measured. Each function does one operation, through the C library, and
//! nothing else that costs: the caller repeats and times it.

use std::ffi::CStr;
use std::fs::File;

use crate::{Result, os};

/// Asks the kernel for the process number: the shortest way into the kernel and back. Through
/// `syscall(2)`, so that no library can answer from memory.
///
/// # Errors
/// Only where there is no such call.
#[inline]
pub fn getpid_syscall() -> Result<u32> {
    os::call::getpid_syscall()
}

/// Reads 1 byte at the file's position, which moves on: one `read`. `None` at the end of the file.
///
/// # Errors
/// If the file cannot be read.
#[inline]
pub fn read_byte(file: &File) -> Result<Option<u8>> {
    os::call::read_byte(file)
}

/// Moves the file's position on by 1 byte: one `lseek`. Returns the new position.
///
/// # Errors
/// If the file has no position.
#[inline]
pub fn seek(file: &File) -> Result<u64> {
    os::call::seek(file)
}

/// Opens a file for reading and closes it: one `open`, one `close`.
///
/// # Errors
/// If the file cannot be opened.
#[inline]
pub fn open_close(path: &CStr) -> Result<()> {
    os::call::open_close(path)
}

/// Opens a stream for reading and closes it: one `fopen`, one `fclose`, which is `open`, `close` and
/// the stream's own memory. The buffer is not made, since nothing is read.
///
/// # Errors
/// If the file cannot be opened.
#[inline]
pub fn fopen_fclose(path: &CStr) -> Result<()> {
    os::call::fopen_fclose(path)
}

/// Makes an empty file that must not exist, closes it, and deletes it: one `open`, `close` and
/// `unlink`. Nothing is waited for on the device.
///
/// # Errors
/// If the file exists or cannot be made.
#[inline]
pub fn create_delete(path: &CStr) -> Result<()> {
    os::call::create_delete(path)
}

/// Takes memory from the C library and gives it back: one `malloc`, one `free`. The memory is not
/// touched; small sizes come from the allocator's per-thread cache.
///
/// # Errors
/// If there is no memory.
#[inline]
pub fn malloc_free(bytes: usize) -> Result<()> {
    os::call::malloc_free(bytes)
}

/// Makes a process that ends at once, and waits for it: one `fork`, `_exit` in the child, `waitpid`
/// in the parent. Serial: the next fork starts only after this child is gone. What a fork costs
/// grows with the memory that the parent has mapped and touched.
///
/// # Errors
/// If no process can be made.
#[inline]
pub fn fork_exit_wait() -> Result<()> {
    os::call::fork_exit_wait()
}
