//! The growth of cost with the slowdown of the processor, from the few processes of one run.
//!
//! A reference loop tells that the processor was slow, not why. There are two causes, and a cost
//! answers to each in its own way, so that each has a slope of its own:
//!
//! - The clock runs lower. The reference is a few per cent slower, and all that the core does grows
//!   by the same share.
//! - Other work shares the core, by its second hardware thread or by turns. The reference is tens
//!   of per cent slower, and a cost grows by what it needs of the shared parts: dividing by nothing,
//!   reading from the first cache by as much as the reference.

use super::summary::{finite, median, median_absolute_deviation};

/// A larger slowdown, in logarithms, comes from shared work. Clocks were seen to vary by up to 9 %;
/// of the visits beside shared work, nine of ten were slowed by more than 15 %.
const MOST_BY_CLOCK: f64 = 0.1;

/// The expectation of a slope before any data.
#[derive(Clone, Copy)]
struct Expected {
    value: f64,
    /// The standard deviation of slopes around it.
    spread: f64,
}

/// Over seven runs on one machine, whose clock differed by up to 4 % between them, 162 costs of
/// arithmetic grew by 0.97 of the reference's growth, and half of all visits lay within 0.3 % of
/// that. Calls, caches and TLB misses had 0.9 to 1.1.
const BY_CLOCK: Expected = Expected {
    value: 1.0,
    spread: 0.1,
};

/// The slopes of 28 points over thirty recorded sessions lie from 0 (a file system) to 0.9 (reads
/// from the first cache), with half of them between 0.35 and 0.7.
const BY_SHARING: Expected = Expected {
    value: 0.5,
    spread: 0.3,
};

/// No cost falls when the processor is slower, and none was seen to grow by more than this.
const RANGE: std::ops::RangeInclusive<f64> = 0.0..=1.2;

/// Residuals beyond this many standard deviations get less weight (P. Huber, "Robust estimation of
/// a location parameter", Annals of Mathematical Statistics 35, 1964).
const HUBER: f64 = 1.5;

/// The weights settle to far below the slope's own uncertainty in as many steps.
const STEPS: usize = 8;

/// The median absolute deviation of normal data times this is their standard deviation.
const MAD_TO_DEVIATION: f64 = 1.4826;

/// The least standard deviation of a process, in logarithms: below 0.1 %, the clock and the
/// reference limit what is known.
const LEAST_DEVIATION: f64 = 1e-3;

/// A slope with its error.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Slope {
    value: f64,
    /// Its standard deviation, given the data: at most that which was expected.
    error: f64,
}

/// The growth of a cost with the slowdown of the processor; all numbers are logarithms.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Growth {
    by_clock: Slope,
    by_sharing: Slope,
}

impl Growth {
    /// The cost that a slowdown adds.
    pub(super) fn at(&self, slowdown: f64) -> f64 {
        self.slope(slowdown).value * slowdown
    }

    /// The error of [`Self::at`].
    pub(super) fn error_at(&self, slowdown: f64) -> f64 {
        self.slope(slowdown).error * slowdown
    }

    fn slope(&self, slowdown: f64) -> Slope {
        if is_shared(slowdown) {
            self.by_sharing
        } else {
            self.by_clock
        }
    }
}

/// True if a slowdown, in logarithms, comes from other work that shares the core.
pub(super) fn is_shared(slowdown: f64) -> bool {
    slowdown > MOST_BY_CLOCK
}

/// The growth of `y`, the cost of a process, with `x`, the slowdown of the processor beside it; both
/// have the same length. The slopes are fitted together by Huber's weights, each drawn towards
/// what is expected of it as by a normal prior.
///
/// `None` if there are no points or if they are not finite.
pub(super) fn growth(x: &[f64], y: &[f64]) -> Option<Growth> {
    let expected = [BY_CLOCK, BY_SHARING];
    let rows: Vec<[f64; 2]> = x.iter().map(|&x| regressors(x)).collect();
    let (mut intercept, mut slopes) = (median(y)?, expected.map(|slope| slope.value));
    let mut errors = expected.map(|slope| slope.spread);
    for _ in 0..STEPS {
        let residuals: Vec<f64> = (rows.iter().zip(y))
            .map(|(row, y)| y - intercept - slopes[0] * row[0] - slopes[1] * row[1])
            .collect();
        let deviation = MAD_TO_DEVIATION * median_absolute_deviation(&residuals)? + LEAST_DEVIATION;
        let weights: Vec<f64> = (residuals.iter())
            .map(|residual| (HUBER * deviation / residual.abs()).min(1.0))
            .collect();
        let total: f64 = weights.iter().sum();
        let mean = |value: &dyn Fn(usize) -> f64| -> f64 {
            let weighted = weights.iter().enumerate().map(|(i, w)| w * value(i));
            weighted.sum::<f64>() / total
        };
        let means = [mean(&|i| rows[i][0]), mean(&|i| rows[i][1])];
        let y_mean = mean(&|i| y[i]);

        // The normal equations, with the prior on the diagonal.
        let prior = expected.map(|slope| (deviation / slope.spread).powi(2));
        let mut squares = prior;
        let mut products = [prior[0] * expected[0].value, prior[1] * expected[1].value];
        let mut cross = 0.0;
        for ((row, y), weight) in rows.iter().zip(y).zip(&weights) {
            let away = [row[0] - means[0], row[1] - means[1]];
            for i in 0..2 {
                squares[i] += weight * away[i].powi(2);
                products[i] += weight * away[i] * (y - y_mean);
            }
            cross += weight * away[0] * away[1];
        }
        let determinant = squares[0] * squares[1] - cross.powi(2);
        slopes = [
            (products[0] * squares[1] - products[1] * cross) / determinant,
            (products[1] * squares[0] - products[0] * cross) / determinant,
        ];
        errors = [
            deviation * (squares[1] / determinant).sqrt(),
            deviation * (squares[0] / determinant).sqrt(),
        ];
        intercept = y_mean - slopes[0] * means[0] - slopes[1] * means[1];
    }
    let slope = |i: usize| {
        Some(Slope {
            value: finite(slopes[i])?.clamp(*RANGE.start(), *RANGE.end()),
            error: finite(errors[i])?,
        })
    };
    Some(Growth {
        by_clock: slope(0)?,
        by_sharing: slope(1)?,
    })
}

/// The slowdown by its cause: by the clock, by shared work.
fn regressors(slowdown: f64) -> [f64; 2] {
    if is_shared(slowdown) {
        [0.0, slowdown]
    } else {
        [slowdown, 0.0]
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::statistics::random::Random;

    #[test]
    fn without_slowdown_the_slopes_are_the_expected_ones() {
        for (x, y) in [(vec![0.0; 3], vec![0.1, 0.2, 0.0]), (vec![0.2], vec![3.0])] {
            let found = growth(&x, &y).unwrap();
            for (slope, expected) in [(found.by_clock, BY_CLOCK), (found.by_sharing, BY_SHARING)] {
                assert!((slope.value - expected.value).abs() < 1e-9, "{found:?}");
                assert!((slope.error - expected.spread).abs() < 1e-9, "{found:?}");
            }
        }
        assert_eq!(growth(&[], &[]), None);
    }

    #[test]
    fn much_slowdown_decides_and_an_outlier_does_not() {
        let mut random = Random::new(5);
        let x: Vec<f64> = (0..20).map(|i| f64::from(i % 5) * 0.11).collect();
        let mut y: Vec<f64> = (x.iter())
            .map(|x| 0.9 * x + 0.005 * random.normal())
            .collect();
        let clean = growth(&x, &y).unwrap().by_sharing;
        assert!(
            (clean.value - 0.9).abs() < 0.03 && clean.error < 0.02,
            "{clean:?}"
        );
        y[4] += 2.0;
        let soiled = growth(&x, &y).unwrap().by_sharing;
        assert!((soiled.value - 0.9).abs() < 0.05, "{soiled:?}");
    }

    /// A lower clock lengthens all, and a neighbour on the core does not touch this cost.
    #[test]
    fn each_cause_has_its_slope() {
        let mut random = Random::new(7);
        let x: Vec<f64> = (0..20)
            .map(|i| {
                if i % 3 == 0 {
                    0.3
                } else {
                    f64::from(i) * 0.003
                }
            })
            .collect();
        let y: Vec<f64> = (x.iter())
            .map(|&x| if x < 0.1 { x } else { 0.0 } + 0.001 * random.normal())
            .collect();
        let found = growth(&x, &y).unwrap();
        assert!((found.at(0.05) - 0.05).abs() < 0.003, "{found:?}");
        assert!(found.at(0.3).abs() < 0.01, "{found:?}");
        assert!(found.error_at(0.3) < 0.01, "{found:?}");
    }

    #[test]
    fn slopes_stay_within_their_range() {
        let x: Vec<f64> = (0..20).map(|i| f64::from(i % 10) * 0.12).collect();
        let along = |slope: f64| -> Vec<f64> { x.iter().map(|x| slope * x).collect() };
        let found = |slope| growth(&x, &along(slope)).map(|growth| growth.by_sharing.value);
        assert_eq!(found(1.6), Some(1.2));
        assert_eq!(found(-1.0), Some(0.0));
    }
}
