//! Bisection: the place at which an answer changes.

use super::Interval;

/// Where `is_low` changes from true to false in `range`, to 2⁻ˢᵗᵉᵖˢ of it; an end of it if it does not change.
pub(super) fn bisect(range: Interval, steps: usize, is_low: impl Fn(f64) -> bool) -> f64 {
    let Interval { mut low, mut high } = range;
    for _ in 0..steps {
        let middle = f64::midpoint(low, high);
        if is_low(middle) {
            low = middle;
        } else {
            high = middle;
        }
    }
    f64::midpoint(low, high)
}
