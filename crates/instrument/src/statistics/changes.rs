//! Changes of level in a series, with their uncertainty.
//!
//! A cut is made if it lowers `Σ (x − mean of its piece)² / σ²` by more than a penalty for each
//! cut. Dynamic programming over all cuts finds the optimum (optimal partitioning: B. Jackson and
//! others, "An algorithm for optimal partitioning of data on an interval", IEEE Signal Processing
//! Letters 12, 2005). It skips cuts that can no longer be the last one (R. Killick and others,
//! "Optimal detection of changepoints with a linear computational cost", Journal of the American
//! Statistical Association 107, 2012). σ is estimated from the differences of neighbours, of which
//! a change of level affects only one.

use super::student::{logarithms, ratio_estimate};
use super::summary::{NORMAL_SCALE, median};
use super::{Confidence, Estimated};

/// A change of level.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Change {
    /// Index of the first value on the new level.
    pub at: usize,
    /// The earliest and the latest index that fit almost as well.
    pub between: (usize, usize),
    /// The new level over the old one.
    pub ratio: Estimated,
}

/// In shorter series, changes cannot be distinguished from noise.
pub const LEAST: usize = 10;
/// A single deviating value is an outlier; a level needs at least two.
const LEAST_PIECE: usize = 2;
/// The least gain of a cut, in units of σ² ln n. With 6, at most 5 of 100 series without a change
/// are cut (`tests/suite/statistics/changes.rs`).
const PENALTY: f64 = 6.0;
/// Positions that cost at most this much more than the best one, in units of σ², fit almost as
/// well.
const AS_GOOD: f64 = 6.0;
/// Smaller deviations of a value are rounding errors, not noise: 0.01 %.
const LEAST_DEVIATION: f64 = 1e-4;

/// The changes of level in positive values given in order of time, as ratios. Empty for fewer than
/// [`LEAST`] values, or if a value is not positive.
pub fn changes(values: &[f64]) -> Vec<Change> {
    let Some(logarithms) = logarithms(values).filter(|_| values.len() >= LEAST) else {
        return Vec::new();
    };
    let Some(variance) = variance(&logarithms) else {
        return Vec::new();
    };
    let sums = Sums::of(&logarithms);
    let cuts = cuts(&sums, PENALTY * variance * (values.len() as f64).ln());
    let bounds: Vec<usize> = [0].into_iter().chain(cuts).chain([values.len()]).collect();
    bounds
        .windows(3)
        .filter_map(|bounds| {
            let &[from, at, to] = bounds else { return None };
            let (before, after) = (&values[from..at], &values[at..to]);
            Some(Change {
                at,
                between: as_good(&sums, from, at, to, AS_GOOD * variance),
                ratio: ratio_estimate(after, before, Confidence::NINETY_FIVE)?,
            })
        })
        .collect()
}

/// The variance of a value around its level, from the median of the differences of neighbours. The
/// lower bound keeps rounding errors from counting as changes.
fn variance(logarithms: &[f64]) -> Option<f64> {
    let differences: Vec<f64> = logarithms
        .windows(2)
        .map(|pair| (pair[1] - pair[0]).abs())
        .collect();
    let deviation = NORMAL_SCALE * median(&differences)? / 2.0_f64.sqrt();
    Some(deviation.max(LEAST_DEVIATION).powi(2))
}

/// Prefix sums, so that the cost of any piece takes constant time.
struct Sums {
    values: Vec<f64>,
    squares: Vec<f64>,
}

impl Sums {
    fn of(values: &[f64]) -> Self {
        // Relative to the median, so that squares do not cancel.
        let middle = median(values).unwrap_or(0.0);
        let running = |power: i32| {
            let mut sum = 0.0;
            let steps = values.iter().map(|value| {
                sum += (value - middle).powi(power);
                sum
            });
            [0.0].into_iter().chain(steps).collect()
        };
        Self {
            values: running(1),
            squares: running(2),
        }
    }

    fn len(&self) -> usize {
        self.values.len() - 1
    }

    /// The sum of squares about the mean of the piece `from..to`.
    fn cost(&self, from: usize, to: usize) -> f64 {
        let sum = self.values[to] - self.values[from];
        let squares = self.squares[to] - self.squares[from];
        (squares - sum * sum / (to - from) as f64).max(0.0)
    }
}

/// The cuts with the least total cost, with `penalty` added for each.
fn cuts(sums: &Sums, penalty: f64) -> Vec<usize> {
    /// Interval between sweeps over all starts, since each sweep is expensive.
    const SWEEP: usize = 16;
    // Bound on the rounding error of a cost, far below any possible gain of a cut.
    let rounding = 1e-6 * penalty;
    let len = sums.len();
    let mut best = vec![f64::INFINITY; len + 1];
    let mut last_cut = vec![0; len + 1];
    // Possible starts of the last piece.
    let mut starts = Vec::new();
    best[0] = -penalty;
    for end in LEAST_PIECE..=len {
        let newest = end - LEAST_PIECE;
        if newest.is_multiple_of(SWEEP) {
            // From here on, every end can use a cut at `newest`. An earlier start whose cost up to
            // `newest`, even without a penalty, exceeds the best cost there can never win again.
            starts
                .retain(|&start| best[start] + sums.cost(start, newest) <= best[newest] + rounding);
        }
        starts.push(newest);
        for &start in &starts {
            let cost = best[start] + sums.cost(start, end) + penalty;
            if cost < best[end] {
                best[end] = cost;
                last_cut[end] = start;
            }
        }
    }
    let mut cuts = Vec::new();
    let mut end = last_cut[len];
    while end > 0 {
        cuts.push(end);
        end = last_cut[end];
    }
    cuts.reverse();
    cuts
}

/// The first and the last position between `from` and `to` at which a cut costs at most `more` than
/// at `at`.
fn as_good(sums: &Sums, from: usize, at: usize, to: usize, more: f64) -> (usize, usize) {
    let cost = |at: usize| sums.cost(from, at) + sums.cost(at, to);
    let limit = cost(at) + more;
    let mut places = (from + 1..to).filter(|place| cost(*place) <= limit);
    let first = places.next().unwrap_or(at);
    (first, places.next_back().unwrap_or(first).max(at))
}

#[cfg(test)]
mod tests {
    use super::{LEAST_PIECE, Sums, cuts};
    use proptest::prelude::*;

    /// The least total cost of any cuts, with `penalty` added for each.
    fn least(sums: &Sums, penalty: f64) -> f64 {
        let mut best = vec![f64::INFINITY; sums.len() + 1];
        best[0] = -penalty;
        for end in LEAST_PIECE..=sums.len() {
            best[end] = (0..=end - LEAST_PIECE)
                .map(|start| best[start] + sums.cost(start, end) + penalty)
                .fold(f64::INFINITY, f64::min);
        }
        best[sums.len()]
    }

    proptest! {
        #[test]
        fn no_other_cuts_cost_less(
            levels in prop::collection::vec((-3.0..3.0, 1_usize..40), 1..8),
            noise in prop::collection::vec(-1.0..1.0, 320),
            penalty in 0.01..20.0,
        ) {
            let levels = levels.into_iter();
            let steps = levels.flat_map(|(level, length)| std::iter::repeat_n(level, length));
            let values: Vec<f64> = steps.zip(noise).map(|(level, noise)| level + noise).collect();
            prop_assume!(values.len() >= LEAST_PIECE);
            let sums = Sums::of(&values);
            let cuts = cuts(&sums, penalty);
            let bounds: Vec<usize> =
                [0].into_iter().chain(cuts.iter().copied()).chain([values.len()]).collect();
            let pieces = bounds.windows(2).map(|piece| sums.cost(piece[0], piece[1]));
            let cost = pieces.sum::<f64>() + cuts.len() as f64 * penalty;
            prop_assert!((cost - least(&sums, penalty)).abs() < 1e-9 * (1.0 + cost));
        }
    }
}
