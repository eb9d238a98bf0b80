//! Durations.

use super::scale::{ParseQuantityError, Scale, Scales};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::fmt;
use std::str::FromStr;
use std::time::Duration;

/// A duration in nanoseconds. It can be fractional, since one operation may take less than a
/// nanosecond.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, PartialOrd, Serialize, Deserialize, JsonSchema,
)]
#[serde(transparent)]
pub struct Nanoseconds(pub f64);

const SCALES: Scales = Scales {
    quantity: "length of time",
    example: "250us",
    printed: &[
        Scale::new("ns", 1.0),
        Scale::new("µs", 1e3),
        Scale::new("ms", 1e6),
        Scale::new("s", 1e9),
        Scale::new("min", 60e9),
        Scale::new("h", 3600e9),
    ],
    understood: &[
        Scale::new("us", 1e3),
        Scale::new("m", 60e9),
        Scale::new("d", 86_400e9),
    ],
};

impl From<Duration> for Nanoseconds {
    fn from(duration: Duration) -> Self {
        Self(duration.as_nanos() as f64)
    }
}

impl fmt::Display for Nanoseconds {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        SCALES.format(self.0, f)
    }
}

impl FromStr for Nanoseconds {
    type Err = ParseQuantityError;

    /// Reads `250us`, `1.5 s`, `2min`. A number alone is an error, since it could mean seconds or
    /// nanoseconds.
    fn from_str(text: &str) -> Result<Self, Self::Err> {
        if text.trim().ends_with(|c: char| c.is_ascii_digit()) {
            return Err(SCALES.out_of_range(text, "a unit is missing, such as ms, s or min"));
        }
        SCALES.parse(text).map(Self)
    }
}

#[cfg(test)]
mod tests {
    use super::Nanoseconds;
    use proptest::prelude::*;

    #[test]
    fn lengths_of_time_are_read_and_printed() {
        let read = |text: &str| text.parse::<Nanoseconds>().map(|time| time.0);
        assert_eq!(read("250us"), Ok(250e3));
        assert_eq!(read("2 min"), Ok(120e9));
        assert_eq!(read("1.5s"), Ok(1.5e9));
        assert!(
            read("15")
                .unwrap_err()
                .to_string()
                .contains("unit is missing")
        );
        assert_eq!(format!("{:.3}", Nanoseconds(1239.0)), "1.24 µs");
        assert_eq!(format!("{:.3}", Nanoseconds(0.3)), "0.300 ns");
        assert_eq!(format!("{}", Nanoseconds(250e3)), "250 µs");
    }

    proptest! {
        #[test]
        fn printed_exactly_it_reads_back_the_same(ns in 0.0_f64..1e18) {
            prop_assert_eq!(Nanoseconds(ns).to_string().parse(), Ok(Nanoseconds(ns)));
        }
    }
}
