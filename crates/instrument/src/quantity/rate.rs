//! Rates: amounts per second.

use super::scale::{ParseQuantityError, Scale, Scales};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::fmt;
use std::str::FromStr;

/// Data moved per second of wall time, printed with IEC prefixes (`2.44 GiB/s`).
#[derive(
    Clone, Copy, Debug, Default, PartialEq, PartialOrd, Serialize, Deserialize, JsonSchema,
)]
#[serde(transparent)]
pub struct BytesPerSecond(pub f64);

/// Operations finished per second of wall time, printed with SI prefixes (`1.49 Mops/s`).
#[derive(
    Clone, Copy, Debug, Default, PartialEq, PartialOrd, Serialize, Deserialize, JsonSchema,
)]
#[serde(transparent)]
pub struct OperationsPerSecond(pub f64);

const KIB: f64 = 1024.0;

const BYTES: Scales = Scales {
    quantity: "transfer rate",
    example: "100MiB/s",
    printed: &[
        Scale::new("B/s", 1.0),
        Scale::new("KiB/s", KIB),
        Scale::new("MiB/s", KIB * KIB),
        Scale::new("GiB/s", KIB * KIB * KIB),
        Scale::new("TiB/s", KIB * KIB * KIB * KIB),
    ],
    understood: &[
        Scale::new("kB/s", 1e3),
        Scale::new("MB/s", 1e6),
        Scale::new("GB/s", 1e9),
        Scale::new("Mbit/s", 125e3),
        Scale::new("Gbit/s", 125e6),
    ],
};

const OPERATIONS: Scales = Scales {
    quantity: "rate",
    example: "1.5Mops/s",
    printed: &[
        Scale::new("ops/s", 1.0),
        Scale::new("kops/s", 1e3),
        Scale::new("Mops/s", 1e6),
        Scale::new("Gops/s", 1e9),
    ],
    understood: &[],
};

impl fmt::Display for BytesPerSecond {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        BYTES.format(self.0, f)
    }
}

impl FromStr for BytesPerSecond {
    type Err = ParseQuantityError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        BYTES.parse(text).map(Self)
    }
}

impl fmt::Display for OperationsPerSecond {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        OPERATIONS.format(self.0, f)
    }
}

impl FromStr for OperationsPerSecond {
    type Err = ParseQuantityError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        OPERATIONS.parse(text).map(Self)
    }
}

#[cfg(test)]
mod tests {
    use super::{BytesPerSecond, OperationsPerSecond};
    use proptest::prelude::*;

    #[test]
    fn rates_are_printed_for_people() {
        assert_eq!(
            format!("{:.3}", BytesPerSecond(1.5 * 1024.0 * 1024.0)),
            "1.50 MiB/s"
        );
        assert_eq!(
            format!("{:.3}", OperationsPerSecond(1_486_700.0)),
            "1.49 Mops/s"
        );
        assert_eq!("100 Mbit/s".parse(), Ok(BytesPerSecond(12.5e6)));
    }

    proptest! {
        #[test]
        fn printed_exactly_they_read_back_the_same(rate in 0.0_f64..1e15) {
            prop_assert_eq!(BytesPerSecond(rate).to_string().parse(), Ok(BytesPerSecond(rate)));
            prop_assert_eq!(
                OperationsPerSecond(rate).to_string().parse(),
                Ok(OperationsPerSecond(rate))
            );
        }
    }
}
