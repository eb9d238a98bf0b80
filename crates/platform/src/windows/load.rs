use std::collections::BTreeMap;

use windows_sys::Wdk::System::SystemInformation::{
    NtQuerySystemInformation, SystemProcessorPerformanceInformation,
};
use windows_sys::Win32::System::WindowsProgramming::SYSTEM_PROCESSOR_PERFORMANCE_INFORMATION;

use super::topology;
use crate::load::{CpuTime, CpuTimes};

impl CpuTimes {
    /// `None` on machines with more than one group of processors: the call counts those of one group only.
    pub fn read() -> Option<CpuTimes> {
        let count = topology::topology().threads?;
        if count > topology::GROUP_CPUS {
            return None;
        }
        let per_cpu: BTreeMap<usize, CpuTime> = processors(count)?
            .iter()
            .map(cpu_time)
            .enumerate()
            .collect();
        Some(CpuTimes {
            total: per_cpu.values().fold(CpuTime::default(), sum),
            per_cpu,
        })
    }
}

/// The counts of at most `count` processors.
fn processors(count: usize) -> Option<Vec<SYSTEM_PROCESSOR_PERFORMANCE_INFORMATION>> {
    let mut processors = vec![SYSTEM_PROCESSOR_PERFORMANCE_INFORMATION::default(); count];
    let mut written = 0;
    // SAFETY: the buffer has the given length.
    let status = unsafe {
        NtQuerySystemInformation(
            SystemProcessorPerformanceInformation,
            processors.as_mut_ptr().cast(),
            size_of_val(&processors[..]) as u32,
            &raw mut written,
        )
    };
    processors.truncate(written as usize / size_of::<SYSTEM_PROCESSOR_PERFORMANCE_INFORMATION>());
    (status == 0).then_some(processors)
}

/// All of these count steps of 100 ns. The kernel's time includes that of the idle loop, of interrupts
/// and of deferred procedure calls, whose two counts are in the reserved fields.
fn cpu_time(processor: &SYSTEM_PROCESSOR_PERFORMANCE_INFORMATION) -> CpuTime {
    let ns = |steps: i64| steps.cast_unsigned() * 100;
    let [deferred, interrupts] = processor.Reserved1;
    let apart = processor.IdleTime + deferred + interrupts;
    CpuTime {
        user_ns: ns(processor.UserTime),
        system_ns: ns((processor.KernelTime - apart).max(0)),
        idle_ns: ns(processor.IdleTime),
        irq_ns: ns(interrupts),
        softirq_ns: ns(deferred),
        ..CpuTime::default()
    }
}

fn sum(one: CpuTime, other: &CpuTime) -> CpuTime {
    CpuTime {
        user_ns: one.user_ns + other.user_ns,
        system_ns: one.system_ns + other.system_ns,
        idle_ns: one.idle_ns + other.idle_ns,
        irq_ns: one.irq_ns + other.irq_ns,
        softirq_ns: one.softirq_ns + other.softirq_ns,
        ..one
    }
}

pub fn frequency_hz(_cpu: usize) -> Option<f64> {
    None
}

pub fn load_average() -> Option<[f64; 3]> {
    None
}

#[cfg(test)]
mod tests {
    use crate::load::CpuTimes;

    #[test]
    fn time_passes() {
        let before = CpuTimes::read().unwrap();
        let start = crate::clock::now_ns();
        // Longer than the slowest tick.
        while crate::clock::now_ns() < start + 60_000_000 {}
        let spent = CpuTimes::read().unwrap().since(&before);
        assert!(spent.total.busy_ns() > 0, "{spent:?}");
    }
}
