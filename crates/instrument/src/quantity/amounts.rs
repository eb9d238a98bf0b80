//! Sizes, durations and rates, with their notations.

use super::scale::{ParseQuantityError, Scales};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::fmt;
use std::str::FromStr;
use std::time::Duration;

/// An amount of data in bytes, printed with IEC prefixes (`1.5 GiB`).
///
/// Read as GNU `dd` reads sizes: `K`, `M`, `G`, `T` and their `KiB` forms are powers of 1024, `kB`,
/// `KB`, `MB`, `GB`, `TB` powers of 1000.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema,
)]
#[serde(transparent)]
pub struct Bytes(pub u64);

const KIB: f64 = 1024.0;

const SIZES: Scales = Scales {
    quantity: "size",
    example: "512KiB",
    printed: &[
        ("B", 1.0),
        ("KiB", KIB),
        ("MiB", KIB * KIB),
        ("GiB", KIB * KIB * KIB),
        ("TiB", KIB * KIB * KIB * KIB),
    ],
    understood: &[
        ("K", KIB),
        ("k", KIB),
        ("M", KIB * KIB),
        ("G", KIB * KIB * KIB),
        ("T", KIB * KIB * KIB * KIB),
        ("kB", 1e3),
        ("KB", 1e3),
        ("MB", 1e6),
        ("GB", 1e9),
        ("TB", 1e12),
    ],
};

impl fmt::Display for Bytes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // The division can round, and so can integers above 2^53.
        let reads_back = || SIZES.exact(self.0 as f64).parse() == Ok(*self);
        if f.precision().is_none() && !reads_back() {
            return write!(f, "{} B", self.0);
        }
        SIZES.format(self.0 as f64, f)
    }
}

impl FromStr for Bytes {
    type Err = ParseQuantityError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let (number, factor) = SIZES.split(text)?;
        let (whole, fraction) = number.split_once('.').unwrap_or((number, ""));
        let too_large = || SIZES.refused(text, "it is too large");
        if whole.len() + fraction.len() > 20 {
            return Err(too_large());
        }
        let digits: u128 = format!("{whole}{fraction}")
            .parse()
            .map_err(|_| SIZES.no_number(text))?;
        let scaled = digits * factor as u128;
        let denominator = 10_u128.pow(fraction.len() as u32);
        if !scaled.is_multiple_of(denominator) {
            return Err(SIZES.refused(text, "it is not a whole number of bytes"));
        }
        u64::try_from(scaled / denominator)
            .map(Self)
            .map_err(|_| too_large())
    }
}

/// A duration in nanoseconds. It can be fractional, since one operation may take less than a
/// nanosecond.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, PartialOrd, Serialize, Deserialize, JsonSchema,
)]
#[serde(transparent)]
pub struct Nanoseconds(pub f64);

const TIMES: Scales = Scales {
    quantity: "length of time",
    example: "250us",
    printed: &[
        ("ns", 1.0),
        ("µs", 1e3),
        ("ms", 1e6),
        ("s", 1e9),
        ("min", 60e9),
        ("h", 3600e9),
    ],
    understood: &[("us", 1e3), ("m", 60e9), ("d", 86_400e9)],
};

impl From<Duration> for Nanoseconds {
    fn from(duration: Duration) -> Self {
        Self(duration.as_nanos() as f64)
    }
}

impl fmt::Display for Nanoseconds {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        TIMES.format(self.0, f)
    }
}

impl FromStr for Nanoseconds {
    type Err = ParseQuantityError;

    /// Reads `250us`, `1.5 s`, `2min`. A number alone is an error, since it could mean seconds or
    /// nanoseconds.
    fn from_str(text: &str) -> Result<Self, Self::Err> {
        if text.trim().ends_with(|c: char| c.is_ascii_digit()) {
            return Err(TIMES.refused(text, "a unit is missing, such as ms, s or min"));
        }
        TIMES.parse(text).map(Self)
    }
}

/// Data moved per second of wall time, printed with IEC prefixes (`2.44 GiB/s`).
#[derive(
    Clone, Copy, Debug, Default, PartialEq, PartialOrd, Serialize, Deserialize, JsonSchema,
)]
#[serde(transparent)]
pub struct BytesPerSecond(pub f64);

const BYTES: Scales = Scales {
    quantity: "transfer rate",
    example: "100MiB/s",
    printed: &[
        ("B/s", 1.0),
        ("KiB/s", KIB),
        ("MiB/s", KIB * KIB),
        ("GiB/s", KIB * KIB * KIB),
        ("TiB/s", KIB * KIB * KIB * KIB),
    ],
    understood: &[
        ("kB/s", 1e3),
        ("MB/s", 1e6),
        ("GB/s", 1e9),
        ("Mbit/s", 125e3),
        ("Gbit/s", 125e6),
    ],
};

/// Operations finished per second of wall time, printed with SI prefixes (`1.49 Mops/s`).
pub(super) const OPERATIONS: Scales = Scales {
    quantity: "rate",
    example: "1.5Mops/s",
    printed: &[
        ("ops/s", 1.0),
        ("kops/s", 1e3),
        ("Mops/s", 1e6),
        ("Gops/s", 1e9),
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

#[cfg(test)]
mod tests {
    use super::{Bytes, BytesPerSecond, Nanoseconds, OPERATIONS};
    use proptest::prelude::*;

    #[test]
    fn sizes_are_read_as_people_write_them() {
        for (text, bytes) in [
            ("512KiB", 512 << 10),
            ("512 K", 512 << 10),
            ("1.5GiB", 3 << 29),
            ("1.5kB", 1500),
            ("4096", 4096),
            ("0", 0),
        ] {
            assert_eq!(text.parse(), Ok(Bytes(bytes)), "{text}");
        }
    }

    #[test]
    fn nonsense_is_refused_with_a_reason() {
        for (text, reason) in [
            ("", "must begin with a number"),
            (".", "must begin with a number"),
            ("-1", "must begin with a number"),
            ("4 sheep", "'sheep'"),
            ("1.3", "whole number of bytes"),
            ("99999999TiB", "too large"),
            ("999999999999999999999999", "too large"),
        ] {
            let error = text.parse::<Bytes>().unwrap_err().to_string();
            assert!(error.contains(reason), "{error}");
        }
        let error = "15".parse::<Nanoseconds>().unwrap_err().to_string();
        assert!(error.contains("unit is missing"), "{error}");
    }

    #[test]
    fn printing_for_people_rounds() {
        for (printed, expected) in [
            (format!("{:.3}", Bytes(2_818_738_176)), "2.63 GiB"),
            (format!("{:.3}", Bytes(1_048_575)), "1.00 MiB"),
            (format!("{}", Bytes(524_288)), "512 KiB"),
            (format!("{:>9}|", Bytes(1024)), "    1 KiB|"),
            (format!("{:.3}", Nanoseconds(1239.0)), "1.24 µs"),
            (format!("{:.3}", Nanoseconds(0.3)), "0.300 ns"),
            (format!("{}", Nanoseconds(250e3)), "250 µs"),
            (
                format!("{:.3}", BytesPerSecond(1536.0 * 1024.0)),
                "1.50 MiB/s",
            ),
            (OPERATIONS.rounded(1_486_700.0, 3), "1.49 Mops/s"),
        ] {
            assert_eq!(printed, expected);
        }
    }

    #[test]
    fn what_no_larger_unit_holds_exactly_is_printed_in_bytes() {
        for bytes in [1537, 6_533_359_121_215_703, u64::MAX] {
            assert_eq!(Bytes(bytes).to_string(), format!("{bytes} B"));
        }
    }

    #[test]
    fn times_and_rates_are_read_as_people_write_them() {
        for (text, ns) in [("250us", 250e3), ("2 min", 120e9), ("1.5s", 1.5e9)] {
            assert_eq!(text.parse(), Ok(Nanoseconds(ns)), "{text}");
        }
        assert_eq!("100 Mbit/s".parse(), Ok(BytesPerSecond(12.5e6)));
    }

    proptest! {
        #[test]
        fn a_size_that_is_printed_exactly_reads_back_the_same(bytes: u64) {
            prop_assert_eq!(Bytes(bytes).to_string().parse(), Ok(Bytes(bytes)));
        }

        #[test]
        fn round_sizes_read_back_the_same(bytes in 0_u64..4096, shift in 0_u32..40) {
            let bytes = Bytes(bytes << shift);
            prop_assert_eq!(bytes.to_string().parse(), Ok(bytes));
        }

        #[test]
        fn no_text_of_a_size_panics(text: String) {
            let _ = text.parse::<Bytes>();
        }

        #[test]
        fn a_time_that_is_printed_exactly_reads_back_the_same(ns in 0.0_f64..1e18) {
            prop_assert_eq!(Nanoseconds(ns).to_string().parse(), Ok(Nanoseconds(ns)));
        }

        #[test]
        fn rates_that_are_printed_exactly_read_back_the_same(rate in 0.0_f64..1e15) {
            prop_assert_eq!(BytesPerSecond(rate).to_string().parse(), Ok(BytesPerSecond(rate)));
            prop_assert_eq!(OPERATIONS.parse(&OPERATIONS.exact(rate)), Ok(rate));
        }
    }
}
