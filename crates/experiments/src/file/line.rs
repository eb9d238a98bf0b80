//! The meaning of the slopes of times by size.

use crate::prelude::*;
use instrument::statistics::{Estimated, Interval};

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
