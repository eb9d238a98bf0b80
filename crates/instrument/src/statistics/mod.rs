//! The statistics of measurement: pure functions over slices, without clock, input or output.
//!
//! The unit of a sample is a fresh process wherever memory layout can matter: each process gives
//! its median, and [`prediction::predict`] gives the interval that contains the value of the next run.
//! Every function states the parameter that its interval estimates.
//!
//! Functions return `None` where the data cannot support an answer: too few values, values that
//! are not finite, or a result too large for a number. They never panic on data.

mod bisection;
pub mod changes;
mod correction;
pub mod discovery;
pub mod linear;
pub mod moderation;
pub mod modes;
pub(crate) mod next_run;
pub mod peers;
pub mod prediction;
pub mod random;
pub mod sequential;
pub mod sessions;
pub mod student;
pub mod summary;
pub mod trend;
mod visit;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// How often an interval contains the true value.
const CONFIDENCE: f64 = 0.95;
/// The probability that an interval leaves out on each side.
pub const TAIL: f64 = (1.0 - CONFIDENCE) / 2.0;

/// A closed interval of finite numbers with `low ≤ high`.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Interval {
    /// The lower end.
    pub low: f64,
    /// The upper end.
    pub high: f64,
}

impl Interval {
    /// The interval between two finite numbers given in order; `None` for anything else.
    pub fn new(low: f64, high: f64) -> Option<Self> {
        (low.is_finite() && high.is_finite() && low <= high).then_some(Self { low, high })
    }

    /// True if `value` lies in the interval, ends included.
    pub fn contains(&self, value: f64) -> bool {
        self.low <= value && value <= self.high
    }

    /// True if the two intervals share a value.
    pub fn overlaps(&self, other: &Self) -> bool {
        self.low <= other.high && other.low <= self.high
    }

    /// Half the width over `centre`; `None` if the centre is zero or close to it, unless the width is zero too.
    pub fn relative_to(&self, centre: f64) -> Option<f64> {
        let half_width = self.half_width();
        if half_width == 0.0 {
            return Some(0.0);
        }
        let relative = half_width / centre.abs();
        relative.is_finite().then_some(relative)
    }

    /// The interval between the changed ends; `None` if one is not finite.
    pub fn map(&self, change: impl Fn(f64) -> f64) -> Option<Self> {
        let (one, other) = (change(self.low), change(self.high));
        Self::new(one.min(other), one.max(other))
    }

    /// Half the distance between the ends.
    pub fn half_width(&self) -> f64 {
        self.high / 2.0 - self.low / 2.0
    }
}

/// A value estimated from data, with its interval if there are enough data.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Estimated {
    /// The estimate itself.
    pub centre: f64,
    /// Its confidence interval; `None` if there are too few values.
    pub interval: Option<Interval>,
}

impl Estimated {
    /// Half the width of the interval over the centre, which a target of ±2 % limits. `None`
    /// without an interval, or if the centre is zero or close to it.
    pub fn relative_half_width(&self) -> Option<f64> {
        self.interval?.relative_to(self.centre)
    }

    /// True if the relative half width is known and within `target` (0.02 for ±2 %).
    pub fn is_within(&self, target: f64) -> bool {
        self.relative_half_width()
            .is_some_and(|width| width <= target)
    }

    /// The interval, or the centre alone if there is none.
    pub fn extent(&self) -> Interval {
        self.interval.unwrap_or(Interval {
            low: self.centre,
            high: self.centre,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_interval_has_finite_ends_in_order() {
        assert!(Interval::new(1.0, 1.0).is_some());
        assert!(Interval::new(2.0, 1.0).is_none());
        assert!(Interval::new(0.0, f64::INFINITY).is_none());
        assert!(Interval::new(f64::NAN, 1.0).is_none());
    }

    #[test]
    fn intervals_overlap_when_they_touch() {
        let left = Interval::new(1.0, 2.0).unwrap();
        let touching = Interval::new(2.0, 3.0).unwrap();
        let apart = Interval::new(2.1, 3.0).unwrap();
        assert!(left.overlaps(&touching) && touching.overlaps(&left));
        assert!(!left.overlaps(&apart) && !apart.overlaps(&left));
        assert!(left.contains(1.0) && left.contains(2.0) && !left.contains(2.1));
    }

    #[test]
    fn relative_half_width_needs_an_interval_and_a_centre_other_than_zero() {
        let estimate = |centre, interval| Estimated { centre, interval };
        let around_ten = estimate(10.0, Interval::new(9.8, 10.2));
        assert!((around_ten.relative_half_width().unwrap() - 0.02).abs() < 1e-12);
        assert!(around_ten.is_within(0.021) && !around_ten.is_within(0.019));
        assert!(!estimate(10.0, None).is_within(1.0));
        assert_eq!(
            estimate(0.0, Interval::new(-1.0, 1.0)).relative_half_width(),
            None
        );
    }
}
