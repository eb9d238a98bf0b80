use std::ffi::CStr;
use std::fs::File;
use std::mem::MaybeUninit;
use std::os::fd::AsRawFd;

use super::failed;
use crate::call::CallPath;
use crate::error::Result;

#[inline]
pub(crate) fn read_byte(file: &File) -> Result<Option<u8>> {
    let mut byte = 0_u8;
    // SAFETY: `byte` has room for the 1 byte requested.
    match unsafe { libc::read(file.as_raw_fd(), (&raw mut byte).cast(), 1) } {
        1 => Ok(Some(byte)),
        0 => Ok(None),
        _ => failed("read a byte"),
    }
}

#[inline]
pub(crate) fn write_byte(file: &File) -> Result<()> {
    // SAFETY: the string has the 1 byte to write.
    match unsafe { libc::write(file.as_raw_fd(), c"x".as_ptr().cast(), 1) } {
        1 => Ok(()),
        _ => failed("write a byte"),
    }
}

#[inline]
pub(crate) fn seek(file: &File) -> Result<u64> {
    // SAFETY: no memory is involved.
    match unsafe { libc::lseek(file.as_raw_fd(), 1, libc::SEEK_CUR) } {
        -1 => failed("move the position of a file"),
        position => Ok(position as u64),
    }
}

#[inline]
pub(crate) fn open_close(path: &CallPath) -> Result<()> {
    // SAFETY: the path ends with a zero byte.
    let fd = unsafe { libc::open(path.0.as_ptr(), libc::O_RDONLY | libc::O_CLOEXEC) };
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
    let stream = unsafe { libc::fopen(path.0.as_ptr(), mode.as_ptr()) };
    if stream.is_null() {
        return failed("open a stream");
    }
    // SAFETY: the stream was opened above, and nothing else uses it.
    if unsafe { libc::fclose(stream) } != 0 {
        return failed("close a stream");
    }
    Ok(())
}

#[inline]
pub(crate) fn fopen_fclose(path: &CallPath) -> Result<()> {
    open_stream(path, c"re")
}

#[inline]
pub(crate) fn fopen_write_fclose(path: &CallPath) -> Result<()> {
    open_stream(path, c"w")
}

#[inline]
pub(crate) fn open_sync_close(path: &CallPath) -> Result<()> {
    const FLAGS: libc::c_int = libc::O_RDWR | libc::O_SYNC | libc::O_CREAT;
    // SAFETY: the path ends with a zero byte.
    let fd = unsafe { libc::open(path.0.as_ptr(), FLAGS, 0o600 as libc::c_uint) };
    close(fd, "open a file")
}

#[inline]
pub(crate) fn create_sync_delete(path: &CallPath) -> Result<()> {
    open_sync_close(path)?;
    delete(path)
}

#[inline]
pub(crate) fn create_delete(path: &CallPath) -> Result<()> {
    const FLAGS: libc::c_int = libc::O_WRONLY | libc::O_CREAT | libc::O_EXCL | libc::O_CLOEXEC;
    // SAFETY: the path ends with a zero byte.
    let fd = unsafe { libc::open(path.0.as_ptr(), FLAGS, 0o600 as libc::c_uint) };
    close(fd, "make a file")?;
    delete(path)
}

#[inline]
fn delete(path: &CallPath) -> Result<()> {
    // SAFETY: the path ends with a zero byte.
    if unsafe { libc::unlink(path.0.as_ptr()) } == -1 {
        return failed("delete a file");
    }
    Ok(())
}

#[inline]
pub(crate) fn stat(path: &CallPath) -> Result<()> {
    let mut status = MaybeUninit::<libc::stat>::uninit();
    // SAFETY: the path ends with a zero byte, and `status` has room for the result.
    match unsafe { libc::stat(path.0.as_ptr(), status.as_mut_ptr()) } {
        0 => Ok(()),
        _ => failed("ask for the status of a file"),
    }
}
