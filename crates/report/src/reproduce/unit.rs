//! The units that the reports print.

use instrument::quantity::Unit;
use serde::de::Error;
use serde::{Deserialize, Deserializer};

/// A unit as a report prints it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PrintedUnit {
    name: &'static str,
    unit: Unit,
    factor: f64,
}

/// The key in the list of figures, the unit as the report writes it, the unit of oscope, and how many of it one is.
const UNITS: [(&str, &str, Unit, f64); 17] = [
    ("min", "min", Unit::Nanoseconds, 60e9),
    ("s", "s", Unit::Nanoseconds, 1e9),
    ("ms", "ms", Unit::Nanoseconds, 1e6),
    ("us", "µs", Unit::Nanoseconds, 1e3),
    ("ns", "ns", Unit::Nanoseconds, 1.0),
    ("B/s", "B/s", Unit::BytesPerSecond, 1.0),
    ("MiB/s", "MiB/s", Unit::BytesPerSecond, 1_048_576.0),
    ("MB/s", "MB/s", Unit::BytesPerSecond, 1e6),
    ("GB/s", "GB/s", Unit::BytesPerSecond, 1e9),
    ("Mbit/s", "Mbit/s", Unit::BytesPerSecond, 1e6 / 8.0),
    ("B", "B", Unit::Bytes, 1.0),
    ("KB", "KB", Unit::Bytes, 1024.0),
    ("MB", "MB", Unit::Bytes, 1_048_576.0),
    ("count", "", Unit::Count, 1.0),
    ("1/s", "/s", Unit::OperationsPerSecond, 1.0),
    ("million/s", "million/s", Unit::OperationsPerSecond, 1e6),
    ("ratio", "×", Unit::Ratio, 1.0),
];

impl<'de> Deserialize<'de> for PrintedUnit {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let key = String::deserialize(deserializer)?;
        let found = UNITS.into_iter().find(|(known, ..)| *known == key);
        let unknown = || D::Error::custom(format!("no report prints '{key}'"));
        let (_, name, unit, factor) = found.ok_or_else(unknown)?;
        Ok(Self { name, unit, factor })
    }
}

impl PrintedUnit {
    /// The unit of oscope, and how many of it one of these is.
    pub const fn in_base(self) -> (Unit, f64) {
        (self.unit, self.factor)
    }

    /// The unit as the report writes it.
    pub const fn name(self) -> &'static str {
        self.name
    }
}
