//! Comparing two sides over many metrics: values against limma's, kept in
//! `golden/moderation.json` beside the script that made them, and what simulation says of false
//! alarms and of power.

#![expect(clippy::unwrap_used, reason = "the golden data are known")]

use oscope_instrument::statistics::discovery::adjusted;
use oscope_instrument::statistics::moderation::{Contrast, Moderated, moderate, prior};
use oscope_instrument::statistics::random::Random;
use oscope_instrument::statistics::sessions::{Metric, differences};
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
    let golden: Value = serde_json::from_str(include_str!("golden/moderation.json")).unwrap();
    for family in golden["families"].as_array().unwrap() {
        let name = family["name"].as_str().unwrap();
        let field = |field: &str| numbers(&family[field]);
        let (differences, variances) = (field("difference"), field("variance"));
        let (degrees, factors) = (field("degrees"), field("factor"));
        let contrasts: Vec<Contrast> = (0..differences.len())
            .map(|index| Contrast {
                difference: differences[index],
                variance: variances[index],
                degrees: degrees[index],
                factor: factors[index],
            })
            .collect();
        let prior = prior(&contrasts).unwrap();
        assert_close(prior.variance, field("prior")[0], name);
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

/// An unoptimised build is content with fewer.
const COMPARISONS: usize = if cfg!(debug_assertions) { 200 } else { 1_000 };
const METRICS: usize = 300;
const MARGIN: f64 = 1.02;

/// How the sessions of a simulated machine differ.
struct World {
    /// Spread of a metric from session to session, as a share of its value.
    spread: f64,
    /// Degrees of freedom of the spreads themselves: few where metrics differ much.
    likeness: usize,
    /// Spread of what a whole session has in common, as a warm room has.
    shared: f64,
}

impl World {
    /// The contrasts of two sides of `sessions` sessions each, of which the second takes `change`
    /// times as long in the first half of its metrics.
    fn compare(&self, sessions: usize, change: f64, random: &mut Random) -> Vec<Moderated> {
        let moods: Vec<f64> = (0..2 * sessions)
            .map(|_| self.shared * random.normal())
            .collect();
        let metrics: Vec<Metric> = (0..METRICS)
            .map(|metric| {
                let chi_square: f64 = (0..self.likeness).map(|_| random.normal().powi(2)).sum();
                let spread = self.spread * (self.likeness as f64 / chi_square).sqrt();
                let shift = if metric < METRICS / 2 {
                    change.ln()
                } else {
                    0.0
                };
                let mut session = |index: usize| moods[index] + spread * random.normal();
                let first: Vec<f64> = (0..sessions).map(&mut session).collect();
                let second: Vec<f64> = (sessions..2 * sessions)
                    .map(|index| session(index) + shift)
                    .collect();
                Metric {
                    family: "all".into(),
                    sides: [first, second, Vec::new()],
                }
            })
            .collect();
        differences(&metrics)
            .into_iter()
            .collect::<Option<_>>()
            .unwrap()
    }
}

fn alarms(moderated: &[Moderated]) -> Vec<bool> {
    let p_values: Vec<f64> = moderated
        .iter()
        .map(|found| found.p_beyond(MARGIN.ln()))
        .collect();
    adjusted(&p_values).iter().map(|q| *q <= 0.05).collect()
}

/// The share of whole comparisons of a machine with itself that raise any alarm.
fn false_alarms(world: &World, sessions: usize) -> f64 {
    let mut random = Random::new(1995);
    let alarmed = (0..COMPARISONS)
        .filter(|_| alarms(&world.compare(sessions, 1.0, &mut random)).contains(&true));
    alarmed.count() as f64 / COMPARISONS as f64
}

/// The share of true changes of 5 % that are found.
fn power(world: &World, sessions: usize) -> f64 {
    let mut random = Random::new(2009);
    let comparisons = COMPARISONS / 10;
    let found: usize = (0..comparisons)
        .map(|_| {
            let alarms = alarms(&world.compare(sessions, 1.05, &mut random));
            alarms[..METRICS / 2].iter().filter(|alarm| **alarm).count()
        })
        .sum();
    found as f64 / (comparisons * METRICS / 2) as f64
}

const QUIET: World = World {
    spread: 0.007,
    likeness: 8,
    shared: 0.0,
};
const MIXED: World = World {
    spread: 0.01,
    likeness: 3,
    shared: 0.0,
};
const MOODY: World = World {
    spread: 0.005,
    likeness: 4,
    shared: 0.01,
};

#[test]
fn a_machine_compared_with_itself_raises_hardly_an_alarm() {
    for (name, world) in [("quiet", QUIET), ("mixed", MIXED), ("moody", MOODY)] {
        for sessions in [2, 3, 5] {
            let alarmed = false_alarms(&world, sessions);
            println!("{name}, {sessions} sessions: {alarmed} of comparisons raise an alarm");
            assert!(alarmed <= 0.05, "{name}, {sessions} sessions: {alarmed}");
        }
    }
}

#[test]
fn a_change_of_five_per_cent_is_found() {
    for (name, world, sessions, least) in [
        ("quiet", QUIET, 3, 0.9),
        ("mixed", MIXED, 5, 0.7),
        ("moody", MOODY, 5, 0.5),
    ] {
        let power = power(&world, sessions);
        println!("{name}, {sessions} sessions: {power} of changes of 5 % are found");
        assert!(power >= least, "{name}, {sessions} sessions: {power}");
    }
}
