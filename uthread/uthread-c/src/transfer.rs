//! Transfers that block only the calling thread.

use core::ffi::{c_int, c_uint, c_void};
use core::slice;
use std::io;
use std::os::fd::BorrowedFd;

use uthread::Cancelled;
use uthread::io::{
    Interest, fsync, fsync_timeout, poll_fd, poll_fd_timeout, read_at, read_at_timeout, write_at,
    write_at_timeout,
};

use crate::call::{caught, outcome};
use crate::error::{Errno, limit};

/// The result of a transfer as C sees it: bytes, or a negative error number.
pub(crate) fn transferred(work: impl FnOnce() -> Result<usize, Errno>) -> isize {
    match outcome(work) {
        Ok(bytes) => bytes.cast_signed(),
        Err(errno) => -(errno as isize),
    }
}

#[expect(clippy::needless_pass_by_value, reason = "it is passed to `map_err`")]
pub(crate) fn errno(error: io::Error) -> Errno {
    if error.kind() == io::ErrorKind::TimedOut {
        return libc::ETIMEDOUT;
    }
    let cause = error.get_ref();
    if cause.is_some_and(<dyn std::error::Error + Send + Sync>::is::<Cancelled>) {
        return libc::ECANCELED;
    }
    error.raw_os_error().unwrap_or(libc::EIO)
}

/// # Safety
/// The descriptor must stay open until the last use.
pub(crate) unsafe fn borrow<'a>(fd: c_int) -> Result<BorrowedFd<'a>, Errno> {
    if fd < 0 {
        return Err(libc::EBADF);
    }
    // SAFETY: not -1, and the caller's contract.
    Ok(unsafe { BorrowedFd::borrow_raw(fd) })
}

/// A buffer's place, and its offset in the file.
fn place<T>(buffer: *mut T, offset: i64) -> Result<(*mut T, u64), Errno> {
    let offset = u64::try_from(offset).map_err(|_| libc::EINVAL)?;
    if buffer.is_null() {
        return Err(libc::EFAULT);
    }
    Ok((buffer, offset))
}

#[unsafe(no_mangle)]
unsafe extern "C-unwind" fn uthread_async_read(
    fd: c_int,
    buffer: *mut c_void,
    bytes: usize,
    offset: i64,
) -> isize {
    transferred(|| {
        let (buffer, offset) = place(buffer.cast::<u8>(), offset)?;
        // SAFETY: the header asks for a buffer of this size that nobody else uses meanwhile.
        unsafe {
            let buffer = slice::from_raw_parts_mut(buffer, bytes);
            read_at(borrow(fd)?, buffer, offset).map_err(errno)
        }
    })
}

#[unsafe(no_mangle)]
unsafe extern "C-unwind" fn uthread_async_read_timed(
    fd: c_int,
    buffer: *mut c_void,
    bytes: usize,
    offset: i64,
    microseconds: c_uint,
) -> isize {
    transferred(|| {
        let (buffer, offset) = place(buffer.cast::<u8>(), offset)?;
        // SAFETY: as above.
        unsafe {
            let buffer = slice::from_raw_parts_mut(buffer, bytes);
            read_at_timeout(borrow(fd)?, buffer, offset, limit(microseconds)).map_err(errno)
        }
    })
}

#[unsafe(no_mangle)]
unsafe extern "C-unwind" fn uthread_async_write(
    fd: c_int,
    buffer: *const c_void,
    bytes: usize,
    offset: i64,
) -> isize {
    transferred(|| {
        let (buffer, offset) = place(buffer.cast_mut().cast::<u8>(), offset)?;
        // SAFETY: the header asks for a buffer of this size that nobody changes meanwhile.
        unsafe {
            let buffer = slice::from_raw_parts(buffer, bytes);
            write_at(borrow(fd)?, buffer, offset).map_err(errno)
        }
    })
}

#[unsafe(no_mangle)]
unsafe extern "C-unwind" fn uthread_async_write_timed(
    fd: c_int,
    buffer: *const c_void,
    bytes: usize,
    offset: i64,
    microseconds: c_uint,
) -> isize {
    transferred(|| {
        let (buffer, offset) = place(buffer.cast_mut().cast::<u8>(), offset)?;
        // SAFETY: as above.
        unsafe {
            let buffer = slice::from_raw_parts(buffer, bytes);
            write_at_timeout(borrow(fd)?, buffer, offset, limit(microseconds)).map_err(errno)
        }
    })
}

#[unsafe(no_mangle)]
unsafe extern "C-unwind" fn uthread_fsync(fd: c_int) -> c_int {
    // SAFETY: the header asks for a descriptor that stays open.
    caught(|| fsync(unsafe { borrow(fd) }?).map(|()| 0).map_err(errno))
}

#[unsafe(no_mangle)]
unsafe extern "C-unwind" fn uthread_fsync_timed(fd: c_int, microseconds: c_uint) -> c_int {
    caught(|| {
        // SAFETY: as above.
        let synced = fsync_timeout(unsafe { borrow(fd) }?, limit(microseconds));
        synced.map(|()| 0).map_err(errno)
    })
}

pub(crate) fn interest_of(events: c_int) -> Result<Interest, Errno> {
    match events {
        1 => Ok(Interest::READABLE),
        2 => Ok(Interest::WRITABLE),
        3 => Ok(Interest::READABLE.or(Interest::WRITABLE)),
        _ => Err(libc::EINVAL),
    }
}

fn events_of(found: Interest) -> c_int {
    let bits = [
        (found.is_readable(), 1),
        (found.is_writable(), 2),
        (found.is_error(), 4),
    ];
    let set = bits.into_iter().filter(|(set, _)| *set);
    set.map(|(_, bit)| bit).sum()
}

#[unsafe(no_mangle)]
unsafe extern "C-unwind" fn uthread_poll(fd: c_int, events: c_int) -> c_int {
    caught(|| {
        // SAFETY: the header asks for a descriptor that stays open.
        let found = poll_fd(unsafe { borrow(fd) }?, interest_of(events)?);
        found.map(events_of).map_err(errno)
    })
}

#[unsafe(no_mangle)]
unsafe extern "C-unwind" fn uthread_poll_timed(
    fd: c_int,
    events: c_int,
    microseconds: c_uint,
) -> c_int {
    caught(|| {
        let interest = interest_of(events)?;
        // SAFETY: the header asks for a descriptor that stays open.
        let found = poll_fd_timeout(unsafe { borrow(fd) }?, interest, limit(microseconds));
        found.map(events_of).map_err(errno)
    })
}
