use rustix::time::{ClockId, Timespec, clock_gettime};

use crate::Result;

/// Nanoseconds since a fixed moment in the past. The clock never goes backwards and is never set.
///
/// On Linux `CLOCK_MONOTONIC`, read without entering the kernel where the vDSO allows it
/// ([clock_gettime(2)](https://man7.org/linux/man-pages/man2/clock_gettime.2.html)).
#[inline]
pub fn now_ns() -> u64 {
    in_ns(clock_gettime(ClockId::Monotonic))
}

/// CPU time of all threads of this process, user plus system, in ns.
///
/// On Linux `CLOCK_PROCESS_CPUTIME_ID`: exact, but a system call.
///
/// # Errors
/// Only if the system has no such clock.
#[inline]
pub fn process_cpu_ns() -> Result<u64> {
    Ok(in_ns(clock_gettime(ClockId::ProcessCPUTime)))
}

/// These clocks count from zero, so neither part is negative; a u64 holds 584 years of ns.
#[inline]
fn in_ns(time: Timespec) -> u64 {
    time.tv_sec as u64 * 1_000_000_000 + time.tv_nsec as u64
}

/// Converts nanoseconds.
pub(super) fn timespec(ns: u64) -> Timespec {
    Timespec {
        tv_sec: (ns / 1_000_000_000).cast_signed(),
        tv_nsec: (ns % 1_000_000_000).cast_signed(),
    }
}

#[cfg(test)]
mod tests {
    use crate::clock::{now_ns, process_cpu_ns};

    #[test]
    fn clocks_advance_with_work() {
        let (wall, process) = (now_ns(), process_cpu_ns().unwrap());
        let mut sum = 0_u64;
        while now_ns() < wall + 1_000_000 {
            sum = std::hint::black_box(sum + 1);
        }
        assert!(process_cpu_ns().unwrap() > process);
    }
}
