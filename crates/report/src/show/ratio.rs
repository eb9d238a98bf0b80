//! Ratios as text.

use super::value::{joined, parts_of};
use instrument::quantity::{Quantity, Unit};
use instrument::statistics::Interval;

/// A ratio with its interval: `1.052 × (1.031 to 1.074 ×)`.
pub fn ratio_with_range(centre: f64, interval: Option<Interval>) -> String {
    joined(ratio_parts(centre, interval))
}

/// A ratio and its interval separately, with the digits that distinguish them from 1.
pub fn ratio_parts(centre: f64, interval: Option<Interval>) -> (String, Option<String>) {
    if interval.is_none() {
        return (ratio(centre), None);
    }
    let quantity = Quantity {
        value: centre,
        interval,
        unit: Unit::Ratio,
    };
    parts_of(&quantity, digits(centre))
}

/// A ratio with enough digits to distinguish it from 1.
pub fn ratio(ratio: f64) -> String {
    Unit::Ratio.show(ratio, digits(ratio))
}

/// Near 1, a difference of 1 % matters; far from 1, only the leading digits do.
fn digits(ratio: f64) -> usize {
    match ratio {
        1.0..10.0 => 4,
        _ => 3,
    }
}
