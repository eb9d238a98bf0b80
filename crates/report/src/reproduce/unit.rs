//! The units that the reports print.

use instrument::quantity::Unit;
use serde::{Deserialize, Serialize};

/// A unit as a report prints it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
pub enum PrintedUnit {
    /// Minutes.
    #[serde(rename = "min")]
    Minutes,
    /// Seconds.
    #[serde(rename = "s")]
    Seconds,
    /// Milliseconds.
    #[serde(rename = "ms")]
    Milliseconds,
    /// Microseconds.
    #[serde(rename = "us")]
    Microseconds,
    /// Nanoseconds.
    #[serde(rename = "ns")]
    Nanoseconds,
    /// Bytes per second.
    #[serde(rename = "B/s")]
    BytesPerSecond,
    /// 2^20 bytes per second.
    #[serde(rename = "MiB/s")]
    MebibytesPerSecond,
    /// 10^6 bytes per second.
    #[serde(rename = "MB/s")]
    MegabytesPerSecond,
    /// 10^9 bytes per second.
    #[serde(rename = "GB/s")]
    GigabytesPerSecond,
    /// 10^6 bits per second.
    #[serde(rename = "Mbit/s")]
    MegabitsPerSecond,
    /// Bytes.
    #[serde(rename = "B")]
    Bytes,
    /// 1024 bytes.
    #[serde(rename = "KB")]
    Kilobytes,
    /// 1024 KB.
    #[serde(rename = "MB")]
    Megabytes,
    /// A number of things.
    #[serde(rename = "count")]
    Count,
    /// Operations per second.
    #[serde(rename = "1/s")]
    PerSecond,
    /// 10^6 operations per second.
    #[serde(rename = "million/s")]
    MillionsPerSecond,
    /// One value over another.
    #[serde(rename = "ratio")]
    Ratio,
}

impl PrintedUnit {
    /// The unit of oscope, and how many of it one of these is.
    pub const fn in_base(self) -> (Unit, f64) {
        match self {
            Self::Minutes => (Unit::Nanoseconds, 60e9),
            Self::Seconds => (Unit::Nanoseconds, 1e9),
            Self::Milliseconds => (Unit::Nanoseconds, 1e6),
            Self::Microseconds => (Unit::Nanoseconds, 1e3),
            Self::Nanoseconds => (Unit::Nanoseconds, 1.0),
            Self::BytesPerSecond => (Unit::BytesPerSecond, 1.0),
            Self::MebibytesPerSecond => (Unit::BytesPerSecond, 1_048_576.0),
            Self::MegabytesPerSecond => (Unit::BytesPerSecond, 1e6),
            Self::GigabytesPerSecond => (Unit::BytesPerSecond, 1e9),
            Self::MegabitsPerSecond => (Unit::BytesPerSecond, 1e6 / 8.0),
            Self::Bytes => (Unit::Bytes, 1.0),
            Self::Kilobytes => (Unit::Bytes, 1024.0),
            Self::Megabytes => (Unit::Bytes, 1_048_576.0),
            Self::Count => (Unit::Count, 1.0),
            Self::PerSecond => (Unit::OperationsPerSecond, 1.0),
            Self::MillionsPerSecond => (Unit::OperationsPerSecond, 1e6),
            Self::Ratio => (Unit::Ratio, 1.0),
        }
    }

    /// The unit as the report writes it.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Minutes => "min",
            Self::Seconds => "s",
            Self::Milliseconds => "ms",
            Self::Microseconds => "µs",
            Self::Nanoseconds => "ns",
            Self::BytesPerSecond => "B/s",
            Self::MebibytesPerSecond => "MiB/s",
            Self::MegabytesPerSecond => "MB/s",
            Self::GigabytesPerSecond => "GB/s",
            Self::MegabitsPerSecond => "Mbit/s",
            Self::Bytes => "B",
            Self::Kilobytes => "KB",
            Self::Megabytes => "MB",
            Self::Count => "",
            Self::PerSecond => "/s",
            Self::MillionsPerSecond => "million/s",
            Self::Ratio => "×",
        }
    }
}
