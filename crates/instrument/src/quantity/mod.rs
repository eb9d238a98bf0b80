//! Quantities: numbers with their units, read and printed in the field's standard notation.
//!
//! `{}` prints a quantity exactly: parsing the text gives the same value back. `{:.3}` rounds it to
//! that many significant digits, for readers.

mod amounts;
mod known;
mod scale;

pub use amounts::{Bytes, BytesPerSecond, Nanoseconds};
pub use known::Known;
pub(crate) use known::VAGUE;
pub use scale::{ParseQuantityError, significant};

use crate::statistics::{Estimated, Interval};
use amounts::OPERATIONS;
use schemars::JsonSchema;
use serde::{Deserialize, Deserializer, Serialize};
use std::fmt;

/// The unit of a bare number.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Unit {
    /// Bytes moved per second of wall time.
    BytesPerSecond,
    /// Operations finished per second of wall time.
    OperationsPerSecond,
    /// Wall time of one operation.
    Nanoseconds,
    /// An amount of data.
    Bytes,
    /// A number of things.
    #[default]
    Count,
    /// A share of a whole, from 0 to 1; printed in per cent.
    Share,
    /// One value over another of the same unit.
    Ratio,
}

impl Unit {
    /// `value` with its unit, rounded to `digits` significant digits.
    pub fn show(self, value: f64, digits: usize) -> String {
        match self {
            Self::BytesPerSecond => format!("{:.digits$}", BytesPerSecond(value)),
            Self::OperationsPerSecond => OPERATIONS.rounded(value, digits),
            Self::Nanoseconds => format!("{:.digits$}", Nanoseconds(value)),
            Self::Bytes => show_bytes(Bytes(value.max(0.0) as u64), digits),
            Self::Count if value.fract() == 0.0 => value.to_string(),
            Self::Count => significant(value, digits),
            Self::Share => format!("{} %", significant(value * 100.0, digits)),
            Self::Ratio => format!("{} ×", significant(value, digits)),
        }
    }

    /// Reads a value with one of the symbols of this unit; `None` if the unit has no symbols of different sizes.
    pub fn read(self, text: &str) -> Option<Result<f64, ParseQuantityError>> {
        Some(match self {
            Self::BytesPerSecond => text.parse().map(|BytesPerSecond(rate)| rate),
            Self::OperationsPerSecond => OPERATIONS.parse(text),
            Self::Nanoseconds => text.parse().map(|Nanoseconds(time)| time),
            Self::Bytes => text.parse().map(|Bytes(bytes)| bytes as f64),
            Self::Count | Self::Share | Self::Ratio => return None,
        })
    }
}

/// Round sizes are settings or exact results, so they are not rounded further. A size that is round
/// only in a small unit is rounded: 16383 KiB prints as about 16 MiB.
fn show_bytes(bytes: Bytes, digits: usize) -> String {
    let exact = bytes.to_string();
    let rounded = format!("{bytes:.digits$}");
    let unit = |text: &str| text.rsplit(' ').next().map(str::to_owned);
    if unit(&exact) == unit(&rounded) && exact.len() <= "999.5 KiB".len() {
        exact
    } else {
        rounded
    }
}

/// A number of things.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Count(pub u64);

impl fmt::Display for Count {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// `count` with its noun: `1 point`, `2 points`.
pub fn counted(count: impl fmt::Display, noun: &str) -> String {
    let count = count.to_string();
    let plural = if count == "1" { "" } else { "s" };
    format!("{count} {noun}{plural}")
}

/// A value with its unit, and with its interval if it was estimated.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Quantity {
    /// The value in its unit; NaN if there is none.
    #[serde(deserialize_with = "number")]
    pub value: f64,
    /// 95 % confidence interval; `None` if the value was looked up or set, or has too few data.
    pub interval: Option<Interval>,
    /// The unit of the value.
    pub unit: Unit,
}

/// A number, or NaN from `null`, which JSON has in its place.
fn number<'de, D: Deserializer<'de>>(deserializer: D) -> Result<f64, D::Error> {
    Option::deserialize(deserializer).map(|number| number.unwrap_or(f64::NAN))
}

impl Quantity {
    /// A value with its interval, if that is known.
    pub const fn new(value: f64, interval: Option<Interval>, unit: Unit) -> Self {
        Self {
            value,
            interval,
            unit,
        }
    }

    /// A value that was looked up or set.
    pub const fn exact(value: f64, unit: Unit) -> Self {
        Self::new(value, None, unit)
    }

    /// A duration that was looked up or set.
    pub const fn nanoseconds(nanoseconds: f64) -> Self {
        Self::exact(nanoseconds, Unit::Nanoseconds)
    }

    /// A statistical estimate, in `unit`.
    pub const fn estimated(value: &Estimated, unit: Unit) -> Self {
        Self::new(value.centre, value.interval, unit)
    }

    /// Half the width of the interval over the value; `None` without an interval or if the value is
    /// about zero.
    pub fn relative_half_width(&self) -> Option<f64> {
        self.interval?.relative_to(self.value)
    }

    /// The range of possible values: the interval, or the value alone without one.
    pub fn extent(&self) -> Interval {
        self.interval.unwrap_or(Interval {
            low: self.value,
            high: self.value,
        })
    }

    /// True if the interval excludes `other`, in the same unit.
    pub fn differs_from(&self, other: f64) -> bool {
        self.interval
            .is_some_and(|interval| !interval.contains(other))
    }

    /// The same number in another unit.
    #[must_use]
    pub fn in_unit(self, unit: Unit) -> Self {
        Self { unit, ..self }
    }

    /// The value times `factor`.
    #[must_use]
    pub fn times(self, factor: f64) -> Self {
        let times = |value: f64| value * factor;
        Self {
            value: times(self.value),
            interval: self.interval.and_then(|interval| interval.map(times)),
            ..self
        }
    }

    /// The difference of two independent estimates of the same unit. The squares of their half
    /// widths add up. This is exact for normal errors estimated from many processes, and close to
    /// it for few.
    #[must_use]
    pub fn minus(self, subtrahend: Self) -> Self {
        let value = self.value - subtrahend.value;
        let half_width = match (self.interval, subtrahend.interval) {
            (Some(one), Some(other)) => Some(one.half_width().hypot(other.half_width())),
            _ => None,
        };
        Self {
            value,
            interval: half_width.and_then(|half| Interval::new(value - half, value + half)),
            ..self
        }
    }

    /// The ratio of two independent positive estimates of the same unit. The squares of their
    /// relative half widths add up, which is close if the intervals are narrow compared with the
    /// values.
    pub fn over(self, divisor: Self) -> Option<Self> {
        let is_positive = self.value > 0.0 && divisor.value > 0.0;
        let value = self.value / divisor.value;
        let relative = match (self.relative_half_width(), divisor.relative_half_width()) {
            (Some(one), Some(other)) => Some(one.hypot(other)),
            _ => None,
        };
        is_positive.then(|| Self {
            value,
            interval: relative.and_then(|by| Interval::new(value * (1.0 - by), value * (1.0 + by))),
            unit: Unit::Ratio,
        })
    }
}

impl From<Bytes> for Quantity {
    fn from(bytes: Bytes) -> Self {
        Self::exact(bytes.0 as f64, Unit::Bytes)
    }
}

impl From<Count> for Quantity {
    fn from(count: Count) -> Self {
        Self::exact(count.0 as f64, Unit::Count)
    }
}

#[cfg(test)]
mod tests {
    use super::{Quantity, Unit, counted};
    use crate::statistics::Interval;

    #[test]
    fn whole_counts_have_no_decimals() {
        assert_eq!(Unit::Count.show(2.0, 3), "2");
        assert_eq!(Unit::Count.show(1_234_567.0, 3), "1234567");
        assert_eq!(Unit::Count.show(2.5, 3), "2.50");
    }

    #[test]
    fn each_unit_shows_itself() {
        assert_eq!(Unit::Bytes.show(65_536.0, 3), "64 KiB");
        assert_eq!(Unit::Bytes.show(65_537.4, 3), "64.0 KiB");
        assert_eq!(Unit::Bytes.show(16_383.0 * 1024.0, 3), "16.0 MiB");
        assert_eq!(Unit::Bytes.show(1023.0, 3), "1023 B");
        assert_eq!(Unit::Share.show(0.031, 2), "3.1 %");
        assert_eq!(Unit::Ratio.show(1.25, 3), "1.25 ×");
        assert_eq!(Unit::Nanoseconds.show(133.4, 3), "133 ns");
    }

    #[test]
    fn only_one_is_singular() {
        let all = ["0", "1", "1.5", "2"].map(|count| counted(count, "core"));
        assert_eq!(all, ["0 cores", "1 core", "1.5 cores", "2 cores"]);
    }

    fn quantity(value: f64, half_width: f64) -> Quantity {
        let interval = Interval::new(value - half_width, value + half_width);
        Quantity::new(value, interval, Unit::Nanoseconds)
    }

    #[test]
    fn the_half_widths_of_a_difference_add_up_as_squares() {
        let none = quantity(100.0, 3.0).minus(quantity(100.0, 4.0));
        assert!(none.value.abs() < 1e-9 && none.unit == Unit::Nanoseconds);
        let half_width = none.interval.expect("both have one").half_width();
        assert!((half_width - 5.0).abs() < 1e-9);
    }

    #[test]
    fn a_ratio_has_no_unit_and_needs_positive_values() {
        let ratio = quantity(300.0, 9.0).over(quantity(100.0, 4.0));
        let ratio = ratio.expect("both are positive");
        assert_eq!((ratio.value, ratio.unit), (3.0, Unit::Ratio));
        assert!((ratio.relative_half_width().expect("both have one") - 0.05).abs() < 1e-9);
        assert_eq!(quantity(300.0, 9.0).over(quantity(-1.0, 4.0)), None);
    }

    #[test]
    fn a_negative_factor_keeps_the_interval_in_order() {
        let interval = quantity(10.0, 1.0)
            .times(-2.0)
            .interval
            .expect("it has one");
        assert_eq!((interval.low, interval.high), (-22.0, -18.0));
    }

    #[test]
    fn what_has_no_interval_differs_from_nothing() {
        assert!(!Quantity::exact(1.0, Unit::Ratio).differs_from(2.0));
        assert!(quantity(10.0, 1.0).differs_from(12.0));
    }
}
