use rustix::time::{ClockId, clock_gettime};

use crate::Result;
pub(crate) use crate::unsupported::clock::*;

#[inline]
#[expect(clippy::unnecessary_wraps, reason = "other systems lack this clock")]
pub(crate) fn process_cpu_ns() -> Result<u64> {
    let time = clock_gettime(ClockId::ProcessCPUTime);
    Ok(time.tv_sec as u64 * 1_000_000_000 + time.tv_nsec as u64)
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
