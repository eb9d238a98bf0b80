use std::ffi::CStr;
use std::fs::File;
use std::mem::MaybeUninit;
use std::os::fd::AsRawFd;

use super::failed;
use crate::call::CallPath;
use crate::error::Result;

/// Reads 1 byte at the file's position, which advances: one `read` or `ReadFile`. `None` at
/// the end of the file.
///
/// # Errors
/// If the file cannot be read.
#[inline]
pub fn read_byte(file: &File) -> Result<Option<u8>> {
    let mut byte = 0_u8;
    // SAFETY: `byte` has room for the 1 byte requested.
    match unsafe { libc::read(file.as_raw_fd(), (&raw mut byte).cast(), 1) } {
        1 => Ok(Some(byte)),
        0 => Ok(None),
        _ => failed("read a byte"),
    }
}

/// Writes 1 byte at the file's position: one `write` or `WriteFile`.
///
/// # Errors
/// If the file cannot be written.
#[inline]
pub fn write_byte(file: &File) -> Result<()> {
    // SAFETY: the string has the 1 byte to write.
    match unsafe { libc::write(file.as_raw_fd(), c"x".as_ptr().cast(), 1) } {
        1 => Ok(()),
        _ => failed("write a byte"),
    }
}

/// Moves the file's position forward by 1 byte: one `lseek` or `SetFilePointerEx`. Returns the
/// new position.
///
/// # Errors
/// If the file has no position.
#[inline]
pub fn seek(file: &File) -> Result<u64> {
    // SAFETY: no memory is involved.
    match unsafe { libc::lseek(file.as_raw_fd(), 1, libc::SEEK_CUR) } {
        -1 => failed("move the position of a file"),
        position => Ok(position as u64),
    }
}

/// Opens a file for reading and closes it: one `open` and `close`, or `CreateFile` and
/// `CloseHandle`.
///
/// # Errors
/// If the file cannot be opened.
#[inline]
pub fn open_close(path: &CallPath) -> Result<()> {
    // SAFETY: the path ends with a zero byte.
    let fd = unsafe { libc::open(path.as_ptr(), libc::O_RDONLY | libc::O_CLOEXEC) };
    close(fd, "open a file")
}

/// Closes the result of an `open` for `action`.
#[inline]
fn close(fd: libc::c_int, action: &'static str) -> Result<()> {
    if fd == -1 {
        return failed(action);
    }
    // SAFETY: the caller opened the descriptor, and nothing else uses it.
    if unsafe { libc::close(fd) } == -1 {
        return failed("close a file");
    }
    Ok(())
}

/// Opens with `mode` and closes.
#[inline]
fn open_stream(path: &CallPath, mode: &CStr) -> Result<()> {
    // SAFETY: both strings end with a zero byte.
    let stream = unsafe { libc::fopen(path.as_ptr(), mode.as_ptr()) };
    if stream.is_null() {
        return failed("open a stream");
    }
    // SAFETY: the stream was opened above, and nothing else uses it.
    if unsafe { libc::fclose(stream) } != 0 {
        return failed("close a stream");
    }
    Ok(())
}

/// Opens a stream for reading and closes it: one `fopen`, on Windows one `_wfopen`, which takes any path,
/// and one `fclose`. That is the opening
/// and closing of a file and the allocation of the stream. The buffer is not allocated, since nothing is read.
///
/// # Errors
/// If the file cannot be opened.
#[inline]
pub fn fopen_fclose(path: &CallPath) -> Result<()> {
    open_stream(path, c"re")
}

/// Opens a stream for writing, which cuts the file to nothing, and closes it.
///
/// # Errors
/// If the file cannot be opened.
#[inline]
pub fn fopen_write_fclose(path: &CallPath) -> Result<()> {
    open_stream(path, c"w")
}

/// Opens a file for reading and for writing that waits for the device, which makes it if it does not
/// exist, and closes it: `O_RDWR`, `O_SYNC` and `O_CREAT`, or `FILE_FLAG_WRITE_THROUGH` with
/// `OPEN_ALWAYS`.
///
/// # Errors
/// If the file cannot be opened.
#[inline]
pub fn open_sync_close(path: &CallPath) -> Result<()> {
    const FLAGS: libc::c_int = libc::O_RDWR | libc::O_SYNC | libc::O_CREAT;
    // SAFETY: the path ends with a zero byte.
    let fd = unsafe { libc::open(path.as_ptr(), FLAGS, 0o600 as libc::c_uint) };
    close(fd, "open a file")
}

/// As [`open_sync_close`], and deletes the file.
///
/// # Errors
/// If the file cannot be created.
#[inline]
pub fn create_sync_delete(path: &CallPath) -> Result<()> {
    open_sync_close(path)?;
    delete(path)
}

/// Creates an empty file that must not exist, closes it, and deletes it: one `open`, `close` and
/// `unlink`, or `CreateFile`, `CloseHandle` and `DeleteFile`. It does not wait for the device.
///
/// # Errors
/// If the file exists or cannot be created.
#[inline]
pub fn create_delete(path: &CallPath) -> Result<()> {
    const FLAGS: libc::c_int = libc::O_WRONLY | libc::O_CREAT | libc::O_EXCL | libc::O_CLOEXEC;
    // SAFETY: the path ends with a zero byte.
    let fd = unsafe { libc::open(path.as_ptr(), FLAGS, 0o600 as libc::c_uint) };
    close(fd, "make a file")?;
    delete(path)
}

#[inline]
fn delete(path: &CallPath) -> Result<()> {
    // SAFETY: the path ends with a zero byte.
    if unsafe { libc::unlink(path.as_ptr()) } == -1 {
        return failed("delete a file");
    }
    Ok(())
}

/// Reads the size, times and permissions of a file: one `stat`, on Windows one
/// `GetFileAttributesEx`, which opens and closes the file.
///
/// # Errors
/// If the file does not exist.
#[inline]
pub fn stat(path: &CallPath) -> Result<()> {
    let mut status = MaybeUninit::<libc::stat>::uninit();
    // SAFETY: the path ends with a zero byte, and `status` has room for the result.
    match unsafe { libc::stat(path.as_ptr(), status.as_mut_ptr()) } {
        0 => Ok(()),
        _ => failed("ask for the status of a file"),
    }
}
