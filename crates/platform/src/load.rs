//! Activity of the CPUs.

pub use crate::os::usage::{interruptions, load_average};

/// Use of CPU time on all CPUs together since the system started, or between two readings.
///
/// On Linux from [/proc/stat](https://man7.org/linux/man-pages/man5/proc_stat.5.html), in units of
/// ticks (usually 10 ms).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct CpuTime {
    /// Number of online CPUs.
    pub cpus: usize,
    /// In programs, virtual machines and the kernel, in ns.
    pub busy_ns: u64,
    /// Idle, also while input or output is in flight, in ns.
    pub idle_ns: u64,
    /// Requested by this virtual machine, but given to another by the host, in ns.
    pub steal_ns: u64,
}

impl CpuTime {
    /// The time between an earlier reading and this one. A count that went backwards becomes 0.
    #[must_use]
    pub fn since(&self, earlier: &Self) -> Self {
        Self {
            cpus: self.cpus,
            busy_ns: self.busy_ns.saturating_sub(earlier.busy_ns),
            idle_ns: self.idle_ns.saturating_sub(earlier.idle_ns),
            steal_ns: self.steal_ns.saturating_sub(earlier.steal_ns),
        }
    }
}

/// What took one CPU away from its threads since the system started, or between two readings.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Interruptions {
    /// Interrupts of every kind.
    pub interrupts: u64,
    /// Those of timers.
    pub timer: u64,
    /// Runs of deferred interrupt work.
    pub softirqs: u64,
    /// Time given to another virtual machine by the host, in ns. It is counted in ticks (usually 10 ms).
    pub stolen_ns: u64,
}

impl Interruptions {
    /// What was counted between an earlier reading and this one.
    #[must_use]
    pub fn since(&self, earlier: &Self) -> Self {
        Self {
            interrupts: self.interrupts.saturating_sub(earlier.interrupts),
            timer: self.timer.saturating_sub(earlier.timer),
            softirqs: self.softirqs.saturating_sub(earlier.softirqs),
            stolen_ns: self.stolen_ns.saturating_sub(earlier.stolen_ns),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::clock::now_ns;

    #[test]
    fn a_difference_never_goes_below_zero() {
        let [earlier, later] = [(1, 10, 10), (2, 30, 5)].map(|(cpus, busy_ns, idle_ns)| CpuTime {
            cpus,
            busy_ns,
            idle_ns,
            steal_ns: 0,
        });
        let spent = later.since(&earlier);
        assert_eq!((spent.cpus, spent.busy_ns, spent.idle_ns), (2, 20, 0));
    }

    #[test]
    fn cpus_are_counted_and_time_passes() {
        let before = CpuTime::read().unwrap();
        assert!(before.cpus > 0);
        let start = now_ns();
        // Longer than the slowest tick.
        while now_ns() < start + 60_000_000 {}
        let spent = CpuTime::read().unwrap().since(&before);
        assert!(spent.busy_ns > 0, "{spent:?}");
    }
}
