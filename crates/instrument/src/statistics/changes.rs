//! Changes in a series, with their uncertainty: steps between levels, or a drift, each with the p-value
//! of no such change, so that many series can be searched at once ([`discovery`](super::discovery)).
//!
//! A cut is made if it lowers `Σ (x − mean of its piece)² / σ²` by more than a penalty for each
//! cut. Dynamic programming over all cuts finds the optimum (optimal partitioning: B. Jackson and
//! others, "An algorithm for optimal partitioning of data on an interval", IEEE Signal Processing
//! Letters 12, 2005). It skips cuts that can no longer be the last one (R. Killick and others,
//! "Optimal detection of changepoints with a linear computational cost", Journal of the American
//! Statistical Association 107, 2012). σ is estimated from the differences of neighbours, of which
//! a change of level affects only one.

use super::Estimated;
use super::linear::weighted_line;
use super::moderation::Moderated;
use super::student::{logarithms, ratio_estimate, t_quantile};
use super::summary::{NORMAL_SCALE, mean, median};

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
    bounds(cuts, values.len())
        .windows(3)
        .filter_map(|bounds| {
            let &[from, at, to] = bounds else { return None };
            let (before, after) = (&values[from..at], &values[at..to]);
            Some(Change {
                at,
                between: as_good(&sums, from, at, to, AS_GOOD * variance),
                ratio: ratio_estimate(after, before)?,
            })
        })
        .collect()
}

/// The bounds of the pieces of a series of `len` values.
fn bounds(cuts: impl IntoIterator<Item = usize>, len: usize) -> Vec<usize> {
    [0].into_iter().chain(cuts).chain([len]).collect()
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

/// A departure of a series from one level.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Departure {
    /// Its shape.
    pub shape: Shape,
    /// The p-value of "no change beyond the margin", for all places and shapes that were searched.
    pub p_value: f64,
}

impl Departure {
    /// New level over the old one, or the end of a drift over its beginning.
    pub fn ratio(&self) -> Estimated {
        match self.shape {
            Shape::Step(change) => change.ratio,
            Shape::Drift(ratio) => ratio,
        }
    }
}

/// The shape of a departure.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Shape {
    /// A change of level.
    Step(Change),
    /// A steady change from the first value to the last, as a ratio of the two ends of the line.
    Drift(Estimated),
}

/// Steps and drifts are tried.
const SHAPES: f64 = 2.0;
/// Smaller deviations of a value are rounding errors, not noise: 0.01 %.
const LEAST_DEVIATION: f64 = 1e-4;

/// The departures of positive values in order of time from one level, by more than `margin` on the
/// logarithmic scale: the steps of [`changes`], or one drift where a line fits better. Empty for fewer
/// than [`LEAST`] values.
///
/// A step has Student's test of its two stretches, corrected for the number of ways to choose their bounds
/// (Bonferroni). A drift has the test of its slope.
pub fn departures(values: &[f64], margin: f64) -> Vec<Departure> {
    let steps = changes(values);
    let Some(logarithms) =
        logarithms(values).filter(|_| values.len() >= LEAST && !steps.is_empty())
    else {
        return Vec::new();
    };
    let bounds = bounds(steps.iter().map(|step| step.at), values.len());
    if let Some(drift) = drift(&logarithms, &bounds, margin) {
        return vec![drift];
    }
    let stretches = bounds.windows(3).zip(steps);
    stretches
        .map(|(bounds, step)| {
            let tested = step_between(&logarithms, bounds);
            let p_value = tested.p_beyond(margin) * ways(values.len(), bounds) * SHAPES;
            Departure {
                shape: Shape::Step(step),
                p_value: p_value.min(1.0),
            }
        })
        .collect()
}

/// The difference of two stretches with a common variance.
fn step_between(logarithms: &[f64], bounds: &[usize]) -> Moderated {
    let (before, after) = (
        &logarithms[bounds[0]..bounds[1]],
        &logarithms[bounds[1]..bounds[2]],
    );
    let (squares_before, squares_after) = (squares(before), squares(after));
    let degrees = (before.len() + after.len()) as f64 - 2.0;
    let variance = ((squares_before + squares_after) / degrees).max(LEAST_DEVIATION.powi(2));
    let counts = 1.0 / before.len() as f64 + 1.0 / after.len() as f64;
    Moderated {
        difference: mean(after).unwrap_or(0.0) - mean(before).unwrap_or(0.0),
        standard_error: (variance * counts).sqrt(),
        degrees,
    }
}

/// The number of ways to choose the bounds of two stretches that lie within the series.
fn ways(len: usize, bounds: &[usize]) -> f64 {
    let is_inner = |bound: &&usize| **bound != 0 && **bound != len;
    let chosen = bounds.iter().filter(is_inner).count();
    (0..chosen).fold(1.0, |ways, place| {
        ways * (len - 1 - place) as f64 / (place + 1) as f64
    })
}

/// The drift of the series, if a line fits better than the levels between `bounds`: by Schwarz's criterion,
/// where a level and a bound are a parameter each.
fn drift(logarithms: &[f64], bounds: &[usize], margin: f64) -> Option<Departure> {
    let len = logarithms.len() as f64;
    let times: Vec<f64> = (0..logarithms.len()).map(|time| time as f64).collect();
    let weights = vec![1.0; logarithms.len()];
    let line = weighted_line(&times, logarithms, &weights)?;
    let misfit = |squares: f64, parameters: usize| {
        len * (squares / len).max(LEAST_DEVIATION.powi(2)).ln() + parameters as f64 * len.ln()
    };
    let off_the_line = times.iter().zip(logarithms).map(|(time, value)| {
        let fitted = line.intercept.centre + line.slope.centre * time;
        (value - fitted).powi(2)
    });
    let stretches = bounds.windows(2);
    let off_the_levels = stretches.map(|bounds| squares(&logarithms[bounds[0]..bounds[1]]));
    let levels = bounds.len() - 1;
    if misfit(off_the_levels.sum(), 2 * levels - 1) <= misfit(off_the_line.sum(), 2) {
        return None;
    }
    let reach = line.slope.interval?.half_width();
    let degrees = len - 2.0;
    let deviation = reach / t_quantile(degrees)?;
    let whole = Moderated {
        difference: line.slope.centre * (len - 1.0),
        standard_error: deviation.max(LEAST_DEVIATION / len) * (len - 1.0),
        degrees,
    };
    Some(Departure {
        shape: Shape::Drift(Estimated {
            centre: whole.difference.exp(),
            interval: whole.interval().and_then(|it| it.map(f64::exp)),
        }),
        p_value: (whole.p_beyond(margin) * SHAPES).min(1.0),
    })
}

/// The sum of squares about the mean.
fn squares(values: &[f64]) -> f64 {
    let mean = mean(values).unwrap_or(0.0);
    values.iter().map(|value| (value - mean).powi(2)).sum()
}

#[cfg(test)]
mod tests {
    use super::{LEAST_PIECE, Shape, Sums, cuts, departures, ways};
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

    /// A wobble of about 0.3 % without randomness.
    fn wobble(time: usize) -> f64 {
        1.0 + 0.001 * ((time * 7 % 5) as f64 - 2.0)
    }

    fn series(len: usize, level: impl Fn(usize) -> f64) -> Vec<f64> {
        (0..len).map(|time| level(time) * wobble(time)).collect()
    }

    #[test]
    fn a_step_is_a_step_and_a_drift_a_drift() {
        let step = departures(&series(24, |time| if time < 12 { 1.0 } else { 1.1 }), 0.02);
        let [found] = step[..] else {
            panic!("{step:?}")
        };
        assert!(matches!(found.shape, Shape::Step(change) if change.at == 12));
        assert!(found.p_value < 1e-10, "{found:?}");
        let drift = departures(&series(24, |time| 1.0 + 0.005 * time as f64), 0.02);
        let [found] = drift[..] else {
            panic!("{drift:?}")
        };
        let Shape::Drift(ratio) = found.shape else {
            panic!("{found:?}")
        };
        assert!((ratio.centre - 1.115).abs() < 0.005, "{ratio:?}");
        assert!(found.p_value < 1e-10, "{found:?}");
    }

    #[test]
    fn a_step_below_the_margin_is_no_departure() {
        let small = departures(&series(24, |time| if time < 12 { 1.0 } else { 1.01 }), 0.02);
        assert!(small.iter().all(|found| found.p_value > 0.5), "{small:?}");
    }

    #[test]
    fn bounds_within_the_series_are_chosen_and_its_ends_are_not() {
        assert!((ways(24, &[0, 12, 24]) - 23.0).abs() < 1e-9);
        assert!((ways(24, &[0, 12, 20]) - 253.0).abs() < 1e-9);
        assert!((ways(24, &[4, 12, 20]) - 1771.0).abs() < 1e-9);
    }

    #[test]
    fn short_series_and_values_below_zero_have_none() {
        assert_eq!(departures(&series(9, |time| time as f64 + 1.0), 0.02), []);
        assert_eq!(departures(&[-1.0; 20], 0.02), []);
    }
}
