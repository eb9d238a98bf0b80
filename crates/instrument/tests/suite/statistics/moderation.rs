//! Comparisons of two sides over many metrics: simulations of false alarms and of power.

#![expect(clippy::unwrap_used, reason = "every metric has values on both sides")]

use super::strata::deviation;
use oscope_instrument::statistics::discovery::adjusted;
use oscope_instrument::statistics::moderation::{Moderated, Variance};
use oscope_instrument::statistics::random::Random;
use oscope_instrument::statistics::sessions::{Metric, differences};
use oscope_instrument::statistics::student::standard_error;
use oscope_instrument::statistics::summary::mean;

/// An unoptimised build simulates fewer comparisons.
const COMPARISONS: usize = if cfg!(debug_assertions) { 50 } else { 500 };
const METRICS: usize = 150;
const MARGIN: f64 = 1.02;

/// Differences between the sessions of a simulated machine.
#[derive(Clone, Copy)]
struct World {
    name: &'static str,
    /// Draws the spread between the sessions of a metric, of which this is the spread within them.
    between: fn(f64, &mut Random) -> f64,
    /// The largest spread between processes of a session; the smallest is 0.2 %.
    within: f64,
    /// The fewest processes in a session; the most are eight.
    processes: usize,
    /// True if in one of twenty metrics each process has one of two speeds with ratio 1.6.
    processes_have_speeds: bool,
    /// The same, of whole sessions.
    sessions_have_speeds: bool,
    /// Draws a number with mean zero and a spread of about one.
    deviation: fn(&mut Random) -> f64,
    /// Spread of the common deviation of a whole session, for example from a busy neighbour.
    mood: f64,
    /// True if metrics react differently to the mood, with factors from 0 to 2.
    uneven: bool,
    /// Slowdown from each session to the next; the sides alternate.
    drift: f64,
}

const STEADY: World = World {
    name: "0.3 %, alike in all metrics",
    between: |_, _| 0.003,
    within: 0.05,
    processes: 3,
    processes_have_speeds: false,
    sessions_have_speeds: false,
    deviation: Random::normal,
    mood: 0.0,
    uneven: false,
    drift: 0.0,
};
const WIDE: World = World {
    name: "0.03 to 3 %",
    between: |_, random| 0.003 * 10_f64.powf(2.0 * random.uniform() - 1.0),
    ..STEADY
};
const NOISY: World = World {
    name: "as much as processes, 0.2 to 20 %, with outliers",
    between: |within, random| within * (0.3 + 0.9 * random.uniform()),
    within: 0.2,
    // One value in ten is from a distribution three times as wide.
    deviation: |random| {
        let width = if random.below(10) == 0 { 3.0 } else { 1.0 };
        width * random.normal() / 1.8_f64.sqrt()
    },
    ..STEADY
};
const TWO_SPEEDS: World = World {
    name: "0.3 %, but processes of one metric in 20 by a factor of 1.6",
    processes_have_speeds: true,
    processes: 2,
    ..STEADY
};
const MOODY: World = World {
    name: "as much as processes, and a mood of 1.5 %",
    between: NOISY.between,
    mood: 0.015,
    ..STEADY
};
const WORST: World = World {
    name: "0.03 to 3 % with heavy tails, uneven mood, drift of 0.3 %, two processes",
    between: WIDE.between,
    deviation: |random| deviation(random, Some(3)) / 3_f64.sqrt(),
    drift: 0.003,
    processes: 2,
    within: 0.1,
    uneven: true,
    ..MOODY
};
const WORLDS: [World; 6] = [STEADY, WIDE, NOISY, TWO_SPEEDS, MOODY, WORST];

impl World {
    /// One metric: the values of its processes in each session. The sessions alternate between the
    /// sides; those of the second side are slower by `shift`.
    fn metric(&self, index: usize, moods: &[f64], shift: f64, random: &mut Random) -> Metric {
        const LEAST: f64 = 0.002;
        let within = LEAST * (self.within / LEAST).powf(random.uniform());
        let between = (self.between)(within, random);
        let speed = |has_two: bool, random: &mut Random| {
            if has_two && index.is_multiple_of(20) {
                1.6_f64.ln() * random.below(2) as f64
            } else {
                0.0
            }
        };
        let feels = if self.uneven {
            2.0 * random.uniform()
        } else {
            1.0
        };
        let drifts = self.drift * (0.5 + random.uniform());
        let processes = self.processes + random.below(9 - self.processes);
        let mut metric = Metric {
            family: ["even", "odd"][index % 2].into(),
            ..Metric::default()
        };
        for (session, mood) in moods.iter().enumerate() {
            let side = session % 2;
            let centre = feels * mood
                + between * (self.deviation)(random)
                + speed(self.sessions_have_speeds, random)
                - drifts * session as f64
                - shift * side as f64;
            let values = (0..processes).map(|_| {
                let speed = speed(self.processes_have_speeds, random);
                centre + speed + within * (self.deviation)(random)
            });
            let values: Vec<f64> = values.collect();
            metric.sides[side].push(mean(&values).unwrap());
            metric.errors.push(Variance {
                value: standard_error(&values).unwrap().powi(2),
                degrees: (processes - 1) as f64,
            });
        }
        metric
    }

    /// Two sides of `sessions` sessions each. The second side takes `change` times as long in the
    /// first `changed` metrics.
    fn metrics(
        &self,
        sessions: usize,
        change: f64,
        changed: usize,
        random: &mut Random,
    ) -> Vec<Metric> {
        let moods = (0..2 * sessions).map(|_| self.mood * random.normal());
        let moods: Vec<f64> = moods.collect();
        let shift = |index| if index < changed { change.ln() } else { 0.0 };
        (0..METRICS)
            .map(|index| self.metric(index, &moods, shift(index), random))
            .collect()
    }

    /// The share of comparisons of a machine with itself that raise at least one alarm.
    fn false_alarms(&self, sessions: usize) -> f64 {
        let mut random = Random::new(1995);
        share_of_alarms(|| self.metrics(sessions, 1.0, 0, &mut random))
    }

    /// For `changed` metrics that take `change` times as long: the share that is detected, and the
    /// mean of their estimated ratios.
    fn power(&self, sessions: usize, change: f64, changed: usize) -> (f64, f64) {
        let mut random = Random::new(2009);
        let comparisons = COMPARISONS / 10;
        let mut found = Vec::new();
        for _ in 0..comparisons {
            let compared = compared(&self.metrics(sessions, change, changed, &mut random));
            let detected = compared[..changed].iter().filter(|it| it.1);
            found.extend(detected.map(|(moderated, _)| -moderated.difference));
        }
        let share = found.len() as f64 / (comparisons * changed) as f64;
        (share, mean(&found).map_or(f64::NAN, f64::exp))
    }
}

/// The differences of the metrics, each with true if it raises an alarm.
fn compared(metrics: &[Metric]) -> Vec<(Moderated, bool)> {
    let found = differences(metrics).into_iter();
    let found: Vec<Moderated> = found.collect::<Option<_>>().unwrap();
    let p_values: Vec<f64> = found.iter().map(|it| it.p_beyond(MARGIN.ln())).collect();
    let alarms = adjusted(&p_values).into_iter().map(|p| p <= 0.05);
    found.into_iter().zip(alarms).collect()
}

fn share_of_alarms(mut metrics: impl FnMut() -> Vec<Metric>) -> f64 {
    let alarmed = (0..COMPARISONS).filter(|_| compared(&metrics()).iter().any(|it| it.1));
    alarmed.count() as f64 / COMPARISONS as f64
}

#[test]
fn a_machine_compared_with_itself_raises_hardly_an_alarm() {
    for world in WORLDS {
        for sessions in [2, 3, 5] {
            let alarmed = world.false_alarms(sessions);
            let case = format!("{}, {sessions} sessions", world.name);
            println!("{case}: {alarmed} of comparisons raise an alarm");
            assert!(alarmed <= 0.05, "{case}: {alarmed}");
        }
    }
}

/// If whole sessions have two speeds, three sessions a side cannot tell them from a change: with
/// probability 1/32 per metric, one side has only fast sessions and the other only slow ones. A
/// baseline of sessions from the unchanged machine can.
#[test]
fn a_baseline_shows_speeds_of_whole_sessions() {
    let world = World {
        sessions_have_speeds: true,
        ..STEADY
    };
    let alone = world.false_alarms(3);
    let mut random = Random::new(1964);
    let with_baseline = share_of_alarms(|| {
        let mut metrics = world.metrics(3, 1.0, 0, &mut random);
        let baseline = world.metrics(5, 1.0, 0, &mut random);
        for (metric, before) in metrics.iter_mut().zip(baseline) {
            metric.sides[2] = before.sides.concat();
            metric.errors.extend(before.errors);
        }
        metrics
    });
    println!("two speeds of sessions: {alone} raise an alarm, with a baseline {with_baseline}");
    assert!(with_baseline <= 0.05, "{with_baseline}");
    assert!(with_baseline < alone / 3.0, "{alone}");
}

#[test]
fn changes_are_found_with_their_size() {
    for world in WORLDS {
        for sessions in [3, 5] {
            for (change, changed) in [(1.05, METRICS / 2), (1.05, 5), (1.2, METRICS / 2), (1.2, 5)]
            {
                let (share, size) = world.power(sessions, change, changed);
                let case = format!(
                    "{}, {sessions} sessions, {changed} metrics {change}",
                    world.name
                );
                println!("{case}: {share:.2} found, {size:.3}");
                // A mood that all sessions of a side share by chance may hide a change of 5 %.
                let least = match (change > 1.1, world.mood > 0.0) {
                    (true, _) => 0.7,
                    (false, false) => 0.3,
                    (false, true) => 0.0,
                };
                assert!(changed <= 5 || share >= least, "{case}: {share}");
                // If few changes are detected, they are those that look larger than they are.
                let is_right = (size / change - 1.0).abs() < 0.02;
                assert!(share <= 0.2 || is_right, "{case}: {size}");
            }
        }
    }
}
