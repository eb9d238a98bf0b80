//! Units with a prefix.

use instrument::quantity::{Unit, significant};

/// Most readers cannot use more digits; fewer are shown if the interval supports fewer.
pub(super) const DIGITS: usize = 3;
/// A longer number is easier to read with an exponent.
pub(super) const LONGEST: usize = 13;

/// A unit with a prefix, shared by several values.
#[derive(Clone, Debug, PartialEq)]
pub struct Prefix {
    /// Such as `GiB/s`; empty for a plain number.
    pub symbol: String,
    /// Size in base units.
    pub factor: f64,
}

impl Prefix {
    /// The usual unit for `value`.
    pub fn fitting(unit: Unit, value: f64) -> Self {
        let value = if value.is_finite() { value } else { 0.0 };
        let shown = unit.show(value, DIGITS);
        let symbol = shown
            .rsplit_once(' ')
            .map_or("", |(_, symbol)| symbol)
            .to_owned();
        let one = unit.read(&format!("1 {symbol}"));
        let factor = match (unit, one) {
            (Unit::Share, _) => 0.01,
            (_, Some(Ok(one))) => one,
            _ => 1.0,
        };
        Self { symbol, factor }
    }

    /// A unit in which all `values` are readable; `None` if they lie so far apart that each needs
    /// its own.
    pub fn common(unit: Unit, values: impl Iterator<Item = f64> + Clone) -> Option<Self> {
        let sizes = values
            .map(f64::abs)
            .filter(|size| size.is_finite() && *size > 0.0);
        let largest = sizes.clone().fold(0.0, f64::max);
        let prefix = Self::fitting(unit, largest);
        let smallest = sizes.fold(largest, f64::min);
        let readable =
            smallest >= largest.min(prefix.factor / 10.0) && largest < prefix.factor * 1e5;
        readable.then_some(prefix)
    }

    /// `value` in this unit, without the symbol, rounded to the power of ten `place`; a round size unrounded, as
    /// in [`Unit::show`].
    pub(super) fn at(&self, unit: Unit, value: f64, place: i32) -> String {
        let number = value / self.factor;
        if unit == Unit::Bytes && number.fract() == 0.0 && number.abs() < 1e4 {
            return number.to_string();
        }
        let decimals = place.min(0).unsigned_abs() as usize;
        let text = if place > 0 {
            let step = 10_f64.powi(place);
            format!("{:.0}", (number / step).round() * step)
        } else {
            format!("{number:.decimals$}")
        };
        let is_zero = text.trim_start_matches(['-', '0', '.']).is_empty();
        let positive = text.strip_prefix('-').filter(|_| is_zero);
        short(positive.unwrap_or(&text), number)
    }

    /// `value` in this unit, without the symbol.
    pub fn number(&self, value: f64) -> String {
        if !value.is_finite() {
            return "no number".into();
        }
        let number = value / self.factor;
        short(&significant(number, DIGITS), number)
    }
}

/// The `text` of a number, with an exponent if it is too long.
fn short(text: &str, number: f64) -> String {
    if text.len() <= LONGEST {
        text.to_owned()
    } else {
        format!("{number:.1e}")
    }
}
