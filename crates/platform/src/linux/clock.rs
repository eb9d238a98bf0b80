use rustix::time::{ClockId, Timespec, clock_gettime};

use crate::Result;

#[inline]
pub(crate) fn now_ns() -> u64 {
    in_ns(clock_gettime(ClockId::Monotonic))
}

#[inline]
#[expect(clippy::unnecessary_wraps, reason = "other systems lack this clock")]
pub(crate) fn process_cpu_ns() -> Result<u64> {
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
