//! Ratios as text.

use instrument::quantity::{Unit, significant};
use instrument::statistics::Interval;

/// A ratio with its interval: `1.052 × (1.031 to 1.074)`.
pub fn ratio_with_range(centre: f64, interval: Option<Interval>) -> String {
    let range = interval.map(|interval| format!(" ({})", ratio_range(interval)));
    ratio(centre) + &range.unwrap_or_default()
}

/// A ratio with enough digits to distinguish it from 1.
pub fn ratio(ratio: f64) -> String {
    Unit::Ratio.show(ratio, digits(ratio))
}

/// The interval of a ratio.
pub fn ratio_range(ends: Interval) -> String {
    let end = |end: f64| significant(end, digits(end));
    format!("{} to {}", end(ends.low), end(ends.high))
}

/// Near 1, a difference of 1 % matters; far from 1, only the leading digits do.
fn digits(ratio: f64) -> usize {
    match ratio {
        0.1..1.0 => 3,
        1.0..10.0 => 4,
        _ => 3,
    }
}
