//! A value with its unit.

use super::prefix::{DIGITS, LONGEST, Prefix};
use instrument::quantity::Unit;
use instrument::statistics::Interval;

/// `centre` with its unit, with as many digits as its interval supports.
pub fn value(unit: Unit, centre: f64, interval: Option<Interval>) -> String {
    let digits = digits(centre, interval);
    let centre = interval.map_or(centre, |_| supported(unit, centre, digits));
    rounded(unit, centre, digits)
}

/// A large count or ratio, rounded to `digits` significant digits before the decimal point, too:
/// 39 892 with three digits is 39 900. Units with prefixes have no such numbers.
pub(super) fn supported(unit: Unit, value: f64, digits: usize) -> f64 {
    if !matches!(unit, Unit::Count | Unit::Ratio) || value == 0.0 {
        return value;
    }
    let place = value.abs().log10().floor() + 1.0 - digits as f64;
    let step = 10_f64.powf(place);
    if place > 0.0 && step.is_finite() {
        (value / step).round() * step
    } else {
        value
    }
}

/// Number of significant digits of `centre` that its interval supports: down to the second digit of
/// half its width (JCGM 100:2008, Guide to the expression of uncertainty in measurement, 7.2.6).
pub fn digits(centre: f64, interval: Option<Interval>) -> usize {
    let Some(interval) = interval else {
        return DIGITS;
    };
    let place = |value: f64| value.abs().log10().floor();
    let supported = place(centre) - place(interval.half_width()) + 2.0;
    if supported.is_nan() {
        DIGITS
    } else {
        supported.clamp(1.0, DIGITS as f64) as usize
    }
}

/// A round or configured value with its unit, without trailing zeros: `1 µs`.
pub fn round(unit: Unit, value: f64) -> String {
    let text = rounded(unit, value, DIGITS);
    let (number, symbol) = text.split_once(' ').unwrap_or((&text, ""));
    let number = without_zeros(number);
    format!("{number} {symbol}").trim_end().into()
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
    use super::rounded;
    use instrument::quantity::Unit;

    #[test]
    fn numbers_stay_short() {
        use Unit::{Bytes, BytesPerSecond, Count, Nanoseconds};
        let edges = [f64::MAX, f64::MIN_POSITIVE, f64::NAN, 0.0];
        for value in [1e300, -1e300, 1e-300].into_iter().chain(edges) {
            for unit in [Bytes, Count, Nanoseconds, BytesPerSecond] {
                let shown = rounded(unit, value, 3);
                assert!(shown.chars().count() <= 20, "{unit:?} {value:e}");
            }
        }
    }
}
