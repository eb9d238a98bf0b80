//! Load of other programs while oscope is idle.

use crate::run_clock::RunClock;
use platform::clock::now_ns;
use platform::load::{CpuTime, CpuTimes};
use platform::programs::running;
use std::collections::BTreeMap;
use std::time::Duration;

/// Activity on the machine while oscope was idle, and its clock while oscope was busy.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Watch {
    /// Duration in ns of wall time.
    pub wall_ns: u64,
    /// CPU time over all processors during this time; `None` if the kernel does not report it.
    pub cpu: Option<CpuTime>,
    /// The busiest processes: name and CPU time over wall time, the busiest first.
    pub busiest: Vec<(String, f64)>,
    /// The clock in a busy moment afterwards; `None` if it was not read.
    pub clock: Option<RunClock>,
}

impl Watch {
    /// Watches the machine for `length`, asleep.
    pub fn over(length: Duration) -> Self {
        let started_ns = now_ns();
        let (times, programs) = (CpuTimes::read(), cpu_by_program());
        std::thread::sleep(length);
        let wall_ns = now_ns().saturating_sub(started_ns);
        let cpu = CpuTimes::read()
            .zip(times)
            .map(|(later, earlier)| later.since(&earlier).total);
        let mut busiest: Vec<(String, f64)> = cpu_by_program()
            .into_iter()
            .map(|(program, cpu_ns)| {
                let earlier_ns = programs.get(&program).copied().unwrap_or(0);
                (
                    program.1,
                    cpu_ns.saturating_sub(earlier_ns) as f64 / wall_ns.max(1) as f64,
                )
            })
            .collect();
        busiest.sort_by(|(_, a), (_, b)| b.total_cmp(a));
        Self {
            wall_ns,
            cpu,
            busiest,
            clock: None,
        }
    }
}

/// CPU time in ns of every other process, by process id and name.
fn cpu_by_program() -> BTreeMap<(u32, String), u64> {
    let others = running()
        .into_iter()
        .filter(|program| program.id != std::process::id());
    others
        .map(|program| ((program.id, program.name), program.cpu_ns))
        .collect()
}
