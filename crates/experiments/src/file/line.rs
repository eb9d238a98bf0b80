//! Straight lines through times by size.

use crate::prelude::*;
use instrument::statistics::linear::{Line, weighted_line};
use instrument::statistics::{Confidence, Estimated, Interval};

/// The line through times in ns by size. The error of a time is a share of it, so each weighs by the
/// inverse of its square.
pub(super) fn line_through(times: &[(Bytes, f64)]) -> Option<Line> {
    let sizes: Vec<f64> = times.iter().map(|(size, _)| size.0 as f64).collect();
    let times: Vec<f64> = times.iter().map(|(_, ns)| *ns).collect();
    let weights: Vec<f64> = times.iter().map(|ns| ns.powi(-2)).collect();
    weighted_line(&sizes, &times, &weights, Confidence::NINETY_FIVE)
}

/// The bytes that take `ns` where each takes `slope`, in `unit`; `None` where the time does not grow
/// with the size.
pub(super) fn bytes_in(ns: f64, slope: &Estimated, unit: Unit) -> Option<Quantity> {
    let positive = slope.interval.filter(|slope| slope.low > 0.0);
    (slope.centre > 0.0).then(|| Quantity {
        value: ns / slope.centre,
        interval: positive.and_then(|slope| Interval::new(ns / slope.high, ns / slope.low)),
        unit,
    })
}
