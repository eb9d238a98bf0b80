//! A watch over the machine: the load of other programs while oscope is idle, then the clock of the
//! processor and what shares its core.

use super::{Checks, Effect, percent};
use crate::clock::{BracketedLegs, Clock, SystemClock};
use crate::core_state::Speeds;
use crate::run_clock::RunClock;
use crate::sample::{Batch, Legs, Reading, Sample};
use platform::clock::now_ns;
use platform::load::CpuTime;
use platform::machine::Machine;
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
        let (times, programs) = (CpuTime::read(), cpu_by_program());
        std::thread::sleep(length);
        let wall_ns = now_ns().saturating_sub(started_ns);
        let cpu = CpuTime::read()
            .zip(times)
            .map(|(later, earlier)| later.since(&earlier));
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

/// Time in which the clock is read. It follows a busy start, in which the clock rises.
const READING_NS: u64 = 200_000_000;
/// Time of the busy start.
const RISING_NS: u64 = 50_000_000;

/// The clock of `machine`, which is this one, by one reading of the reference loops after the other.
pub fn clock(machine: &Machine) -> RunClock {
    let begun_ns = SystemClock.now_ns();
    let elapsed_ns = || SystemClock.now_ns().saturating_sub(begun_ns);
    while elapsed_ns() < RISING_NS {
        SystemClock.references();
    }
    let mut legs = Legs {
        iterations: 1,
        work: 1.0,
        ..Legs::default()
    };
    let mut references = BracketedLegs::open(&SystemClock, u64::MAX);
    while elapsed_ns() < RISING_NS + READING_NS {
        let before_ns = SystemClock.now_ns();
        references.note(&mut legs, true);
        let wall_ns = SystemClock.now_ns().saturating_sub(before_ns);
        legs.wall_ns.push(wall_ns);
    }
    let mut batch = Batch {
        samples: vec![Sample::new("clock", Reading::Legs(legs))],
        ..Batch::default()
    };
    Speeds::new(machine.topology.clone(), Vec::new()).note(&mut batch);
    RunClock::of(&[&batch], machine).unwrap_or_default()
}

/// A core that is shared for more of the time than this is worth advice.
const SHARED_SHARE: f64 = 0.01;

impl Checks {
    pub(super) fn clock(&mut self, clock: &RunClock) {
        let mut cores = clock.cores.iter();
        if let Some(core) = cores.clone().find(|core| core.shared > SHARED_SHARE) {
            let shared = percent(core.shared);
            let found = format!("something shared the core for {shared} of the time");
            let advice = "stop programs on the core's other hyperthread, or measure when the host is quieter";
            self.add("shared core", found, Effect::Disturbs, advice);
        }
        let Some(core) = cores.next() else {
            let found = "not known: the two reference loops are not written for this processor";
            return self.add("clock", found, Effect::Limits, "");
        };
        let (effect, advice) = match core.levels.len() {
            0 => (Effect::Disturbs, "measure when the host is quieter"),
            1 => (Effect::None, ""),
            _ => (Effect::Shapes, ""),
        };
        self.add("clock", core.levels_over("the watch"), effect, advice);
    }
}

#[cfg(test)]
mod tests {
    use super::{Checks, Effect};
    use crate::run_clock::{ClockLevel, CoreClock, RunClock};

    #[test]
    fn the_clock_and_what_shares_the_core_are_checked() {
        let level = |relative, share| ClockLevel {
            hz: Some(4e9 * relative),
            relative,
            share,
        };
        let checks = |levels: Vec<ClockLevel>, shared| {
            let core = CoreClock {
                core_type: None,
                levels,
                shared,
                unknown: 0.0,
            };
            let mut checks = Checks::default();
            checks.clock(&RunClock { cores: vec![core] });
            let found = checks.0.into_iter();
            found.map(|it| (it.found, it.effect)).collect::<Vec<_>>()
        };
        assert_eq!(
            checks(vec![level(1.0, 1.0)], 0.0),
            [("4.00 GHz throughout the watch".into(), Effect::None)]
        );
        assert_eq!(
            checks(vec![level(1.0, 0.4), level(0.875, 0.6)], 0.25),
            [
                (
                    "something shared the core for 25 % of the time".into(),
                    Effect::Disturbs
                ),
                (
                    "4.00 GHz for 40 %, 3.50 GHz for 60 % of the watch".into(),
                    Effect::Shapes
                ),
            ]
        );
    }
}
