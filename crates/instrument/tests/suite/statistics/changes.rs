//! False alarms and detections of changes of level, in one series and among many, by simulation.

use oscope_instrument::statistics::changes::{Change, LEAST, Shape, changes, departures};
use oscope_instrument::statistics::discovery::adjusted;
use oscope_instrument::statistics::random::Random;

const SERIES: usize = if cfg!(debug_assertions) { 300 } else { 2_000 };
/// The accepted share of false alarms. An unoptimised build simulates fewer series, so chance
/// allows more.
const MOST_CUT: f64 = if cfg!(debug_assertions) { 0.08 } else { 0.05 };

/// Values of a history, the least departure, and the rate of false discoveries.
const METRICS: usize = 200;
const MARGIN: f64 = 0.02;
const RATE: f64 = 0.05;

/// A series of `len` values around 1 with this spread, multiplied by `change` from index `at` on.
fn series(len: usize, spread: f64, at: usize, change: f64, random: &mut Random) -> Vec<f64> {
    let level = |index| if index < at { 1.0 } else { change };
    (0..len)
        .map(|index| level(index) * (spread * random.normal()).exp())
        .collect()
}

fn share<T>(of: &[T], holds: impl Fn(&T) -> bool) -> f64 {
    of.iter().filter(|it| holds(it)).count() as f64 / of.len() as f64
}

#[test]
fn a_steady_series_is_hardly_ever_cut() {
    let mut random = Random::new(1);
    for len in [10, 20, 50, 200] {
        let steady = (0..SERIES).map(|_| changes(&series(len, 0.01, 0, 1.0, &mut random)));
        let cut = share(&steady.collect::<Vec<_>>(), |changes| !changes.is_empty());
        println!("{len} values without change: {cut} are cut");
        assert!(cut <= MOST_CUT, "{len}: {cut}");
    }
}

#[test]
fn a_change_is_found_where_it_is_and_as_large_as_it_is() {
    let mut random = Random::new(2);
    for (len, change) in [(20, 1.05), (50, 1.03), (50, 0.95), (200, 1.02)] {
        let at = len / 2;
        let found = (0..SERIES).map(|_| changes(&series(len, 0.01, at, change, &mut random)));
        let one: Vec<Change> = found
            .filter_map(|changes| <[Change; 1]>::try_from(changes).ok())
            .flatten()
            .collect();
        let power = one.len() as f64 / SERIES as f64;
        let place = share(&one, |it| it.between.0 <= at && at <= it.between.1);
        let size = share(&one, |it| {
            it.ratio.interval.is_some_and(|it| it.contains(change))
        });
        println!("{len} values, {change}: found {power}, place {place}, size {size}");
        assert!(power >= 0.9, "{len}, {change}: {power}");
        assert!(place >= 0.93, "{len}, {change}: {place}");
        assert!(size >= 0.9, "{len}, {change}: {size}");
    }
}

#[test]
fn awkward_series_have_no_changes() {
    let with = |value| {
        let mut values = vec![1.0; 20];
        values[7] = value;
        changes(&values).len()
    };
    assert_eq!(with(0.0), 0);
    assert!(with(3.0) <= 2);
    for series in [&[][..], &[1.0; LEAST - 1], &[1.0; 40]] {
        assert!(changes(series).is_empty(), "{series:?}");
    }
}

/// The number of departures found in a history of `len` runs of metrics with this spread, of which the first
/// `stepped` rise by 10 % in the middle; and those found in others.
fn detected(len: usize, spread: f64, stepped: usize, random: &mut Random) -> (usize, usize) {
    let mut found = Vec::new();
    for number in 0..METRICS {
        let at = if number < stepped { len / 2 } else { len };
        let departures = departures(&series(len, spread, at, 1.1, random), MARGIN);
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
    let drifts = (0..100).map(|_| {
        let values: Vec<f64> = (0..30)
            .map(|run| (0.005 * f64::from(run) + 0.01 * random.normal()).exp())
            .collect();
        departures(&values, MARGIN)
    });
    let drifts = share(
        &drifts.collect::<Vec<_>>(),
        |found| matches!(found[..], [found] if matches!(found.shape, Shape::Drift(_)) && found.p_value < 1e-4),
    );
    println!("{drifts} are found as drifts");
    assert!(drifts >= 0.9, "{drifts}");
}
