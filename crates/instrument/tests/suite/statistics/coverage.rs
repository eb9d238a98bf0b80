//! Coverage of the nominal 95 % intervals in simulated experiments: between 92 and 98 % unless the
//! documentation says otherwise.

use oscope_instrument::statistics::linear::weighted_line;
use oscope_instrument::statistics::random::Random;
use oscope_instrument::statistics::student::ratio_estimate;
use oscope_instrument::statistics::trend::mann_kendall;
use oscope_instrument::statistics::{Confidence, Estimated};

/// An unoptimised build simulates fewer experiments.
const EXPERIMENTS: usize = if cfg!(debug_assertions) {
    4_000
} else {
    10_000
};

const LEVEL: Confidence = Confidence::NINETY_FIVE;

/// The share of experiments with an interval that contains `truth`; a missing interval does not.
fn coverage(truth: f64, mut experiment: impl FnMut(&mut Random) -> Option<Estimated>) -> f64 {
    let mut random = Random::new(2013);
    let holds = |_: &usize| {
        experiment(&mut random)
            .and_then(|estimate| estimate.interval)
            .is_some_and(|interval| interval.contains(truth))
    };
    (0..EXPERIMENTS).filter(holds).count() as f64 / EXPERIMENTS as f64
}

#[track_caller]
fn assert_covers(coverage: f64, what: &str) {
    println!("{what}: {coverage}");
    assert!((0.92..=0.98).contains(&coverage), "{what}: {coverage}");
}

fn values(n: usize, random: &mut Random, draw: impl Fn(&mut Random) -> f64) -> Vec<f64> {
    (0..n).map(|_| draw(random)).collect()
}

fn lognormal(random: &mut Random) -> f64 {
    random.normal().exp()
}

/// The parameter is the ratio of the geometric means, which is 1; the variances differ.
#[test]
fn ratio_of_two_runs() {
    for (above, below) in [(3, 3), (5, 10), (10, 10)] {
        let found = coverage(1.0, |random| {
            let noisy = values(above, random, |random| (0.1 * random.normal()).exp());
            let quiet = values(below, random, |random| (0.02 * random.normal()).exp());
            ratio_estimate(&noisy, &quiet, LEVEL)
        });
        assert_covers(found, &format!("ratio of {above} and {below} processes"));
    }
}

/// The parameters are the intercept and slope of the line through the expectations.
#[test]
fn line_with_relative_errors() {
    let x: Vec<f64> = (0..10).map(f64::from).collect();
    let weights: Vec<f64> = x.iter().map(|x| (10.0 + x).powi(-2)).collect();
    let line = |random: &mut Random| {
        let y: Vec<f64> = x
            .iter()
            .map(|x| (10.0 + x) * (1.0 + 0.05 * random.normal()))
            .collect();
        weighted_line(&x, &y, &weights, LEVEL)
    };
    assert_covers(coverage(1.0, |random| Some(line(random)?.slope)), "slope");
    assert_covers(
        coverage(10.0, |random| Some(line(random)?.intercept)),
        "intercept",
    );
}

#[test]
fn trend_false_alarms() {
    let mut random = Random::new(1);
    for n in [8, 20] {
        let alarms = (0..EXPERIMENTS)
            .filter(|_| {
                mann_kendall(&values(n, &mut random, lognormal)).is_some_and(|chance| chance < 0.05)
            })
            .count();
        let rate = alarms as f64 / EXPERIMENTS as f64;
        assert!((0.02..=0.06).contains(&rate), "{n}: {rate}");
    }
}
