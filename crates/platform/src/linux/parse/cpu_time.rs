use crate::load::{CpuTime, CpuTimes};

/// The lines of `/proc/stat` that begin with `cpu`, in ticks of 1 s / `ticks_per_second`. `None`
/// without a line for all CPUs together.
///
/// Guest time is omitted: the kernel includes it in user and nice.
pub(in crate::linux) fn cpu_times(text: &str, ticks_per_second: u64) -> Option<CpuTimes> {
    let tick_ns = 1_000_000_000_u64.checked_div(ticks_per_second)?;
    let mut total = None;
    let mut times = CpuTimes::default();
    for line in text.lines() {
        let Some((name, ticks)) = line.split_once(' ') else {
            continue;
        };
        let Some(cpu) = name.strip_prefix("cpu") else {
            continue;
        };
        let time = cpu_time(ticks, tick_ns);
        if cpu.is_empty() {
            total = Some(time);
        } else {
            times.per_cpu.insert(cpu.parse().ok()?, time);
        }
    }
    times.total = total?;
    Some(times)
}

/// Kernels before 2.6.11 have fewer columns; missing columns count as 0.
fn cpu_time(ticks: &str, tick_ns: u64) -> CpuTime {
    let mut columns = ticks.split_ascii_whitespace().map(|ticks| {
        let ticks: u64 = ticks.parse().unwrap_or(0);
        ticks.saturating_mul(tick_ns)
    });
    let mut next = || columns.next().unwrap_or(0);
    CpuTime {
        user_ns: next(),
        nice_ns: next(),
        system_ns: next(),
        idle_ns: next(),
        iowait_ns: next(),
        irq_ns: next(),
        softirq_ns: next(),
        steal_ns: next(),
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn reads_total_and_each_cpu() {
        let text = "\
cpu  3704 1 892 100775 386 2 54 9 0 0
cpu0 2122 0 531 49971 251 0 19 1 0 0
cpu11 1581 0 361 50804 135 0 35 1 0 0
intr 156853 0 0
ctxt 239671
";
        let times = cpu_times(text, 100).expect("it has a line for all CPUs");
        assert_eq!(
            times.total,
            CpuTime {
                user_ns: 37_040_000_000,
                nice_ns: 10_000_000,
                system_ns: 8_920_000_000,
                idle_ns: 1_007_750_000_000,
                iowait_ns: 3_860_000_000,
                irq_ns: 20_000_000,
                softirq_ns: 540_000_000,
                steal_ns: 90_000_000,
            }
        );
        let cpus: Vec<usize> = times.per_cpu.keys().copied().collect();
        assert_eq!(cpus, [0, 11]);
        assert_eq!(times.per_cpu[&11].steal_ns, 10_000_000);
    }

    #[test]
    fn refuses_a_text_without_a_total() {
        assert_eq!(cpu_times("cpu0 1 2 3 4\n", 100), None);
        assert_eq!(cpu_times("cpu  1 2 3 4\n", 0), None);
    }

    proptest! {
        #[test]
        fn never_panics(text in "(cpu[0-9x]{0,2} ([0-9]{0,22} ){0,12}\\n){0,4}|.{0,40}", hz: u64) {
            let _ = cpu_times(&text, hz);
        }
    }
}
