//! A range of values with its unit.

use super::prefix::DIGITS;
use super::value::{ends, parts};
use instrument::quantity::{Known, Quantity, Unit};
use instrument::statistics::Interval;

/// An interval around `centre`, in the unit of the centre: `1.20 to 1.28 µs`, `256 to 1024 KiB`; a
/// single value if both ends have the same text.
pub fn range(unit: Unit, interval: Interval, centre: f64) -> String {
    let quantity = Quantity {
        value: centre,
        interval: Some(interval),
        unit,
    };
    match quantity.known() {
        Known::Value => {
            let (value, range) = parts(&quantity);
            range.unwrap_or(value)
        }
        _ => ends(unit, [interval.low, interval.high], 2),
    }
}

/// Values from the smallest to the largest.
pub fn extent(unit: Unit, smallest: f64, largest: f64) -> String {
    ends(unit, [smallest, largest], DIGITS)
}

#[cfg(test)]
mod tests {
    use super::{extent, range};
    use instrument::quantity::Unit;
    use instrument::statistics::Interval;

    #[test]
    fn the_ends_of_an_interval_and_its_centre_share_a_unit() {
        const KIB: f64 = 1024.0;
        let shown = |unit, centre, low, high| {
            let interval = Interval::new(low, high).expect("in order");
            range(unit, interval, centre)
        };
        let round_in_kib = 16_383.0 * KIB;
        let of_bytes = shown(Unit::Bytes, 16.5e6, 16e6, round_in_kib);
        assert_eq!(of_bytes, "15.3 to 16.0 MiB");
        assert_eq!(
            extent(Unit::Bytes, round_in_kib, 64.0 * KIB * KIB),
            "16.0 to 64 MiB"
        );
        let far_apart = shown(Unit::Nanoseconds, 5e3, 5.0, 5e6);
        assert_eq!(far_apart, "5.0 ns to 5.0 ms");
    }
}
