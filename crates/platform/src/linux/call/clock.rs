use std::mem::MaybeUninit;

use super::failed;
use crate::error::Result;

#[inline]
pub(crate) fn clock_gettime() -> Result<()> {
    let mut now = MaybeUninit::<libc::timespec>::uninit();
    // SAFETY: `now` has room for the time.
    match unsafe { libc::clock_gettime(libc::CLOCK_MONOTONIC, now.as_mut_ptr()) } {
        0 => Ok(()),
        _ => failed("read the clock"),
    }
}

#[inline]
pub(crate) fn clock_gettime_syscall() -> Result<()> {
    let mut now = MaybeUninit::<libc::timespec>::uninit();
    // SAFETY: `now` has room for the time.
    let outcome = unsafe {
        libc::syscall(
            libc::SYS_clock_gettime,
            libc::CLOCK_MONOTONIC,
            now.as_mut_ptr(),
        )
    };
    match outcome {
        0 => Ok(()),
        _ => failed("read the clock by a system call"),
    }
}
