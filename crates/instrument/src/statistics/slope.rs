//! The growth of a cost with the state of the core, from the legs of one run.
//!
//! Work of the core is counted in cycles, so its cost grows as the cycle does: a slope of 1. Work of
//! memory and devices takes as long at any clock: a slope of 0. A point's own legs at two clocks
//! show where between them its cost lies; and so do legs alone and on a shared core.

use super::summary::{finite, median, median_absolute_deviation, sorted};
use super::visit::Centre;

/// Legs whose states differ by less, in logarithms, show no slope: at 3 % the noise of a process of
/// 1 % is a third of the difference that is looked for.
const LEAST_SPAN: f64 = 0.03;

/// As many legs at an end of the range make it one that was met, and not the error of a reading.
const ENOUGH: usize = 5;

/// As many processes at either end tell how far processes differ.
const FEWEST_AT_AN_END: usize = 2;

/// Before any data, all slopes between 0 and 1 are alike: this is their mean, and the variance.
const MEAN: f64 = 0.5;
const VARIANCE: f64 = 1.0 / 12.0;

/// The median absolute deviation of normal data times this is their standard deviation.
const MAD_TO_DEVIATION: f64 = 1.4826;

/// The standard error of a median of normal data over that of their mean, squared.
const OF_MEDIAN: f64 = std::f64::consts::FRAC_PI_2;

/// The least standard deviation of a process, in logarithms: below 0.1 %, the clock and the
/// reference limit what is known.
const LEAST_DEVIATION: f64 = 1e-3;

/// A slope with its error.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Slope {
    /// From 0 to 1.
    pub(super) value: f64,
    /// Its standard deviation.
    pub(super) error: f64,
}

/// A leg in logarithms.
#[derive(Clone, Copy)]
pub(super) struct Point {
    /// The state of the core.
    pub(super) x: f64,
    pub(super) cost: f64,
}

/// The least and the greatest of these values that enough others reach; `None` without values.
pub(super) fn ends(values: &[f64]) -> Option<[f64; 2]> {
    let values = sorted(values)?;
    let enough = ENOUGH.min(values.len().div_ceil(2));
    Some([
        *values.get(enough.checked_sub(1)?)?,
        values[values.len() - enough],
    ])
}

/// The slope of a cost over the state of the core, from the legs of each process: the resistant line through the
/// lowest and the highest third of the states (J. Tukey, "Exploratory Data Analysis", 1977), drawn
/// towards the middle of what is possible by its error.
///
/// `None` if the states span less than [`LEAST_SPAN`], or if too few legs or processes lie at an end.
pub(super) fn slope(processes: &[Vec<Point>], centre: Centre) -> Option<Slope> {
    let states: Vec<f64> = processes.iter().flatten().map(|leg| leg.x).collect();
    if states.len() < 2 * ENOUGH {
        return None;
    }
    let [low, high] = ends(&states)?;
    if high - low < LEAST_SPAN {
        return None;
    }
    let third = (high - low) / 3.0;
    let slow = End::of(processes, centre, |x| x >= high - third)?;
    let fast = End::of(processes, centre, |x| x <= low + third)?;

    let distance = slow.x - fast.x;
    let residuals = [fast.residuals.as_slice(), &slow.residuals].concat();
    let degrees = residuals.len() as f64 - 2.0;
    let of_small = (residuals.len() as f64 / degrees).sqrt();
    let deviation = MAD_TO_DEVIATION * of_small * median_absolute_deviation(&residuals)?;
    let per_process = deviation.max(LEAST_DEVIATION).powi(2) * OF_MEDIAN;
    let found = (slow.cost - fast.cost) / distance;
    let variance = per_process * (fast.per_count() + slow.per_count()) / distance.powi(2);

    let precision = 1.0 / variance + 1.0 / VARIANCE;
    let value = (found / variance + MEAN / VARIANCE) / precision;
    Some(Slope {
        value: finite(value)?.clamp(0.0, 1.0),
        error: finite(precision.recip().sqrt())?,
    })
}

/// The processes at one end of the states.
struct End {
    x: f64,
    cost: f64,
    /// The distance of each process from that cost.
    residuals: Vec<f64>,
}

impl End {
    fn of(processes: &[Vec<Point>], centre: Centre, belongs: impl Fn(f64) -> bool) -> Option<Self> {
        let (mut states, mut costs) = (Vec::new(), Vec::new());
        for process in processes {
            let legs = || process.iter().filter(|leg| belongs(leg.x));
            let cost = centre.of(&legs().map(|leg| leg.cost).collect::<Vec<_>>());
            let x = median(&legs().map(|leg| leg.x).collect::<Vec<_>>());
            if let Some((cost, x)) = cost.zip(x) {
                costs.push(cost);
                states.push(x);
            }
        }
        if costs.len() < FEWEST_AT_AN_END {
            return None;
        }
        let cost = median(&costs)?;
        Some(Self {
            x: median(&states)?,
            cost,
            residuals: costs.iter().map(|of| of - cost).collect(),
        })
    }

    fn per_count(&self) -> f64 {
        1.0 / self.residuals.len() as f64
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::statistics::random::Random;

    /// Processes of five legs, in turns at the highest clock and at one of `low`.
    fn processes(slope: f64, low: f64, noise: f64, count: usize) -> Vec<Vec<Point>> {
        let mut random = Random::new(5);
        let mut process = |i: usize| {
            let clock = if i.is_multiple_of(2) { 0.0 } else { low };
            let level = noise * random.normal();
            let mut leg = || Point {
                x: clock + 0.0005 * random.normal(),
                cost: 3.0 + slope * clock + level + 0.1 * noise * random.normal(),
            };
            (0..5).map(|_| leg()).collect()
        };
        (0..count).map(&mut process).collect()
    }

    fn found(slope: f64, low: f64, noise: f64, count: usize) -> Option<Slope> {
        super::slope(&processes(slope, low, noise, count), Centre::LowerQuartile)
    }

    #[test]
    fn two_clocks_show_the_slope_of_a_point() {
        for slope in [0.0, 0.3, 0.7, 1.0] {
            let found = found(slope, 0.13, 0.003, 20).unwrap();
            assert!((found.value - slope).abs() < 2.5 * found.error, "{found:?}");
            assert!(found.error < 0.03, "{found:?}");
        }
    }

    #[test]
    fn one_clock_or_few_legs_at_the_other_show_none() {
        assert_eq!(found(1.0, 0.02, 0.003, 20), None);
        let mut one_slow = processes(1.0, 0.0, 0.003, 20);
        one_slow[3] = processes(1.0, 0.13, 0.003, 2).remove(1);
        assert_eq!(slope(&one_slow, Centre::Median), None);
        assert_eq!(slope(&[], Centre::Median), None);
    }

    #[test]
    fn noise_draws_the_slope_to_the_middle_with_its_error() {
        let noisy = found(1.0, 0.05, 0.3, 6).unwrap();
        assert!((noisy.error - VARIANCE.sqrt()).abs() < 0.02, "{noisy:?}");
        assert!((noisy.value - 0.5).abs() < 0.2, "{noisy:?}");
    }

    #[test]
    fn no_cost_falls_with_the_clock_or_grows_faster() {
        for (slope, expected) in [(2.0, 1.0), (-1.0, 0.0)] {
            let found = found(slope, 0.13, 0.001, 20).unwrap().value;
            assert!((found - expected).abs() < 1e-12, "{found}");
        }
    }

    #[test]
    fn one_odd_process_does_not_decide() {
        let mut legs = processes(0.9, 0.13, 0.003, 20);
        legs[4].iter_mut().for_each(|leg| leg.cost += 2.0);
        let found = slope(&legs, Centre::LowerQuartile).unwrap();
        assert!((found.value - 0.9).abs() < 0.05, "{found:?}");
    }

    #[test]
    fn an_end_is_a_value_that_enough_legs_reach() {
        let values: Vec<f64> = (0..20).map(f64::from).collect();
        assert_eq!(ends(&values), Some([4.0, 15.0]));
        assert_eq!(ends(&[3.0, 1.0, 2.0]), Some([2.0, 2.0]));
        assert_eq!(ends(&[]), None);
    }
}
