//! Activity of the CPUs.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

pub use crate::os::usage::load_average;
use crate::usage::counts;

/// Use of CPU time since the system started, or between two readings.
///
/// On Linux from [/proc/stat](https://man7.org/linux/man-pages/man5/proc_stat.5.html), in units of
/// ticks (usually 10 ms). Offline CPUs are not included.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct CpuTimes {
    /// All CPUs together.
    pub total: CpuTime,
    /// Each CPU by its number.
    pub per_cpu: BTreeMap<usize, CpuTime>,
}

/// Use of CPU time, in ns. The fields do not overlap.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct CpuTime {
    /// In programs, including virtual machines.
    pub user_ns: u64,
    /// In programs with lowered priority.
    pub nice_ns: u64,
    /// In the kernel, on behalf of programs.
    pub system_ns: u64,
    /// Idle.
    pub idle_ns: u64,
    /// Idle while input or output is in flight.
    pub iowait_ns: u64,
    /// In interrupts.
    pub irq_ns: u64,
    /// In deferred interrupt work.
    pub softirq_ns: u64,
    /// Requested by this virtual machine, but given to another by the host.
    pub steal_ns: u64,
}

impl CpuTimes {
    /// The time between an earlier reading and this one. A CPU that appeared in between counts from
    /// 0; one that disappeared is left out.
    #[must_use]
    pub fn since(&self, earlier: &Self) -> Self {
        Self {
            total: self.total.since(&earlier.total),
            per_cpu: self
                .per_cpu
                .iter()
                .map(|(cpu, now)| {
                    let before = earlier.per_cpu.get(cpu).copied().unwrap_or_default();
                    (*cpu, now.since(&before))
                })
                .collect(),
        }
    }
}

counts!(CpuTime: user_ns, nice_ns, system_ns, idle_ns, iowait_ns, irq_ns, softirq_ns, steal_ns);

impl CpuTime {
    /// Busy time in ns: all but idle, iowait and steal.
    pub fn busy_ns(&self) -> u64 {
        [
            self.user_ns,
            self.nice_ns,
            self.system_ns,
            self.irq_ns,
            self.softirq_ns,
        ]
        .into_iter()
        .fold(0, u64::saturating_add)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::clock::now_ns;
    use crate::placement::current_cpu;

    #[test]
    fn a_difference_never_goes_below_zero_and_follows_the_cpus() {
        let time = |user_ns, iowait_ns| CpuTime {
            user_ns,
            iowait_ns,
            ..CpuTime::default()
        };
        let earlier = CpuTimes {
            total: time(10, 10),
            per_cpu: BTreeMap::from([(0, time(10, 10)), (1, time(1, 1))]),
        };
        let later = CpuTimes {
            total: time(30, 5),
            per_cpu: BTreeMap::from([(0, time(25, 5)), (2, time(5, 0))]),
        };
        let spent = later.since(&earlier);
        assert_eq!(spent.total, time(20, 0));
        assert_eq!(
            spent.per_cpu,
            BTreeMap::from([(0, time(15, 0)), (2, time(5, 0))])
        );
        assert_eq!(spent.total.busy_ns(), 20);
    }

    #[test]
    fn this_cpu_is_counted_and_time_passes() {
        let before = CpuTimes::read().unwrap();
        assert!(before.per_cpu.contains_key(&current_cpu().unwrap()));
        let start = now_ns();
        // Longer than the slowest tick.
        while now_ns() < start + 60_000_000 {}
        let spent = CpuTimes::read().unwrap().since(&before);
        assert!(spent.total.busy_ns() > 0, "{spent:?}");
    }
}
