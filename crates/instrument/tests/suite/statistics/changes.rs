//! False alarms and detections of changes of level, by simulation.

use oscope_instrument::statistics::changes::{Change, LEAST, changes};
use oscope_instrument::statistics::random::Random;

const SERIES: usize = if cfg!(debug_assertions) { 300 } else { 2_000 };
/// The accepted share of false alarms. An unoptimised build simulates fewer series, so chance
/// allows more.
const MOST_CUT: f64 = if cfg!(debug_assertions) { 0.08 } else { 0.05 };

/// A series of `len` values around 1 with a spread of 1 %, multiplied by `change` from index `at`
/// on.
fn series(len: usize, at: usize, change: f64, random: &mut Random) -> Vec<f64> {
    (0..len)
        .map(|index| {
            let level = if index < at { 1.0 } else { change };
            level * (0.01 * random.normal()).exp()
        })
        .collect()
}

#[test]
fn a_steady_series_is_hardly_ever_cut() {
    let mut random = Random::new(1);
    for len in [10, 20, 50, 200] {
        let cut = (0..SERIES).filter(|_| !changes(&series(len, 0, 1.0, &mut random)).is_empty());
        let share = cut.count() as f64 / SERIES as f64;
        println!("{len} values without change: {share} are cut");
        assert!(share <= MOST_CUT, "{len}: {share}");
    }
}

#[test]
fn a_change_is_found_where_it_is_and_as_large_as_it_is() {
    let mut random = Random::new(2);
    for (len, change) in [(20, 1.05), (50, 1.03), (50, 0.95), (200, 1.02)] {
        let at = len / 2;
        let found: Vec<Vec<Change>> = (0..SERIES)
            .map(|_| changes(&series(len, at, change, &mut random)))
            .collect();
        let one: Vec<Change> = found
            .iter()
            .filter(|changes| changes.len() == 1)
            .map(|changes| changes[0])
            .collect();
        let power = one.len() as f64 / SERIES as f64;
        let share = |holds: &dyn Fn(&Change) -> bool| {
            one.iter().filter(|change| holds(change)).count() as f64 / one.len() as f64
        };
        let place = share(&|found| found.between.0 <= at && at <= found.between.1);
        let size = share(&|found| {
            found
                .ratio
                .interval
                .is_some_and(|interval| interval.contains(change))
        });
        println!("{len} values, {change}: found {power}, place {place}, size {size}");
        assert!(power >= 0.9, "{len}, {change}: {power}");
        assert!(place >= 0.93, "{len}, {change}: {place}");
        assert!(size >= 0.9, "{len}, {change}: {size}");
    }
}

#[test]
fn awkward_series_have_no_changes() {
    assert!(changes(&[]).is_empty());
    assert!(changes(&[1.0; LEAST - 1]).is_empty());
    assert!(changes(&[1.0; 40]).is_empty());
    let mut with_zero = vec![1.0; 20];
    with_zero[3] = 0.0;
    assert!(changes(&with_zero).is_empty());
    let mut with_outlier = vec![1.0; 20];
    with_outlier[7] = 3.0;
    assert!(changes(&with_outlier).len() <= 2);
}
