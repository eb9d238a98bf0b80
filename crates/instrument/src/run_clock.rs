//! The clock of the processor during a run: its levels, and the share of the time at each.

use crate::core_state::{core, full_speed, is_steady};
use crate::cycles::clock_hz;
use crate::quantity::Unit;
use crate::sample::{Batch, Cost, FullSpeed, Reading, Sample};
use crate::statistics::prediction::Core;
use crate::statistics::summary::weighted_median;
use platform::machine::Machine;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;

/// Clocks within this share of each other are one level.
const WIDTH_OF_LEVEL: f64 = 0.03;
/// Levels with a smaller share of the time count with the nearest larger one.
const LEAST_SHARE: f64 = 0.05;
/// More levels than this are a range.
const MOST_LEVELS: usize = 4;
/// Smaller shares of the time are not worth a sentence.
const NOTABLE: f64 = 0.01;

/// The clock during the timings of a run.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct RunClock {
    /// One for each type of core that was measured.
    pub cores: Vec<CoreClock>,
}

/// The clock of the cores of one type.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct CoreClock {
    /// The type of core; `None` if all cores of the machine are alike.
    pub core_type: Option<usize>,
    /// The levels, the highest first; empty if no timing had known conditions.
    pub levels: Vec<ClockLevel>,
    /// The share of the time in which something shared the core, of the time with known conditions.
    pub shared: f64,
    /// The share of the time in which the clock or the sharing changed during a timing.
    pub unknown: f64,
}

/// A level of the clock.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ClockLevel {
    /// In Hz; `None` if the cycles of this processor's multiplication are not known.
    pub hz: Option<f64>,
    /// Over the highest clock that this run sustained.
    pub relative: f64,
    /// The share of the time at this level, of the time with known conditions.
    pub share: f64,
}

/// A timing: its processor time in ns, and the state of the core; `None` if it changed.
type Timing = (f64, Option<Core>);

impl RunClock {
    /// The clock during `batches`, which are all of a run on `machine`; `None` if no core's full speed is
    /// known.
    pub fn of(batches: &[&Batch], machine: &Machine) -> Option<Self> {
        let types = batches.iter().filter_map(|batch| batch.full_speed);
        let types: BTreeSet<Option<usize>> = types.map(|speed| speed.core_type).collect();
        let cores = types.into_iter().filter_map(|core_type| {
            let speed = full_speed(batches.iter().copied(), core_type)?;
            let is_it =
                |batch: &&&Batch| batch.full_speed.and_then(|speed| speed.core_type) == core_type;
            let samples = batches
                .iter()
                .filter(is_it)
                .flat_map(|batch| &batch.samples);
            let timings = samples.flat_map(|sample| timings(sample, speed));
            let hz = |relative: f64| clock_hz(machine, speed.chain_ns / relative);
            Some(CoreClock::of(core_type, &timings.collect::<Vec<_>>(), hz))
        });
        let cores: Vec<CoreClock> = cores.collect();
        (!cores.is_empty()).then_some(Self { cores })
    }

    /// A line for readers.
    pub fn text(&self) -> String {
        let texts: Vec<String> = self.cores.iter().map(CoreClock::text).collect();
        texts.join(" ")
    }
}

impl CoreClock {
    fn of(core_type: Option<usize>, timings: &[Timing], hz: impl Fn(f64) -> Option<f64>) -> Self {
        let sum = |is_counted: fn(&Core) -> bool| {
            let counted = timings
                .iter()
                .filter(|(_, core)| core.as_ref().is_some_and(is_counted));
            counted.fold(0.0, |sum, (ns, _)| sum + ns)
        };
        let all_ns = timings.iter().fold(0.0, |sum, (ns, _)| sum + ns);
        let (known_ns, shared_ns) = (sum(|_| true), sum(Core::is_shared));
        let share = |part: f64, of: f64| if of > 0.0 { part / of } else { 0.0 };
        let clocks = timings
            .iter()
            .filter_map(|(ns, core)| Some(((*core)?.clock?.recip(), *ns)));
        let levels = levels(clocks.collect()).into_iter();
        Self {
            core_type,
            levels: levels
                .map(|(relative, ns)| ClockLevel {
                    hz: hz(relative),
                    relative,
                    share: share(ns, known_ns),
                })
                .collect(),
            shared: share(shared_ns, known_ns),
            unknown: share(all_ns - known_ns, all_ns),
        }
    }

    fn text(&self) -> String {
        let whose = self
            .core_type
            .map(|core_type| format!(" of cores of type {core_type}"));
        let whose = whose.unwrap_or_default();
        let percent = |share| Unit::Share.show(share, 2);
        let shared = (self.shared > NOTABLE).then(|| {
            let shared = percent(self.shared);
            format!(" Something shared the core for {shared} of the time.")
        });
        let is_notable = self.unknown > LEAST_SHARE && !self.levels.is_empty();
        let unknown = is_notable.then(|| {
            let unknown = percent(self.unknown);
            format!(
                " Timings were interrupted, or the clock changed in them, for {unknown} of the time."
            )
        });
        let levels = self.levels_over("the run");
        let rest = [shared, unknown].map(Option::unwrap_or_default).concat();
        format!("Clock{whose} {levels}.{rest}")
    }

    /// The levels and their shares of the time that is called `over`: `the run`.
    pub fn levels_over(&self, over: &str) -> String {
        let clock = |level: &ClockLevel| match level.hz {
            Some(hz) => format!("{:.2} GHz", hz / 1e9),
            None => format!("{} of the highest", Unit::Share.show(level.relative, 2)),
        };
        match &self.levels[..] {
            [] => "unknown: it changed during each timing".into(),
            [one] if one.hz.is_none() => format!("steady throughout {over}, its GHz unknown"),
            [one] => format!("{} throughout {over}", clock(one)),
            [highest, .., lowest] if self.levels.len() > MOST_LEVELS => {
                format!("between {} and {}", clock(lowest), clock(highest))
            }
            levels => {
                let level = |level: &ClockLevel| {
                    format!("{} for {}", clock(level), Unit::Share.show(level.share, 2))
                };
                let levels: Vec<String> = levels.iter().map(level).collect();
                format!("{} of {over}", levels.join(", "))
            }
        }
    }
}

/// The levels of clocks with their times, the highest first, each with its time.
///
/// The largest is the window of [`WIDTH_OF_LEVEL`] with the most time; the others are found the same way
/// in what is left.
fn levels(mut clocks: Vec<(f64, f64)>) -> Vec<(f64, f64)> {
    clocks.sort_by(|one, other| one.0.total_cmp(&other.0));
    let all_ns: f64 = clocks.iter().map(|(_, ns)| ns).sum();
    let mut left = clocks.clone();
    let mut centres: Vec<f64> = Vec::new();
    while let Some((begin, end, ns)) = heaviest(&left) {
        if ns < LEAST_SHARE * all_ns && !centres.is_empty() {
            break;
        }
        let level: Vec<(f64, f64)> = left.drain(begin..end).collect();
        centres.extend(weighted_median(level, 0.0));
    }
    centres.sort_by(|one, other| other.total_cmp(one));
    let mut levels: Vec<(f64, f64)> = centres.iter().map(|centre| (*centre, 0.0)).collect();
    for (clock, ns) in clocks {
        let distance = |level: &(f64, f64)| (level.0 - clock).abs();
        let nearest = levels
            .iter_mut()
            .min_by(|one, other| distance(one).total_cmp(&distance(other)));
        if let Some((_, time_ns)) = nearest {
            *time_ns += ns;
        }
    }
    levels
}

/// The window with the most time in `clocks`, which are in ascending order: its range, and its time.
fn heaviest(clocks: &[(f64, f64)]) -> Option<(usize, usize, f64)> {
    let mut best: Option<(usize, usize, f64)> = None;
    let (mut end, mut ns) = (0, 0.0);
    for (begin, (lowest, lowest_ns)) in clocks.iter().enumerate() {
        while end < clocks.len() && clocks[end].0 <= lowest * (1.0 + WIDTH_OF_LEVEL) {
            ns += clocks[end].1;
            end += 1;
        }
        if best.is_none_or(|(_, _, most_ns)| ns > most_ns) {
            best = Some((begin, end, ns));
        }
        ns -= lowest_ns;
    }
    best
}

/// The timings of `sample`. A context switch between two readings that agree hides no clock.
fn timings(sample: &Sample, speed: FullSpeed) -> Vec<Timing> {
    let reading = &sample.reading;
    let times_ns = match reading {
        Reading::Legs(legs) => legs.wall_ns.iter().map(|ns| *ns as f64).collect(),
        Reading::Once { wall_ns, .. } => vec![*wall_ns as f64],
        Reading::Latencies { count, p50_ns, .. } => vec![*count as f64 * p50_ns],
        Reading::Value(_) => Vec::new(),
    };
    let core = |cost: Cost| {
        let (width_ns, around) = cost.references?;
        is_steady(width_ns, &around).then(|| core(width_ns, &around, speed))
    };
    let cores = reading.costs().into_iter().map(core);
    let busy = busy_share(sample);
    let times_ns = times_ns.into_iter().map(|ns| ns * busy);
    times_ns.zip(cores).collect()
}

/// The share of the time in which `sample` used a processor; all if it is not known. The clock has no part
/// in the rest: a sleep, or a wait for the disk.
fn busy_share(sample: &Sample) -> f64 {
    let used_ns = sample.usage.user_ns + sample.usage.system_ns;
    match sample.reading.wall_ns() {
        Some(wall_ns) if used_ns > 0 && wall_ns > 0 => (used_ns as f64 / wall_ns as f64).min(1.0),
        _ => 1.0,
    }
}

#[cfg(test)]
mod tests {
    use super::{ClockLevel, CoreClock, RunClock, levels};
    use crate::made_up::{cost, full_speed, legs, quiet};
    use crate::sample::{Around, Batch, FullSpeed};
    use platform::machine::{Cpu, Machine};

    fn zen4() -> Machine {
        Machine {
            cpu: Cpu {
                architecture: "x86_64".into(),
                vendor: Some("AuthenticAMD".into()),
                family: Some(0x19),
                ..Cpu::default()
            },
            ..Machine::default()
        }
    }

    /// Legs of 1 µs with these times of chain and width, on a core of this type.
    fn batch(core_type: Option<usize>, times_ns: &[(u64, u64)]) -> Batch {
        let times_ns = times_ns.iter();
        let references: Vec<(u64, Around)> = times_ns
            .map(|(chain_ns, width_ns)| (*width_ns, quiet(*chain_ns)))
            .collect();
        Batch {
            samples: vec![cost(vec![1000; references.len()], &references)],
            full_speed: Some(FullSpeed {
                core_type,
                ..full_speed(2400.0, 1.0)
            }),
            ..Batch::default()
        }
    }

    fn clock(batches: &[Batch], machine: &Machine) -> RunClock {
        RunClock::of(&batches.iter().collect::<Vec<_>>(), machine).unwrap()
    }

    #[test]
    fn a_stepping_clock_is_shown_with_the_share_of_each_level() {
        let (fast, slow) = ((2400, 2400), (2735, 2735));
        let times_ns: Vec<(u64, u64)> =
            (0..100).map(|i| if i < 39 { fast } else { slow }).collect();
        let batches = [batch(None, &times_ns)];
        let text = clock(&batches, &zen4()).text();
        assert_eq!(
            text,
            "Clock 4.00 GHz for 39 %, 3.51 GHz for 61 % of the run."
        );
        let text = clock(&batches, &Machine::default()).text();
        let relative =
            "Clock 100 % of the highest for 39 %, 88 % of the highest for 61 % of the run.";
        assert_eq!(text, relative);
    }

    #[test]
    fn a_steady_clock_is_one_level() {
        let times_ns: Vec<(u64, u64)> = (0..100).map(|i| (2400 + i % 20, 2400)).collect();
        let batches = [batch(None, &times_ns)];
        let steady = clock(&batches, &zen4());
        assert_eq!(steady.text(), "Clock 3.98 GHz throughout the run.");
        let shares = [steady.cores[0].shared, steady.cores[0].unknown];
        let is_minus_nothing = |share: &f64| share.is_sign_negative();
        assert!(!shares.iter().any(is_minus_nothing), "{shares:?}");
        let text = clock(&batches, &Machine::default()).text();
        assert_eq!(text, "Clock steady throughout the run, its GHz unknown.");
    }

    #[test]
    fn sharing_and_unknown_conditions_have_their_shares() {
        let mut batch = batch(
            None,
            &[(2400, 2400), (2400, 2400), (2400, 4800), (2400, 2400)],
        );
        legs(&mut batch).around[3].chain_ns = (2400, 2800);
        let clock = clock(&[batch], &zen4());
        assert_eq!(
            clock.text(),
            "Clock 4.00 GHz throughout the run. Something shared the core for 33 % of the time. \
             Timings were interrupted, or the clock changed in them, for 25 % of the time."
        );
    }

    #[test]
    fn waits_weigh_only_by_their_processor_time() {
        let of_wait = |used_ns| {
            let mut wait = batch(None, &[(2400, 2400)]);
            wait.samples[0].usage.user_ns = used_ns;
            legs(&mut wait).around[0].chain_ns = (2400, 2800);
            clock(&[batch(None, &[(2400, 2400)]), wait], &zen4()).cores[0].unknown
        };
        assert!((of_wait(1000) - 0.5).abs() < 1e-9);
        assert!((of_wait(250) - 0.2).abs() < 1e-9);
    }

    #[test]
    fn a_context_switch_between_readings_that_agree_hides_no_clock() {
        let mut batch = batch(None, &[(2400, 2400), (2735, 2735)]);
        legs(&mut batch).around[1].switches = 1;
        let text = clock(&[batch], &zen4()).text();
        assert_eq!(
            text,
            "Clock 4.00 GHz for 50 %, 3.51 GHz for 50 % of the run."
        );
    }

    #[test]
    fn each_type_of_core_has_its_levels() {
        let batches = [
            batch(Some(0), &[(2400, 2400)]),
            batch(Some(1), &[(2400, 2400), (4800, 4800)]),
        ];
        let text = clock(&batches, &zen4()).text();
        assert_eq!(
            text,
            "Clock of cores of type 0 4.00 GHz throughout the run. Clock of cores of type 1 4.00 GHz for \
             50 %, 2.00 GHz for 50 % of the run."
        );
    }

    #[test]
    fn levels_take_in_what_is_near_them() {
        let clocks = vec![
            (1.0, 50.0),
            (0.99, 5.0),
            (0.85, 40.0),
            (0.93, 2.0),
            (1.04, 1.0),
        ];
        let found = levels(clocks);
        let times: Vec<f64> = found.iter().map(|(_, ns)| *ns).collect();
        assert_eq!(found.len(), 2, "{found:?}");
        assert!((times[0] - 58.0).abs() < 1e-9 && (times[1] - 40.0).abs() < 1e-9);
    }

    #[test]
    fn many_levels_are_a_range() {
        let level = |relative| ClockLevel {
            hz: Some(relative * 4e9),
            relative,
            share: 0.2,
        };
        let clock = CoreClock {
            core_type: None,
            levels: [1.0, 0.9, 0.8, 0.7, 0.6].map(level).into(),
            shared: 0.0,
            unknown: 0.0,
        };
        assert_eq!(clock.text(), "Clock between 2.40 GHz and 4.00 GHz.");
    }
}
