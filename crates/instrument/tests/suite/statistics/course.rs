//! False alarms and detections among many series, by simulation.

use oscope_instrument::statistics::changes::{Shape, departures};
use oscope_instrument::statistics::discovery::adjusted;
use oscope_instrument::statistics::random::Random;

const SERIES: usize = 200;
const MARGIN: f64 = 0.02;
const RATE: f64 = 0.05;

/// The number of departures found among series of `len` runs with a spread of `spread`, of which the first
/// `stepped` rise by 10 % in the middle; and those found in others.
fn detected(len: usize, spread: f64, stepped: usize, random: &mut Random) -> (usize, usize) {
    let mut found = Vec::new();
    for number in 0..SERIES {
        let level = |run| {
            if number < stepped && run >= len / 2 {
                1.1
            } else {
                1.0
            }
        };
        let values: Vec<f64> = (0..len)
            .map(|run| level(run) * (spread * random.normal()).exp())
            .collect();
        let departures = departures(&values, MARGIN);
        if departures.is_empty() {
            found.push((number, 1.0));
        }
        found.extend(departures.iter().map(|found| (number, found.p_value)));
    }
    let p_values: Vec<f64> = found.iter().map(|(_, p)| *p).collect();
    let detected = adjusted(&p_values).into_iter().zip(found);
    let detected = detected.filter(|(p, _)| *p <= RATE);
    let (right, wrong): (Vec<_>, Vec<_>) = detected.partition(|(_, (number, _))| *number < stepped);
    (right.len(), wrong.len())
}

#[test]
fn two_hundred_steady_metrics_raise_no_alarm() {
    let mut random = Random::new(1);
    for (len, spread) in [(10, 0.01), (10, 0.2), (24, 0.05), (100, 0.05)] {
        let alarms = (0..100).filter(|_| detected(len, spread, 0, &mut random).1 > 0);
        let alarms = alarms.count();
        println!("{len} runs, spread {spread}: alarms in {alarms} of 100");
        assert!(alarms <= 5, "{len}: {alarms}");
    }
}

#[test]
fn a_step_in_a_tenth_of_the_metrics_is_found_and_others_seldom() {
    let mut random = Random::new(2);
    let (mut right, mut wrong) = (0, 0);
    for _ in 0..20 {
        let (found, others) = detected(24, 0.01, 20, &mut random);
        right += found;
        wrong += others;
    }
    println!("{right} of 400 found, {wrong} of other metrics");
    assert!(right >= 390, "{right}");
    assert!(wrong as f64 <= RATE * right as f64, "{wrong}");
}

#[test]
fn a_drift_is_found_as_a_drift() {
    let mut random = Random::new(3);
    let drifts = (0..100).filter(|_| {
        let values: Vec<f64> = (0..30)
            .map(|run| (0.005 * f64::from(run) + 0.01 * random.normal()).exp())
            .collect();
        let found = departures(&values, MARGIN);
        matches!(found[..], [found] if matches!(found.shape, Shape::Drift(_)) && found.p_value < 1e-4)
    });
    let drifts = drifts.count();
    println!("{drifts} of 100 are found as drifts");
    assert!(drifts >= 90, "{drifts}");
}
