//! Judging a value here against a reported one.

use instrument::quantity::Quantity;
use instrument::statistics::Interval;
use schemars::JsonSchema;
use serde::Serialize;

/// A report prints one number without its spread, so that less than this factor is no difference.
pub const TOLERANCE: f64 = 1.25;
/// Places on a curve are measured at powers of two: neighbours are the same place.
pub const TOLERANCE_OF_PLACES: f64 = 2.0;
/// Exponents of growth that differ by less are the same.
pub const TOLERANCE_OF_GROWTH: f64 = 0.25;

/// A figure or a shape of a report, as it came out here.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Outcome {
    /// As the report has it.
    AsReported,
    /// The interval here excludes it.
    Differs,
    /// It was not measured, or the interval leaves both open.
    Undecided,
}

/// Judges `here`, in the unit of what was `reported`, which rounding may have moved by `rounding`. Both
/// are positive.
pub(super) fn against(
    here: Option<Quantity>,
    reported: f64,
    rounding: f64,
    tolerance: f64,
) -> Outcome {
    let low = (reported - rounding) / tolerance;
    within(here, low, (reported + rounding) * tolerance)
}

/// Judges `here` against a reported number that may be off by `reach` on either side.
pub(super) fn near(here: Option<Quantity>, reported: f64, reach: f64) -> Outcome {
    within(here, reported - reach, reported + reach)
}

/// True if the interval lies in the band, or outside it; undecided without an interval.
fn within(here: Option<Quantity>, low: f64, high: f64) -> Outcome {
    let band = Interval::new(low, high);
    match (here.and_then(|here| here.interval), band) {
        (Some(here), Some(band)) if band.contains(here.low) && band.contains(here.high) => {
            Outcome::AsReported
        }
        (Some(here), Some(band)) if !here.overlaps(&band) => Outcome::Differs,
        _ => Outcome::Undecided,
    }
}

#[cfg(test)]
mod tests {
    use super::{Outcome, TOLERANCE, against, near};
    use instrument::quantity::{Quantity, Unit};
    use instrument::statistics::Interval;
    use proptest::prelude::*;

    fn from(low: f64, high: f64) -> Quantity {
        let (middle, interval) = (f64::midpoint(low, high), Interval::new(low, high));
        Quantity::new(middle, interval, Unit::Ratio)
    }

    #[test]
    fn the_interval_must_leave_no_doubt() {
        let judged = |low, high| against(Some(from(low, high)), 100.0, 0.5, TOLERANCE);
        assert_eq!(judged(95.0, 105.0), Outcome::AsReported);
        assert_eq!(judged(130.0, 140.0), Outcome::Differs);
        assert_eq!(judged(95.0, 140.0), Outcome::Undecided);
        let bare = Some(Quantity::exact(100.0, Unit::Ratio));
        assert_eq!(against(bare, 100.0, 0.5, TOLERANCE), Outcome::Undecided);
    }

    #[test]
    fn what_rounding_may_have_moved_is_no_difference() {
        let four = Some(from(5.4, 5.6));
        assert_eq!(against(four, 4.0, 0.5, TOLERANCE), Outcome::AsReported);
        assert_eq!(against(four, 4.0, 0.0, TOLERANCE), Outcome::Differs);
    }

    proptest! {
        #[test]
        fn a_wider_interval_never_decides_what_a_narrower_one_left_open(
            centre in 0.1..10.0_f64, narrow in 0.0..0.5_f64, more in 0.0..0.5_f64,
        ) {
            let judged = |half: f64| near(Some(from(centre - half, centre + half)), 1.0, 0.25);
            if judged(narrow) == Outcome::Undecided {
                prop_assert_eq!(judged(narrow + more), Outcome::Undecided);
            }
        }
    }
}
