use std::hint::black_box;
use std::ptr;

use windows_sys::Win32::Foundation::NTSTATUS;
use windows_sys::Win32::System::Performance::QueryPerformanceCounter;

use crate::error::Result;
use crate::os::outcome::{check, check_status};

#[link(name = "ntdll")]
unsafe extern "system" {
    /// The system call behind `QueryPerformanceCounter`, which usually avoids it.
    fn NtQueryPerformanceCounter(counter: *mut i64, frequency: *mut i64) -> NTSTATUS;
}

#[inline]
pub fn clock_gettime() -> Result<()> {
    let mut ticks = 0;
    // SAFETY: there is room for the result.
    let outcome = unsafe { QueryPerformanceCounter(&raw mut ticks) };
    black_box(ticks);
    check(outcome, "read the clock")
}

#[inline]
pub fn clock_gettime_syscall() -> Result<()> {
    let mut ticks = 0;
    // SAFETY: there is room for the result, and the frequency may be left out.
    let status = unsafe { NtQueryPerformanceCounter(&raw mut ticks, ptr::null_mut()) };
    black_box(ticks);
    check_status(status, "read the clock by a system call")
}
