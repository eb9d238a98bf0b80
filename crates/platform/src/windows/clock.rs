use std::cell::RefCell;
use std::os::windows::io::{AsRawHandle, OwnedHandle};
use std::ptr;
use std::sync::LazyLock;

use windows_sys::Wdk::System::SystemInformation::NtQueryTimerResolution;
use windows_sys::Win32::Foundation::WAIT_OBJECT_0;
use windows_sys::Win32::System::Performance::{QueryPerformanceCounter, QueryPerformanceFrequency};
use windows_sys::Win32::System::Threading::{
    CREATE_WAITABLE_TIMER_HIGH_RESOLUTION, CreateWaitableTimerExW, INFINITE, SetWaitableTimer,
    TIMER_ALL_ACCESS, WaitForSingleObject,
};

use super::outcome::{check, failed, owned};
use crate::error::{Error, Result};
use crate::usage::Usage;

const NS_PER_SECOND: u64 = 1_000_000_000;

/// Ticks per second. It is fixed when the system starts, usually at 10 MHz.
static FREQUENCY: LazyLock<u64> = LazyLock::new(|| {
    let mut frequency = 0;
    // SAFETY: there is room for the result. Since Windows XP the call cannot fail.
    unsafe { QueryPerformanceFrequency(&raw mut frequency) };
    frequency.cast_unsigned().max(1)
});

/// [Acquiring high-resolution time stamps](https://learn.microsoft.com/en-us/windows/win32/sysinfo/acquiring-high-resolution-time-stamps)
#[inline]
pub fn now_ns() -> u64 {
    let mut ticks = 0;
    // SAFETY: there is room for the result. Since Windows XP the call cannot fail.
    unsafe { QueryPerformanceCounter(&raw mut ticks) };
    in_ns(ticks.cast_unsigned(), *FREQUENCY)
}

#[inline]
pub fn process_cpu_ns() -> Result<u64> {
    Usage::of_process().map(|usage| usage.user_ns + usage.system_ns)
}

/// Whole seconds apart from the rest, since the product of all ticks would overflow within hours.
#[inline]
fn in_ns(ticks: u64, frequency: u64) -> u64 {
    ticks / frequency * NS_PER_SECOND + ticks % frequency * NS_PER_SECOND / frequency
}

/// Timers and their resolution count in this unit.
const TICK_NS: u64 = 100;

thread_local! {
    /// The timer for [`sleep_until`], since making one costs more than a short sleep.
    static SLEEP: RefCell<Option<Timer>> = const { RefCell::new(None) };
}

pub fn sleep_until(moment_ns: u64) -> Result<()> {
    SLEEP.with_borrow_mut(|timer| {
        let timer = match timer {
            Some(timer) => timer,
            none => none.insert(Timer::new()?),
        };
        timer.wait_until(moment_ns)
    })
}

/// The interval of the timer interrupt, which ordinary timers wait for: the shortest that a program asked for,
/// also where newer versions leave this process a longer one.
pub fn slack_ns() -> Result<u64> {
    let (mut coarsest, mut finest, mut current) = (0, 0, 0);
    // SAFETY: there is room for the results.
    let status =
        unsafe { NtQueryTimerResolution(&raw mut coarsest, &raw mut finest, &raw mut current) };
    if status < 0 {
        return Err(Error::NotSupported("the resolution of timers"));
    }
    Ok(u64::from(current) * TICK_NS)
}

/// A waitable timer of high resolution, which Windows has since 10, version 1803.
#[derive(Debug)]
pub struct Timer {
    handle: OwnedHandle,
}

impl Timer {
    pub fn new() -> Result<Self> {
        const KIND: u32 = CREATE_WAITABLE_TIMER_HIGH_RESOLUTION;
        // SAFETY: no pointer is given, and the handle is new.
        let handle = unsafe {
            let timer = CreateWaitableTimerExW(ptr::null(), ptr::null(), KIND, TIMER_ALL_ACCESS);
            owned(timer, "make a timer")?
        };
        Ok(Self { handle })
    }

    pub fn wait_until(&mut self, moment_ns: u64) -> Result<()> {
        // The timer counts on another clock, which may end a wait early.
        loop {
            let left_ns = moment_ns.saturating_sub(now_ns());
            if left_ns == 0 {
                return Ok(());
            }
            // Negative times count from now on.
            let due = -left_ns.div_ceil(TICK_NS).cast_signed();
            let handle = self.handle.as_raw_handle();
            // SAFETY: the time is only read, and there is no function to call.
            let outcome =
                unsafe { SetWaitableTimer(handle, &raw const due, 0, None, ptr::null(), 0) };
            check(outcome, "set a timer")?;
            // SAFETY: the handle is open.
            if unsafe { WaitForSingleObject(handle, INFINITE) } != WAIT_OBJECT_0 {
                return Err(failed("wait for a timer"));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_clock_never_goes_backwards() {
        let start = now_ns();
        let mut last = start;
        while last < start + 5_000_000 {
            let now = now_ns();
            assert!(now >= last);
            last = now;
        }
    }

    #[test]
    fn a_century_of_ticks_is_still_exact() {
        let century = 100 * 365 * 86_400;
        assert_eq!(
            in_ns(century * 10_000_000 + 1, 10_000_000),
            century * NS_PER_SECOND + 100
        );
    }
}
