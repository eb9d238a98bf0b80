//! The units of metrics, axes and the numbers in findings.

use super::{Bytes, BytesPerSecond, Nanoseconds, OperationsPerSecond, significant};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The unit of a bare number.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
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
            Self::OperationsPerSecond => format!("{:.digits$}", OperationsPerSecond(value)),
            Self::Nanoseconds => format!("{:.digits$}", Nanoseconds(value)),
            Self::Bytes => show_bytes(Bytes(value.max(0.0) as u64), digits),
            Self::Count => significant(value, digits),
            Self::Share => format!("{} %", significant(value * 100.0, digits)),
            Self::Ratio => format!("{} ×", significant(value, digits)),
        }
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

#[cfg(test)]
mod tests {
    use super::Unit;

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
}
