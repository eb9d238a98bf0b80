//! The course of a series: one level, steps, or a drift, each with the p-value of no such change, so that
//! many series can be searched at once ([`discovery`](super::discovery)).

use super::changes::{Change, LEAST, changes};
use super::interval::{Confidence, Estimated};
use super::linear::weighted_line;
use super::moderation::Moderated;
use super::student::{logarithms, t_quantile};
use super::summary::mean;

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
    let bounds: Vec<usize> = [0]
        .into_iter()
        .chain(steps.iter().map(|step| step.at))
        .chain([values.len()])
        .collect();
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
    let line = weighted_line(&times, logarithms, &weights, Confidence::NINETY_FIVE)?;
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
    let deviation = reach / t_quantile(Confidence::NINETY_FIVE, degrees)?;
    let whole = Moderated {
        difference: line.slope.centre * (len - 1.0),
        standard_error: deviation.max(LEAST_DEVIATION / len) * (len - 1.0),
        degrees,
    };
    let end = |ends: super::Interval| super::Interval::new(ends.low.exp(), ends.high.exp());
    Some(Departure {
        shape: Shape::Drift(Estimated {
            centre: whole.difference.exp(),
            interval: whole.interval(Confidence::NINETY_FIVE).and_then(end),
            ..line.slope
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
    use super::{Shape, departures, ways};

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
    fn a_step_below_the_margin_is_none_to_speak_of() {
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
