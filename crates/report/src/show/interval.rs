//! A range of values with its unit.

use super::prefix::{DIGITS, Prefix};
use super::value::{digits, rounded, supported};
use instrument::quantity::Unit;
use instrument::statistics::Interval;

/// An interval around `centre`, in the unit of the centre: `1.20 to 1.28 µs`, `256 to 1024 KiB`; a
/// single value if both ends have the same text.
pub fn range(unit: Unit, interval: Interval, centre: f64) -> String {
    let digits = digits(centre, Some(interval)).max(2);
    span(unit, [interval.low, interval.high], centre, digits)
}

/// Values from the smallest to the largest, in the unit of the largest.
pub fn extent(unit: Unit, smallest: f64, largest: f64) -> String {
    span(unit, [smallest, largest], largest, DIGITS)
}

/// Both ends in the unit of `like`; if that does not fit both, each in its own unit.
fn span(unit: Unit, ends: [f64; 2], like: f64, digits: usize) -> String {
    let ends = ends.map(|end| supported(unit, end, digits));
    let prefix = Prefix::fitting(unit, like);
    if !ends.iter().all(|end| prefix.is_readable(*end)) {
        let [low, high] = ends.map(|end| rounded(unit, end, digits));
        return format!("{low} to {high}");
    }
    let [low, high] = ends.map(|end| prefix.end(unit, end, digits));
    let numbers = if low == high {
        low
    } else {
        format!("{low} to {high}")
    };
    format!("{numbers} {}", prefix.symbol).trim_end().into()
}

#[cfg(test)]
mod tests {
    use super::{extent, range};
    use instrument::quantity::Unit;
    use instrument::statistics::Interval;

    #[test]
    fn the_ends_of_an_interval_and_its_centre_share_a_unit() {
        const KIB: f64 = 1024.0;
        let shown = |centre, low, high| {
            let interval = Interval::new(low, high).expect("in order");
            range(Unit::Bytes, interval, centre)
        };
        let round_in_kib = 16_383.0 * KIB;
        assert_eq!(shown(16.5e6, 16e6, round_in_kib), "15.3 to 16.0 MiB");
        assert_eq!(
            shown(round_in_kib, round_in_kib - 9.0, round_in_kib),
            "16.0 MiB"
        );
        assert_eq!(
            extent(Unit::Bytes, round_in_kib, 64.0 * KIB * KIB),
            "16.0 to 64 MiB"
        );
        assert_eq!(
            shown(KIB * KIB, 1000.0 * KIB, 1100.0 * KIB),
            "0.977 to 1.07 MiB"
        );
    }
}
