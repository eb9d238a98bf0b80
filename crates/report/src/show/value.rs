//! A value with its unit and its interval: the one place where estimated numbers are rounded.

use super::prefix::{DIGITS, LONGEST, Prefix};
use crate::lists;
use instrument::quantity::{Known, Quantity, Unit, significant};
use instrument::statistics::Interval;

/// In place of a value of which nothing is known, where there is room.
pub(crate) const NOT_KNOWN: &str = "not measured well enough";
/// The same in a narrow cell.
pub(crate) const VAGUE: &str = "vague";

/// A number with its interval: `512 KiB (460 to 570 KiB)`; without the interval if the number was not
/// estimated or the interval is too narrow to show. Of a number that is not known to within half of it, what is
/// known: `at least 49 ×`.
pub fn quantity(quantity: &Quantity) -> String {
    joined(parts(quantity))
}

/// A number and its interval separately: `512 KiB` and `460 to 570 KiB`.
pub fn parts(quantity: &Quantity) -> (String, Option<String>) {
    parts_of(quantity, DIGITS)
}

/// `centre` with its unit, with as many digits as its interval supports, or what is known of it.
pub fn value(unit: Unit, centre: f64, interval: Option<Interval>) -> String {
    if interval.is_none() {
        return rounded(unit, centre, DIGITS);
    }
    let quantity = Quantity::new(centre, interval, unit);
    match quantity.known() {
        Known::Between(_) | Known::Nothing => VAGUE.into(),
        _ => parts(&quantity).0,
    }
}

fn joined((centre, range): (String, Option<String>)) -> String {
    match range {
        Some(range) => format!("{centre} ({range})"),
        None => centre,
    }
}

/// As [`parts`], with at most `digits` significant digits.
fn parts_of(quantity: &Quantity, digits: usize) -> (String, Option<String>) {
    let &Quantity {
        value,
        interval,
        unit,
    } = quantity;
    let known = match quantity.known() {
        Known::Value => {
            let estimated = interval.map(|interval| estimated(unit, value, interval, digits));
            return estimated.unwrap_or_else(|| (round(unit, value), None));
        }
        Known::AtLeast(end) => format!("at least {}", bound(unit, end, f64::floor)),
        Known::AtMost(end) => format!("at most {}", bound(unit, end, f64::ceil)),
        Known::Between(interval) => {
            let (value, range) = estimated(unit, value, interval, digits);
            range.unwrap_or(value)
        }
        Known::Nothing => NOT_KNOWN.into(),
    };
    (known, None)
}

/// A value and the ends of its interval in one unit, rounded to one decimal place.
fn estimated(
    unit: Unit,
    centre: f64,
    interval: Interval,
    digits: usize,
) -> (String, Option<String>) {
    if !centre.is_finite() {
        return ("no number".into(), None);
    }
    let prefix = Prefix::fitting(unit, centre);
    let place = place(&prefix, centre, interval, digits);
    let [centre, low, high] =
        [centre, interval.low, interval.high].map(|number| prefix.at(unit, number, place));
    let range = (low != high).then(|| with(&format!("{low} to {high}"), &prefix));
    (with(&centre, &prefix), range)
}

fn with(number: &str, prefix: &Prefix) -> String {
    format!("{number} {}", prefix.symbol).trim_end().into()
}

/// The power of ten, in the unit of `prefix`, to which a value and the ends of its interval are rounded: the
/// second digit of half the width (JCGM 100:2008, Guide to the expression of uncertainty in measurement,
/// 7.2.6), but no more than `digits` significant digits of the value.
fn place(prefix: &Prefix, centre: f64, interval: Interval, digits: usize) -> i32 {
    let magnitude = |value: f64| (value / prefix.factor).abs().log10().floor();
    let supported = magnitude(interval.half_width()) - 1.0;
    let readable = |value: f64| magnitude(value) + 1.0 - digits as f64;
    let place = supported.max(readable(centre));
    // 9.996 rounds up to 10.0, with a digit more before the point.
    let step = 10_f64.powf(place) * prefix.factor;
    let place = supported.max(readable((centre / step).round() * step));
    if place.is_finite() { place as i32 } else { 0 }
}

/// A bound to two significant digits, rounded to the side on which it is true.
fn bound(unit: Unit, value: f64, side: fn(f64) -> f64) -> String {
    /// What computing with decimal fractions may add.
    const DUST: f64 = 1e-9;
    let prefix = Prefix::fitting(unit, value);
    let number = value / prefix.factor;
    let place = number.abs().log10().floor() - 1.0;
    let step = 10_f64.powf(place);
    let steps = (number / step).round();
    let is_round = (number / step - steps).abs() < DUST * steps.abs();
    let steps = if is_round { steps } else { side(number / step) };
    round(unit, steps * step * prefix.factor)
}

/// Both ends, with their unit once if it is the same.
fn ends(unit: Unit, ends: [f64; 2], digits: usize) -> String {
    let [low, high] = ends.map(|end| rounded(unit, end, digits));
    match (low.rsplit_once(' '), high.rsplit_once(' ')) {
        _ if low == high => high,
        (Some((low, symbol)), Some((_, other))) if symbol == other => format!("{low} to {high}"),
        _ => format!("{low} to {high}"),
    }
}

/// `centre` in the unit of `prefix`, without the symbol, with the digits that its interval supports.
pub(crate) fn in_unit(
    prefix: &Prefix,
    unit: Unit,
    centre: f64,
    interval: Option<Interval>,
) -> String {
    match interval {
        Some(interval) if centre.is_finite() => {
            prefix.at(unit, centre, place(prefix, centre, interval, DIGITS))
        }
        _ => prefix.number(centre),
    }
}

/// An interval around `centre`, in the unit of the centre: `1.20 to 1.28 µs`, `256 to 1024 KiB`; a
/// single value if both ends have the same text.
pub fn range(unit: Unit, interval: Interval, centre: f64) -> String {
    let quantity = Quantity::new(centre, Some(interval), unit);
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

/// Values in one unit if it suits all of them, else each in its own.
pub(crate) fn several(
    unit: Unit,
    values: impl Iterator<Item = f64> + Clone,
    between: &str,
) -> String {
    match Prefix::common(unit, values.clone()) {
        Some(prefix) => {
            let numbers = values.map(|value| prefix.number(value));
            with(&lists::joined(between, numbers), &prefix)
        }
        None => lists::joined(between, values.map(|it| value(unit, it, None))),
    }
}

/// A ratio with its interval: `1.052 × (1.031 to 1.074 ×)`.
pub fn ratio_with_range(centre: f64, interval: Option<Interval>) -> String {
    joined(ratio_parts(centre, interval))
}

/// A ratio and its interval separately, with the digits that distinguish them from 1.
pub fn ratio_parts(centre: f64, interval: Option<Interval>) -> (String, Option<String>) {
    if interval.is_none() {
        return (ratio(centre), None);
    }
    let quantity = Quantity::new(centre, interval, Unit::Ratio);
    parts_of(&quantity, digits_of_ratio(centre))
}

/// A ratio with enough digits to distinguish it from 1.
pub fn ratio(ratio: f64) -> String {
    Unit::Ratio.show(ratio, digits_of_ratio(ratio))
}

/// Near 1, a difference of 1 % matters; far from 1, only the leading digits do.
fn digits_of_ratio(ratio: f64) -> usize {
    match ratio {
        1.0..10.0 => 4,
        _ => 3,
    }
}

/// A round or configured value with its unit, without trailing zeros: `1 µs`.
pub fn round(unit: Unit, value: f64) -> String {
    let text = rounded(unit, value, DIGITS);
    let (number, symbol) = text.split_once(' ').unwrap_or((&text, ""));
    let number = without_zeros(number);
    format!("{number} {symbol}").trim_end().into()
}

/// A clock: `4.08 GHz`.
pub(crate) fn gigahertz(hz: f64) -> String {
    format!("{} GHz", significant(hz / 1e9, DIGITS))
}

/// `number` without trailing zeros after its decimal point.
pub(crate) fn without_zeros(number: &str) -> &str {
    if number.contains('.') && !number.contains('e') {
        number.trim_end_matches('0').trim_end_matches('.')
    } else {
        number
    }
}

/// `value` with its unit, to `digits` significant digits.
pub(super) fn rounded(unit: Unit, value: f64, digits: usize) -> String {
    if !value.is_finite() {
        return "no number".into();
    }
    let text = unit.show(value, digits);
    if text.chars().count() <= LONGEST {
        return text;
    }
    let prefix = Prefix::fitting(unit, value);
    format!("{:.1e} {}", value / prefix.factor, prefix.symbol)
        .trim_end()
        .into()
}

#[cfg(test)]
mod tests {
    use super::{NOT_KNOWN, VAGUE, extent, parts, quantity, range, rounded, value};
    use instrument::quantity::{Known, Quantity, Unit};
    use instrument::statistics::Interval;
    use proptest::prelude::*;

    const KIB: f64 = 1024.0;

    fn of(value: f64, low: f64, high: f64, unit: Unit) -> Quantity {
        Quantity::new(value, Interval::new(low, high), unit)
    }

    /// Each number as it is printed next to the words that readers objected to.
    #[test]
    fn only_what_the_interval_supports_is_printed() {
        use Unit::{Bytes, BytesPerSecond, Count, Nanoseconds, Ratio, Share};
        let cases = [
            // Nothing like "0.7 × (0.019 to 23 ×)".
            (of(0.7, 0.019, 23.0, Ratio), NOT_KNOWN),
            // Nothing like "842 × as many", of which no digit is known.
            (of(842.0, 9.3, 40_000.0, Ratio), "at least 9.3 ×"),
            // Nothing like "76 × (49 to 120 ×)".
            (of(76.0, 49.0, 120.0, Ratio), "at least 49 ×"),
            (of(76.0, 49.9, 120.0, Ratio), "at least 49 ×"),
            (of(0.1, 0.02, 0.301, Ratio), "at most 0.31 ×"),
            (of(3372.0, 935.0, 12_166.0, Ratio), "at least 930 ×"),
            // Nothing like "1.15 × (0.781 to 1.70 ×)": ends have the place of the value.
            (of(1.15, 0.781, 1.70, Ratio), "1.15 × (0.78 to 1.70 ×)"),
            // Nothing like "± 2137 %".
            (of(5.1, -103.9, 114.1, Nanoseconds), "at most 120 ns"),
            (of(5.1, 1.0, 114.1, Nanoseconds), NOT_KNOWN),
            (of(12.6, 7.05, 22.5, Nanoseconds), "7.0 to 22.5 ns"),
            (of(4.8, -1.6, 11.2, Nanoseconds), "at most 12 ns"),
            (of(0.1, -0.1, 0.3, Share), "at most 30 %"),
            (
                of(1239.0, 1200.0, 1280.0, Nanoseconds),
                "1.24 µs (1.20 to 1.28 µs)",
            ),
            (of(1239.0, 1238.9, 1239.1, Nanoseconds), "1.24 µs"),
            (
                of(1000.0, 900.0, 1100.0, Nanoseconds),
                "1.00 µs (0.90 to 1.10 µs)",
            ),
            (
                of(512.0, 360.0, 660.0, Nanoseconds),
                "510 ns (360 to 660 ns)",
            ),
            (of(9.996, 9.99, 10.002, Nanoseconds), "10.0 ns"),
            (
                of(39_892.0, 34_726.0, 45_059.0, Ratio),
                "39900 × (34700 to 45100 ×)",
            ),
            (
                of(7.3, 6.0, 8.7, BytesPerSecond),
                "7.3 B/s (6.0 to 8.7 B/s)",
            ),
            (
                of(512.0 * KIB, 256.0 * KIB, 1024.0 * KIB, Bytes),
                "256 to 1024 KiB",
            ),
            (
                of(512.0 * KIB, 384.0 * KIB, 768.0 * KIB, Bytes),
                "512 KiB (384 to 768 KiB)",
            ),
            (
                of(KIB * KIB, 1000.0 * KIB, 1100.0 * KIB, Bytes),
                "1 MiB (0.98 to 1.07 MiB)",
            ),
            (
                of(16_383.0 * KIB, 16_382.0 * KIB, 16_383.0 * KIB, Bytes),
                "16.0 MiB",
            ),
            (of(5.0, 2.0, 8.0, Count), "2.0 to 8.0"),
            (Quantity::exact(4096.0, Bytes), "4 KiB"),
            (Quantity::exact(300.0, Nanoseconds), "300 ns"),
        ];
        for (number, expected) in cases {
            assert_eq!(quantity(&number), expected, "{number:?}");
        }
    }

    #[test]
    fn a_narrow_cell_has_a_short_mark() {
        let interval = Interval::new(1.0, 114.0);
        assert_eq!(value(Unit::Nanoseconds, 5.1, interval), VAGUE);
    }

    #[test]
    fn numbers_stay_short() {
        use Unit::{Bytes, BytesPerSecond, Count, Nanoseconds};
        let edges = [f64::MAX, f64::MIN_POSITIVE, f64::NAN, 0.0];
        for value in [1e300, -1e300, 1e-300].into_iter().chain(edges) {
            for unit in [Bytes, Count, Nanoseconds, BytesPerSecond] {
                let shown = rounded(unit, value, 3);
                assert!(shown.chars().count() <= 20, "{unit:?} {value:e}");
                let estimated = parts(&of(value, value * 0.99, value * 1.01, unit)).0;
                assert!(
                    estimated.chars().count() <= 24,
                    "{unit:?} {value:e}: {estimated}"
                );
            }
        }
    }

    #[test]
    fn the_ends_of_an_interval_and_its_centre_share_a_unit() {
        let shown = |unit, centre, low, high| {
            let interval = Interval::new(low, high).expect("in order");
            range(unit, interval, centre)
        };
        let round_in_kib = 16_383.0 * KIB;
        let of_bytes = shown(Unit::Bytes, 16.5e6, 16e6, round_in_kib);
        assert_eq!(of_bytes, "15.3 to 16.0 MiB");
        let to_64_mib = extent(Unit::Bytes, round_in_kib, 64.0 * KIB * KIB);
        assert_eq!(to_64_mib, "16.0 to 64 MiB");
        let far_apart = shown(Unit::Nanoseconds, 5e3, 5.0, 5e6);
        assert_eq!(far_apart, "5.0 ns to 5.0 ms");
    }

    fn number(text: &str) -> f64 {
        let number = text.split(' ').next().expect("text");
        number.parse().expect(text)
    }

    proptest! {
        /// A value is shown only if half the width of its interval is at most half of it, and the shown ends
        /// are the exact ones, rounded to the place of the last digit of the value.
        #[test]
        fn what_is_shown_is_in_the_data(
            centre in (-9.0_f64..9.0).prop_map(|power| 10_f64.powf(power)),
            below in 0.0001_f64..2.0,
            above in 0.0001_f64..2.0,
        ) {
            let quantity = of(centre, centre * (1.0 - below), centre * (1.0 + above), Unit::Ratio);
            let (shown, range) = parts(&quantity);
            let interval = quantity.interval.expect("in order");
            match quantity.known() {
                Known::Value => {
                    prop_assert!(interval.half_width() <= 0.5 * centre);
                    let Some(range) = range else { return Ok(()) };
                    if shown.contains('e') || range.contains('e') { return Ok(()); }
                    let (low, high) = range.split_once(" to ").expect("two ends");
                    let decimals = |text: &str| text.split_once('.').map_or(0, |(_, it)| it.trim_end_matches(" ×").len());
                    prop_assert_eq!(decimals(low), decimals(&shown));
                    let places = decimals(low);
                    let step = if places > 0 {
                        format!("1e-{places}").parse().expect("a number")
                    } else {
                        (interval.half_width() / 10.0).max(centre / 100.0)
                    };
                    let off = |shown: &str, exact: f64| (number(shown) - exact).abs();
                    prop_assert!(off(low, interval.low) <= 0.51 * step, "{low} {interval:?}");
                    prop_assert!(off(high, interval.high) <= 0.51 * step, "{high} {interval:?}");
                }
                Known::AtLeast(_) => {
                    let least = number(shown.strip_prefix("at least ").expect("a bound"));
                    prop_assert!(1.0 < least && least <= interval.low, "{shown} {interval:?}");
                }
                Known::AtMost(_) => {
                    let most = number(shown.strip_prefix("at most ").expect("a bound"));
                    prop_assert!(interval.high <= most && most <= 1.0, "{shown} {interval:?}");
                }
                Known::Between(_) | Known::Nothing => prop_assert_eq!(shown, NOT_KNOWN),
            }
        }
    }
}
