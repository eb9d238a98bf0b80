//! Straight lines through estimates. Their intervals hold what is not known of the estimates.

use crate::prelude::*;
use instrument::statistics::linear::{self, Known, Line};
use instrument::statistics::{Confidence, Estimated};

/// The line through values at sizes or numbers. `None` if one of them has no interval.
pub(crate) fn line_through<X: Copy + Into<Quantity>>(values: &[(X, Quantity)]) -> Option<Line> {
    linear::line_through(&known(values)?, Confidence::NINETY_FIVE)
}

/// The power with which values grow with a size or a number. `None` if one of them has no interval or is not
/// positive.
pub(crate) fn power_through<X: Copy + Into<Quantity>>(
    values: &[(X, Quantity)],
) -> Option<Estimated> {
    linear::power_through(&known(values)?, Confidence::NINETY_FIVE)
}

/// The values along an axis.
pub(crate) fn values<X: Copy>(curve: &[(X, &Estimate)]) -> Vec<(X, Quantity)> {
    let values = curve.iter();
    values
        .map(|(place, estimate)| (*place, estimate.quantity()))
        .collect()
}

fn known<X: Copy + Into<Quantity>>(values: &[(X, Quantity)]) -> Option<Vec<Known>> {
    let point = |(place, value): &(X, Quantity)| {
        let place: Quantity = (*place).into();
        Some(Known {
            x: place.value,
            y: value.value,
            half_width: value.interval?.half_width(),
        })
    };
    values.iter().map(point).collect()
}
