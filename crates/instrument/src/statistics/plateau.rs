//! The best size: the smallest one close enough to the best value of a curve.

use super::interval::Estimated;

/// Distance from the best value at which a size still counts as good: 2 %.
pub const CLOSE_ENOUGH: f64 = 0.02;

/// The direction in which the value improves.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Better {
    /// More is better, as for bytes per second.
    Higher,
    /// Less is better, as for nanoseconds per byte.
    Lower,
}

/// One size with the estimate measured there.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SizedEstimate {
    /// The size, in any unit.
    pub size: f64,
    /// The estimate for this size.
    pub value: Estimated,
}

/// The smallest size whose interval reaches within `close_enough` (a share, normally
/// [`CLOSE_ENOUGH`]) of the best centre on the curve. A size without an interval counts by its
/// centre.
///
/// The smallest size is better than the fastest: larger sizes gain nothing measurable, and a
/// smaller buffer leaves more cache to other code. Wide intervals bias the answer towards small
/// sizes, so measure to within `close_enough` first. The points may come in any order. `None` for
/// an empty curve.
pub fn smallest_good_size(
    curve: &[SizedEstimate],
    better: Better,
    close_enough: f64,
) -> Option<SizedEstimate> {
    // Negated costs make higher values better in both cases.
    let (sign, reach): (f64, fn(&Estimated) -> f64) = match better {
        Better::Higher => (1.0, |value| value.extent().high),
        Better::Lower => (-1.0, |value| -value.extent().low),
    };
    let best = curve
        .iter()
        .map(|point| sign * point.value.centre)
        .max_by(f64::total_cmp)?;
    let bound = best - close_enough * best.abs();
    curve
        .iter()
        .filter(|point| reach(&point.value) >= bound)
        .min_by(|left, right| left.size.total_cmp(&right.size))
        .copied()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::statistics::{Interval, Scale};

    fn point(size: f64, centre: f64, half_width: f64) -> SizedEstimate {
        SizedEstimate {
            size,
            value: Estimated {
                centre,
                interval: Interval::new(centre - half_width, centre + half_width),
                n: 10,
                scale: Scale::Linear,
            },
        }
    }

    #[test]
    fn takes_the_smallest_size_that_reaches_the_plateau() {
        let speeds = [
            point(4.0, 50.0, 1.0),
            point(64.0, 99.0, 0.5),
            point(16.0, 97.0, 0.5),
            point(256.0, 100.0, 0.5),
        ];
        let best = smallest_good_size(&speeds, Better::Higher, CLOSE_ENOUGH).unwrap();
        assert!((best.size - 64.0).abs() < f64::EPSILON);
    }

    #[test]
    fn an_interval_that_reaches_the_plateau_is_enough() {
        let speeds = [point(16.0, 97.0, 1.5), point(64.0, 100.0, 0.5)];
        let best = smallest_good_size(&speeds, Better::Higher, CLOSE_ENOUGH).unwrap();
        assert!((best.size - 16.0).abs() < f64::EPSILON);
    }

    #[test]
    fn lower_is_better_for_costs() {
        let costs = [
            point(4.0, 10.0, 0.1),
            point(16.0, 2.01, 0.01),
            point(64.0, 2.0, 0.01),
        ];
        let best = smallest_good_size(&costs, Better::Lower, CLOSE_ENOUGH).unwrap();
        assert!((best.size - 16.0).abs() < f64::EPSILON);
        let best = smallest_good_size(&costs, Better::Lower, 0.0).unwrap();
        assert!((best.size - 16.0).abs() < f64::EPSILON, "2.00 reaches 2.0");
    }

    #[test]
    fn an_empty_curve_has_no_best_size() {
        assert_eq!(smallest_good_size(&[], Better::Higher, CLOSE_ENOUGH), None);
    }
}
