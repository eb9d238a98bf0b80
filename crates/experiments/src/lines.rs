//! Straight lines through estimates. Their intervals hold what is not known of the estimates.

use crate::prelude::*;
use instrument::statistics::linear::{self, Known, Line};
use instrument::statistics::{Estimated, Interval};

/// The line through values at sizes or numbers. `None` if one of them has no interval.
pub(crate) fn line_through<X: Copy + Into<Quantity>>(values: &[(X, Quantity)]) -> Option<Line> {
    linear::line_through(&known(values)?)
}

/// The power with which values grow with a size or a number. `None` if one of them has no interval or is not
/// positive.
pub(crate) fn power_through<X: Copy + Into<Quantity>>(
    values: &[(X, Quantity)],
) -> Option<Estimated> {
    linear::power_through(&known(values)?)
}

/// The bytes that take `ns` where each takes `slope`, in `unit`; `None` where the time does not grow
/// with the size.
pub(crate) fn bytes_in(ns: f64, slope: &Estimated, unit: Unit) -> Option<Quantity> {
    let positive = slope.interval.filter(|slope| slope.low > 0.0);
    (slope.centre > 0.0).then(|| Quantity {
        value: ns / slope.centre,
        interval: positive.and_then(|slope| Interval::new(ns / slope.high, ns / slope.low)),
        unit,
    })
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
