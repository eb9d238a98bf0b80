//! Amounts of data.

use super::scale::{ParseQuantityError, Scale, Scales};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::fmt;
use std::str::FromStr;

/// An amount of data in bytes, printed with IEC prefixes (`1.5 GiB`).
///
/// Read as GNU `dd` reads sizes: `K`, `M`, `G`, `T` and their `KiB` forms are powers of 1024, `kB`,
/// `KB`, `MB`, `GB`, `TB` powers of 1000.
#[derive(
    Clone,
    Copy,
    Debug,
    Default,
    PartialEq,
    Eq,
    PartialOrd,
    Ord,
    Hash,
    Serialize,
    Deserialize,
    JsonSchema,
)]
#[serde(transparent)]
pub struct Bytes(pub u64);

const KIB: f64 = 1024.0;

const SCALES: Scales = Scales {
    quantity: "size",
    example: "512KiB",
    printed: &[
        Scale::new("B", 1.0),
        Scale::new("KiB", KIB),
        Scale::new("MiB", KIB * KIB),
        Scale::new("GiB", KIB * KIB * KIB),
        Scale::new("TiB", KIB * KIB * KIB * KIB),
    ],
    understood: &[
        Scale::new("K", KIB),
        Scale::new("k", KIB),
        Scale::new("M", KIB * KIB),
        Scale::new("G", KIB * KIB * KIB),
        Scale::new("T", KIB * KIB * KIB * KIB),
        Scale::new("kB", 1e3),
        Scale::new("KB", 1e3),
        Scale::new("MB", 1e6),
        Scale::new("GB", 1e9),
        Scale::new("TB", 1e12),
    ],
};

impl fmt::Display for Bytes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // The division can round, and so can integers above 2^53.
        let reads_back = || SCALES.exact(self.0 as f64).parse() == Ok(*self);
        if f.precision().is_none() && !reads_back() {
            return write!(f, "{} B", self.0);
        }
        SCALES.format(self.0 as f64, f)
    }
}

impl FromStr for Bytes {
    type Err = ParseQuantityError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let (number, factor) = SCALES.split(text)?;
        let (whole, fraction) = number.split_once('.').unwrap_or((number, ""));
        let too_large = || SCALES.out_of_range(text, "it is too large");
        if whole.len() + fraction.len() > 20 {
            return Err(too_large());
        }
        let digits: u128 =
            format!("{whole}{fraction}")
                .parse()
                .map_err(|_| ParseQuantityError::NoNumber {
                    text: text.to_owned(),
                    quantity: SCALES.quantity,
                    example: SCALES.example,
                })?;
        let scaled = digits * factor as u128;
        let denominator = 10_u128.pow(fraction.len() as u32);
        if !scaled.is_multiple_of(denominator) {
            return Err(SCALES.out_of_range(text, "it is not a whole number of bytes"));
        }
        u64::try_from(scaled / denominator)
            .map(Self)
            .map_err(|_| too_large())
    }
}

#[cfg(test)]
mod tests {
    use super::Bytes;
    use proptest::prelude::*;

    #[test]
    fn sizes_are_read_as_people_write_them() {
        let read = |text: &str| text.parse::<Bytes>().map(|bytes| bytes.0);
        assert_eq!(read("512KiB"), Ok(512 << 10));
        assert_eq!(read("512 K"), Ok(512 << 10));
        assert_eq!(read("1.5GiB"), Ok(3 << 29));
        assert_eq!(read("1.5kB"), Ok(1500));
        assert_eq!(read("4096"), Ok(4096));
        assert_eq!(read("0"), Ok(0));
    }

    #[test]
    fn nonsense_is_refused_with_a_reason() {
        let refuse = |text: &str| text.parse::<Bytes>().unwrap_err().to_string();
        assert!(refuse("").contains("must begin with a number"));
        assert!(refuse(".").contains("must begin with a number"));
        assert!(refuse("-1").contains("must begin with a number"));
        assert!(refuse("4 sheep").contains("'sheep'"));
        assert!(refuse("1.3").contains("whole number of bytes"));
        assert!(refuse("99999999TiB").contains("too large"));
        assert!(refuse("999999999999999999999999").contains("too large"));
    }

    #[test]
    fn printing_for_people_rounds() {
        assert_eq!(format!("{:.3}", Bytes(2_818_738_176)), "2.63 GiB");
        assert_eq!(format!("{:.3}", Bytes(1_048_575)), "1.00 MiB");
        assert_eq!(format!("{}", Bytes(524_288)), "512 KiB");
        assert_eq!(format!("{:>9}|", Bytes(1024)), "    1 KiB|");
    }

    #[test]
    fn what_no_larger_unit_holds_exactly_is_printed_in_bytes() {
        for bytes in [1537, 6_533_359_121_215_703, u64::MAX] {
            assert_eq!(Bytes(bytes).to_string(), format!("{bytes} B"));
        }
    }

    proptest! {
        #[test]
        fn printed_exactly_it_reads_back_the_same(bytes: u64) {
            prop_assert_eq!(Bytes(bytes).to_string().parse(), Ok(Bytes(bytes)));
        }

        #[test]
        fn round_sizes_read_back_the_same(bytes in 0_u64..4096, shift in 0_u32..40) {
            let bytes = Bytes(bytes << shift);
            prop_assert_eq!(bytes.to_string().parse(), Ok(bytes));
        }

        #[test]
        fn no_text_makes_it_panic(text: String) {
            let _ = text.parse::<Bytes>();
        }
    }
}
