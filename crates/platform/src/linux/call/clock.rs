use std::mem::MaybeUninit;

use super::failed;
use crate::error::Result;

/// Reads the monotonic clock as programs do: through the C library, which uses the kernel's vDSO
/// and does not enter the kernel if the clock source allows it. On Windows `QueryPerformanceCounter`,
/// of which the same is true.
///
/// # Errors
/// Only if the system has no such call.
#[inline]
pub fn clock_gettime() -> Result<()> {
    let mut now = MaybeUninit::<libc::timespec>::uninit();
    // SAFETY: `now` has room for the time.
    match unsafe { libc::clock_gettime(libc::CLOCK_MONOTONIC, now.as_mut_ptr()) } {
        0 => Ok(()),
        _ => failed("read the clock"),
    }
}

/// Reads the same clock with a system call: `clock_gettime`, on Windows `NtQueryPerformanceCounter`.
///
/// # Errors
/// Only if the system has no such call.
#[inline]
pub fn clock_gettime_syscall() -> Result<()> {
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
