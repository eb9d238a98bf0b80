use std::sync::LazyLock;

use windows_sys::Win32::System::Performance::{QueryPerformanceCounter, QueryPerformanceFrequency};

use crate::Result;
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
