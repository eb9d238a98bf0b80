//! The clock of the processor, and what shares its core.

use super::{Check, Effect, check, percent};
use crate::bracket::BracketedLegs;
use crate::clock::{Clock, SystemClock};
use crate::run_clock::RunClock;
use crate::runner::Speeds;
use crate::sample::{Batch, Legs, Reading, Sample};
use platform::machine::Machine;

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
    RunClock::of(&[&batch], machine)
}

/// A core that is shared for more of the time than this is worth advice.
const SHARED_SHARE: f64 = 0.01;

pub(super) fn sharing(clock: Option<&RunClock>) -> Option<Check> {
    let cores = &clock?.cores;
    let core = cores.iter().find(|core| core.shared > SHARED_SHARE)?;
    Some(check(
        "shared core",
        format!(
            "something shared the core for {} of the time",
            percent(core.shared)
        ),
        Effect::Disturbs,
        "stop programs on the core's other hyperthread, or measure when the host is quieter",
    ))
}

pub(super) fn levels(clock: Option<&RunClock>) -> Option<Check> {
    let cores = &clock?.cores;
    let Some(core) = cores.first() else {
        return Some(check(
            "clock",
            "not known: the two reference loops are not written for this processor",
            Effect::Limits,
            "",
        ));
    };
    let effect = match core.levels.len() {
        0 => Effect::Disturbs,
        1 => Effect::None,
        _ => Effect::Shapes,
    };
    let advice = match effect {
        Effect::Disturbs => "measure when the host is quieter",
        _ => "",
    };
    Some(check(
        "clock",
        core.levels_over("the watch"),
        effect,
        advice,
    ))
}

#[cfg(test)]
mod tests {
    use super::{Effect, levels as levels_of, sharing};
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
            let clock = RunClock { cores: vec![core] };
            let found = [sharing(Some(&clock)), levels_of(Some(&clock))]
                .into_iter()
                .flatten();
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
