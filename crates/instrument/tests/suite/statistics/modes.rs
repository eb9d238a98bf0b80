//! False alarms and detections of several modes, by simulation.

use oscope_instrument::statistics::modes::several;
use oscope_instrument::statistics::random::Random;

const SAMPLES: usize = 1_000;

/// The share of simulated samples of `n` values in which several modes are detected.
fn rate(n: usize, seed: u64, draw: impl Fn(&mut Random) -> f64) -> f64 {
    let mut random = Random::new(seed);
    let found = (0..SAMPLES)
        .filter(|_| {
            let sample: Vec<f64> = (0..n).map(|_| draw(&mut random)).collect();
            several(&sample).is_some()
        })
        .count();
    found as f64 / SAMPLES as f64
}

fn waiting_time(random: &mut Random) -> f64 {
    -(1.0 - random.uniform()).ln()
}

#[test]
fn false_alarms_are_rare() {
    for n in [6, 10, 20, 30, 60, 200] {
        let normal = rate(n, 1, |random| 100.0 + 3.0 * random.normal());
        let lognormal = rate(n, 2, |random| (0.5 * random.normal()).exp());
        let exponential = rate(n, 3, waiting_time);
        let shifted = rate(n, 4, |random| 100.0 + waiting_time(random));
        let uniform = rate(n, 5, |random| 100.0 + random.uniform());
        println!("{n}: {normal} {lognormal} {exponential} {shifted} {uniform}");
        for rate in [normal, lognormal, exponential, shifted] {
            assert!(rate <= 0.012, "{n} values: {rate}");
        }
        // The uniform distribution is the worst case: each of the two tests has 1 % of false
        // alarms.
        assert!(uniform <= 0.03, "{n} uniform values: {uniform}");
    }
}

#[test]
fn rounding_makes_no_modes() {
    for n in [10, 30, 200] {
        for deviation in [0.3, 1.0, 3.0] {
            let rate = rate(n, 6, |random| {
                (1_000.0 + deviation * random.normal()).round()
            });
            println!("{n}, rounded to 1 / {deviation} deviations: {rate}");
            assert!(rate <= 0.02, "{n} values of deviation {deviation}: {rate}");
        }
    }
}

/// The mixture of the doc comment: a deviation of 1 %, and a `share` of the values `distance`
/// deviations higher.
fn two_modes(random: &mut Random, share: f64, distance: f64) -> f64 {
    let is_slow = random.uniform() < share;
    let shift = if is_slow { distance } else { 0.0 };
    (0.01 * (random.normal() + shift)).exp()
}

#[test]
fn detections_are_those_documented() {
    let documented = [
        (0.5, 10.0, [0.59, 0.96, 1.0, 1.0, 1.0]),
        (0.5, 5.0, [0.10, 0.27, 0.42, 0.81, 1.0]),
        (0.2, 10.0, [0.12, 0.35, 0.56, 0.93, 1.0]),
        (0.1, 10.0, [0.02, 0.05, 0.12, 0.40, 0.99]),
    ];
    for (share, distance, expected) in documented {
        for (n, expected) in [10, 20, 30, 60, 200].into_iter().zip(expected) {
            let found = rate(n, 7, |random| two_modes(random, share, distance));
            println!("{share} at {distance}, {n} values: {found}");
            let difference: f64 = found - expected;
            assert!(difference.abs() < 0.02, "documented {expected}");
        }
    }
}

#[test]
fn modes_are_where_they_were_put() {
    let mut random = Random::new(8);
    let sample: Vec<f64> = (0..60)
        .map(|index| [100.0, 110.0, 150.0][index % 3] * (0.01 * random.normal()).exp())
        .collect();
    let modes = several(&sample).expect("three modes are far apart");
    assert_eq!(modes.len(), 3);
    for (mode, centre) in modes.iter().zip([100.0, 110.0, 150.0]) {
        assert!((mode / centre - 1.0).abs() < 0.01);
    }
}

#[test]
fn few_equal_or_wild_values_are_no_modes() {
    assert_eq!(several(&[]), None);
    assert_eq!(several(&[1.0, 1.0, 1.0, 9.0, 9.0]), None);
    assert_eq!(several(&[5.0; 40]), None);
    let mut one_wild: Vec<f64> = (0..30).map(|index| 100.0 + f64::from(index % 7)).collect();
    one_wild.push(1e6);
    assert_eq!(several(&one_wild), None);
}
