use super::parse;
use super::read::{number, text};
use crate::load::CpuTimes;

impl CpuTimes {
    /// Reads the current counts.
    pub fn read() -> Option<CpuTimes> {
        parse::cpu_times(
            &text("/proc/stat")?,
            rustix::param::clock_ticks_per_second(),
        )
    }
}

/// The current clock frequency of one CPU, in Hz, from the kernel's frequency driver; `None` if
/// there is no such driver, as in most virtual machines.
pub fn frequency_hz(cpu: usize) -> Option<f64> {
    let path = format!("/sys/devices/system/cpu/cpu{cpu}/cpufreq/scaling_cur_freq");
    number(path).map(|kilohertz: f64| kilohertz * 1e3)
}

/// Runnable processes, averaged over 1, 5 and 15 minutes.
pub fn load_average() -> Option<[f64; 3]> {
    let text = text("/proc/loadavg")?;
    let mut averages = text.split(' ').map_while(|average| average.parse().ok());
    Some([averages.next()?, averages.next()?, averages.next()?])
}

#[cfg(test)]
mod tests {
    use crate::load::CpuTimes;
    use crate::placement::current_cpu;

    #[test]
    fn this_cpu_is_counted_and_time_passes() {
        let before = CpuTimes::read().unwrap();
        assert!(before.per_cpu.contains_key(&current_cpu().unwrap()));
        let start = crate::clock::now_ns();
        // Longer than the slowest tick.
        while crate::clock::now_ns() < start + 30_000_000 {}
        let spent = CpuTimes::read().unwrap().since(&before);
        assert!(spent.total.busy_ns() > 0, "{spent:?}");
    }
}
