//! Comparisons of two sides over many metrics: golden values from limma, stored in
//! `golden/moderation.json` next to the script that computes them, and simulations of false alarms
//! and of power.

#![expect(clippy::unwrap_used, reason = "the golden data are known")]

use oscope_instrument::statistics::discovery::adjusted;
use oscope_instrument::statistics::moderation::{Contrast, Moderated, Variance, moderate, prior};
use oscope_instrument::statistics::random::Random;
use oscope_instrument::statistics::sessions::{Metric, differences};
use oscope_instrument::statistics::student::standard_error;
use oscope_instrument::statistics::summary::mean;
use serde_json::Value;

fn numbers(value: &Value) -> Vec<f64> {
    let number = |value: &Value| value.as_f64().unwrap_or(f64::INFINITY);
    value.as_array().unwrap().iter().map(number).collect()
}

#[track_caller]
fn assert_close(ours: f64, theirs: f64, what: &str) {
    let same = ours.to_bits() == theirs.to_bits();
    let near = (ours - theirs).abs() <= 1e-7 * theirs.abs() + 1e-14;
    assert!(same || near, "{what}: ours {ours}, limma's {theirs}");
}

#[test]
fn moderation_is_that_of_limma() {
    let golden: Value = serde_json::from_str(include_str!("../../golden/moderation.json")).unwrap();
    for family in golden["families"].as_array().unwrap() {
        let name = family["name"].as_str().unwrap();
        let field = |field: &str| numbers(&family[field]);
        let (differences, variances) = (field("difference"), field("variance"));
        let (degrees, factors) = (field("degrees"), field("factor"));
        let contrasts: Vec<Contrast> = (0..differences.len())
            .map(|index| Contrast {
                difference: differences[index],
                variance: Variance {
                    value: variances[index],
                    degrees: degrees[index],
                },
                within: None,
                factor: factors[index],
            })
            .collect();
        let prior = prior(&contrasts).unwrap();
        assert_close(prior.variance(&contrasts[0]), field("prior")[0], name);
        assert_close(prior.degrees, field("prior")[1], name);
        let moderated = moderate(&contrasts, prior);
        let margin = family["margin"].as_f64().unwrap();
        let p_values: Vec<f64> = moderated
            .iter()
            .map(|found| found.p_beyond(margin))
            .collect();
        let adjusted = adjusted(&p_values);
        for (index, found) in moderated.iter().enumerate() {
            let posterior = (found.standard_error / factors[index]).powi(2);
            assert_close(posterior, field("posterior")[index], name);
            assert_close(found.degrees, field("total_degrees")[index], name);
            assert_close(p_values[index], field("p_beyond")[index], name);
            assert_close(found.p_within(margin), field("p_within")[index], name);
            assert_close(adjusted[index], field("adjusted")[index], name);
        }
    }
}

/// An unoptimised build simulates fewer comparisons.
const COMPARISONS: usize = if cfg!(debug_assertions) { 50 } else { 500 };
const METRICS: usize = 150;
const MARGIN: f64 = 1.02;

/// Distribution over metrics of the spread between sessions.
#[derive(Clone, Copy)]
enum Between {
    /// The same for all.
    Alike(f64),
    /// Up to ten times larger or smaller, uniformly on a logarithmic scale.
    Wide(f64),
    /// In proportion to the spread within sessions.
    AsWithin,
}

#[derive(Clone, Copy)]
enum Tails {
    Normal,
    /// Student's t with 3 degrees of freedom.
    Heavy,
    /// One value in ten is from a distribution three times as wide.
    Outliers,
}

#[derive(Clone, Copy, PartialEq)]
enum Speeds {
    One,
    OfProcesses,
    OfSessions,
}

/// Differences between the sessions of a simulated machine.
#[derive(Clone, Copy)]
struct World {
    name: &'static str,
    between: Between,
    /// The largest spread between processes of a session; the smallest is 0.2 %.
    within: f64,
    /// The fewest processes in a session; the most are eight.
    processes: usize,
    /// Unit that takes one of two values with ratio 1.6, in one of twenty metrics.
    speeds: Speeds,
    tails: Tails,
    /// Spread of the common deviation of a whole session, for example from a busy neighbour.
    mood: f64,
    /// True if metrics react differently to the mood, with factors from 0 to 2.
    uneven: bool,
    /// Slowdown from each session to the next; the sides alternate.
    drift: f64,
}

const STEADY: World = World {
    name: "0.3 %, alike in all metrics",
    between: Between::Alike(0.003),
    within: 0.05,
    processes: 3,
    speeds: Speeds::One,
    tails: Tails::Normal,
    mood: 0.0,
    uneven: false,
    drift: 0.0,
};
const WIDE: World = World {
    name: "0.03 to 3 %",
    between: Between::Wide(0.003),
    ..STEADY
};
const NOISY: World = World {
    name: "as much as processes, 0.2 to 20 %, with outliers",
    between: Between::AsWithin,
    within: 0.2,
    tails: Tails::Outliers,
    ..STEADY
};
const TWO_SPEEDS: World = World {
    name: "0.3 %, but processes of one metric in 20 by a factor of 1.6",
    speeds: Speeds::OfProcesses,
    processes: 2,
    ..STEADY
};
const MOODY: World = World {
    name: "as much as processes, and a mood of 1.5 %",
    between: Between::AsWithin,
    mood: 0.015,
    ..STEADY
};
const WORST: World = World {
    name: "0.03 to 3 % with heavy tails, uneven mood, drift of 0.3 %, two processes",
    between: Between::Wide(0.003),
    tails: Tails::Heavy,
    drift: 0.003,
    processes: 2,
    within: 0.1,
    uneven: true,
    ..MOODY
};
const WORLDS: [World; 6] = [STEADY, WIDE, NOISY, TWO_SPEEDS, MOODY, WORST];

impl Tails {
    /// A random number with mean zero and a spread of about one.
    fn draw(self, random: &mut Random) -> f64 {
        match self {
            Self::Normal => random.normal(),
            Self::Heavy => {
                let squares: f64 = (0..3).map(|_| random.normal().powi(2)).sum();
                random.normal() / squares.sqrt()
            }
            Self::Outliers if random.below(10) == 0 => 3.0 * random.normal() / 1.8_f64.sqrt(),
            Self::Outliers => random.normal() / 1.8_f64.sqrt(),
        }
    }
}

impl World {
    /// One metric: the values of its processes in each session. The sessions alternate between the
    /// sides; those of the second side are slower by `shift`.
    fn metric(&self, index: usize, moods: &[f64], shift: f64, random: &mut Random) -> Metric {
        const LEAST: f64 = 0.002;
        let within = LEAST * (self.within / LEAST).powf(random.uniform());
        let between = match self.between {
            Between::Alike(spread) => spread,
            Between::Wide(spread) => spread * 10_f64.powf(2.0 * random.uniform() - 1.0),
            Between::AsWithin => within * (0.3 + 0.9 * random.uniform()),
        };
        let speed = |of: Speeds, random: &mut Random| {
            if self.speeds == of && index.is_multiple_of(20) {
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
            family: if index.is_multiple_of(2) {
                "even"
            } else {
                "odd"
            }
            .into(),
            ..Metric::default()
        };
        for (session, mood) in moods.iter().enumerate() {
            let side = session % 2;
            let centre = feels * mood
                + between * self.tails.draw(random)
                + speed(Speeds::OfSessions, random)
                - drifts * session as f64
                - shift * side as f64;
            let values = (0..processes).map(|_| {
                centre + speed(Speeds::OfProcesses, random) + within * self.tails.draw(random)
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
            let compared = compare(&self.metrics(sessions, change, changed, &mut random));
            let alarms = alarms(&compared);
            let detected = compared[..changed].iter().zip(alarms).filter(|it| it.1);
            found.extend(detected.map(|(moderated, _)| -moderated.difference));
        }
        let share = found.len() as f64 / (comparisons * changed) as f64;
        (share, mean(&found).map_or(f64::NAN, f64::exp))
    }
}

fn compare(metrics: &[Metric]) -> Vec<Moderated> {
    let found = differences(metrics).into_iter();
    found.collect::<Option<_>>().unwrap()
}

fn share_of_alarms(mut metrics: impl FnMut() -> Vec<Metric>) -> f64 {
    let alarmed = (0..COMPARISONS).filter(|_| alarms(&compare(&metrics())).contains(&true));
    alarmed.count() as f64 / COMPARISONS as f64
}

fn alarms(moderated: &[Moderated]) -> Vec<bool> {
    let p_values: Vec<f64> = moderated
        .iter()
        .map(|found| found.p_beyond(MARGIN.ln()))
        .collect();
    adjusted(&p_values).iter().map(|q| *q <= 0.05).collect()
}

#[test]
fn a_machine_compared_with_itself_raises_hardly_an_alarm() {
    for world in WORLDS {
        for sessions in [2, 3, 5] {
            let alarmed = world.false_alarms(sessions);
            println!(
                "{}, {sessions} sessions: {alarmed} of comparisons raise an alarm",
                world.name
            );
            assert!(
                alarmed <= 0.05,
                "{}, {sessions} sessions: {alarmed}",
                world.name
            );
        }
    }
}

/// If whole sessions have two speeds, three sessions a side cannot tell them from a change: with
/// probability 1/32 per metric, one side has only fast sessions and the other only slow ones. A
/// baseline of sessions from the unchanged machine can.
#[test]
fn a_baseline_shows_speeds_of_whole_sessions() {
    let world = World {
        speeds: Speeds::OfSessions,
        ..STEADY
    };
    let alone = world.false_alarms(3);
    let mut random = Random::new(1964);
    let with_baseline = share_of_alarms(|| {
        let mut metrics = world.metrics(3, 1.0, 0, &mut random);
        for (metric, before) in metrics
            .iter_mut()
            .zip(world.metrics(5, 1.0, 0, &mut random))
        {
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
                println!(
                    "{}, {sessions} sessions, {changed} metrics {change}: {share:.2} found, {size:.3}",
                    world.name
                );
                // A mood that all sessions of a side share by chance may hide a change of 5 %.
                let least = match (change > 1.1, world.mood > 0.0) {
                    (true, _) => 0.7,
                    (false, false) => 0.3,
                    (false, true) => 0.0,
                };
                if changed > 5 {
                    assert!(share >= least, "{}: {share}", world.name);
                }
                // If few changes are detected, they are those that look larger than they are.
                if share > 0.2 {
                    assert!((size / change - 1.0).abs() < 0.02, "{}: {size}", world.name);
                }
            }
        }
    }
}
