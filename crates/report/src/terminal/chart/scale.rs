//! Mapping from values to positions on an axis, and its round tick values.

use crate::show::{self, Prefix};
use instrument::figure::FigureScale;
use instrument::quantity::Unit;

/// One axis of a chart.
#[derive(Clone, Debug)]
pub(super) struct Scale {
    kind: FigureScale,
    unit: Unit,
    low: f64,
    high: f64,
}

/// A round value and its text.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Tick {
    pub value: f64,
    pub label: String,
}

impl Scale {
    /// The axis that spans all of `values`; `None` if none of them has a place, such as values that
    /// are not positive on a logarithmic axis.
    pub fn over(kind: FigureScale, unit: Unit, values: impl Iterator<Item = f64>) -> Option<Self> {
        let usable = |value: &f64| match kind {
            FigureScale::Linear => value.is_finite(),
            FigureScale::Logarithmic => value.is_normal() && *value > 0.0,
        };
        let (low, high) = values
            .filter(usable)
            .fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), value| {
                (low.min(value), high.max(value))
            });
        (low <= high).then(|| {
            Self {
                kind,
                unit,
                low,
                high,
            }
            .widened()
        })
    }

    /// Adds room around a single value, and extends a linear axis to zero.
    fn widened(self) -> Self {
        let Self {
            kind,
            unit,
            low,
            high,
        } = self;
        let (low, high) = match kind {
            FigureScale::Linear if low.min(0.0) < high.max(0.0) => (low.min(0.0), high.max(0.0)),
            FigureScale::Linear => (0.0, 1.0),
            FigureScale::Logarithmic if low < high => (low, high),
            FigureScale::Logarithmic => (
                (low / 2.0).max(f64::MIN_POSITIVE),
                high.min(f64::MAX / 2.0) * 2.0,
            ),
        };
        Self {
            kind,
            unit,
            low,
            high,
        }
    }

    /// Position of `value` from 0 to 1, clamped to the ends. `None` for NaN.
    pub fn place(&self, value: f64) -> Option<f64> {
        let along = |value: f64| match self.kind {
            // Halved values: the difference of the ends could overflow.
            FigureScale::Linear => value / 2.0,
            FigureScale::Logarithmic => value.max(f64::MIN_POSITIVE).log2(),
        };
        let (low, high) = (along(self.low), along(self.high));
        let place = (along(value) - low) / (high - low);
        (!place.is_nan()).then(|| place.clamp(0.0, 1.0))
    }

    /// True if `value` lies between the ends.
    pub fn contains(&self, value: f64) -> bool {
        self.low <= value && value <= self.high
    }

    /// At most `most` round values between the ends, ascending, each with its own unit.
    pub fn ticks(&self, most: usize) -> Vec<Tick> {
        let labelled = |value: f64| Tick {
            value,
            label: show::round(self.unit, value),
        };
        self.round_values(most).into_iter().map(labelled).collect()
    }

    /// The same as [`ticks`](Self::ticks), but in one unit, whose symbol comes first; `None` if the
    /// values lie too far apart for one unit.
    pub fn ticks_in_one_unit(&self, most: usize) -> Option<(String, Vec<Tick>)> {
        let values = self.round_values(most);
        let prefix = Prefix::common(self.unit, values.iter().copied())?;
        let labelled = |value: f64| {
            let number = prefix.number(value, 3);
            let label = match number.split_once('.') {
                Some(_) => number
                    .trim_end_matches('0')
                    .trim_end_matches('.')
                    .to_owned(),
                None => number,
            };
            Tick { value, label }
        };
        Some((
            prefix.symbol.clone(),
            values.into_iter().map(labelled).collect(),
        ))
    }

    fn round_values(&self, most: usize) -> Vec<f64> {
        let most = most.max(2);
        let powers = match self.kind {
            FigureScale::Logarithmic => self.powers(most),
            FigureScale::Linear => Vec::new(),
        };
        if powers.is_empty() {
            self.multiples(most)
        } else {
            powers
        }
    }

    /// Powers of two for units with binary prefixes, else of ten; every second, third, fifth and so
    /// on if there are too many. Empty if the axis contains fewer than two.
    fn powers(&self, most: usize) -> Vec<f64> {
        const STEPS: [f64; 9] = [1.0, 2.0, 3.0, 5.0, 10.0, 20.0, 50.0, 100.0, 1000.0];
        let binary = matches!(self.unit, Unit::Bytes | Unit::BytesPerSecond | Unit::Count);
        let base: f64 = if binary { 2.0 } else { 10.0 };
        let exponent = |value: f64| value.log2() / base.log2();
        let (low, high) = (exponent(self.low), exponent(self.high));
        let first = |step: f64| (low / step - 1e-9).ceil();
        let count = |step: f64| (high / step + 1e-9).floor() - first(step) + 1.0;
        if count(1.0) < 2.0 {
            return Vec::new();
        }
        let step = STEPS
            .into_iter()
            .find(|step| count(*step) <= most as f64)
            .unwrap_or(2000.0);
        let power = |index: usize| base.powf((first(step) + index as f64) * step);
        (0..count(step).max(0.0) as usize).map(power).collect()
    }

    /// Multiples of 1, 2 or 5 times a power of ten, in the unit of the largest value.
    fn multiples(&self, most: usize) -> Vec<f64> {
        let prefix = Prefix::fitting(self.unit, self.high.abs().max(self.low.abs()));
        let (low, high) = (self.low / prefix.factor, self.high / prefix.factor);
        let rough = (high / most as f64 - low / most as f64).max(f64::MIN_POSITIVE);
        let power = 10_f64.powf(rough.log10().floor());
        let step = [1.0, 2.0, 5.0, 10.0].map(|factor| factor * power);
        let first = |step: f64| (low / step - 1e-9).ceil();
        let count = |step: f64| (high / step + 1e-9).floor() - first(step) + 1.0;
        let Some(step) = step.into_iter().find(|step| count(*step) <= most as f64) else {
            return Vec::new();
        };
        let multiple = |index: usize| (first(step) + index as f64) * step * prefix.factor;
        (0..count(step).max(0.0) as usize).map(multiple).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn scale(kind: FigureScale, unit: Unit, low: f64, high: f64) -> Scale {
        Scale::over(kind, unit, [low, high].into_iter()).unwrap()
    }

    fn labels(ticks: &[Tick]) -> Vec<&str> {
        ticks.iter().map(|tick| tick.label.as_str()).collect()
    }

    #[test]
    fn a_logarithmic_axis_of_sizes_has_iec_ticks() {
        let sizes = scale(
            FigureScale::Logarithmic,
            Unit::Bytes,
            1024.0,
            256.0 * 1024.0 * 1024.0,
        );
        assert_eq!(
            labels(&sizes.ticks(5)),
            ["1 KiB", "32 KiB", "1 MiB", "32 MiB"]
        );
        assert_eq!(sizes.place(1024.0), Some(0.0));
        assert_eq!(sizes.place(512.0 * 1024.0), Some(0.5));
        assert_eq!(sizes.place(0.0), Some(0.0));
    }

    #[test]
    fn a_linear_axis_begins_at_zero() {
        const GIB: f64 = 1024.0 * 1024.0 * 1024.0;
        let speeds = scale(
            FigureScale::Linear,
            Unit::BytesPerSecond,
            5.0 * GIB,
            42.0 * GIB,
        );
        let (symbol, ticks) = speeds.ticks_in_one_unit(5).unwrap();
        assert_eq!(
            (symbol.as_str(), labels(&ticks)),
            ("GiB/s", vec!["0", "10", "20", "30", "40"])
        );
        assert_eq!(speeds.place(21.0 * GIB), Some(0.5));
        assert_eq!(speeds.place(99.0 * GIB), Some(1.0));
    }

    #[test]
    fn latencies_are_divided_by_powers_of_ten() {
        let times = scale(FigureScale::Logarithmic, Unit::Nanoseconds, 50.0, 600_000.0);
        assert_eq!(
            labels(&times.ticks(6)),
            ["100 ns", "1 µs", "10 µs", "100 µs"]
        );
    }

    #[test]
    fn a_narrow_logarithmic_axis_still_has_ticks() {
        let times = scale(FigureScale::Logarithmic, Unit::Nanoseconds, 110.0, 190.0);
        assert_eq!(
            labels(&times.ticks(4)),
            ["120 ns", "140 ns", "160 ns", "180 ns"]
        );
    }

    #[test]
    fn what_has_no_place_gives_no_axis() {
        let none = [f64::NAN, 0.0, -1.0].into_iter();
        assert!(Scale::over(FigureScale::Logarithmic, Unit::Bytes, none.clone()).is_none());
        assert!(Scale::over(FigureScale::Linear, Unit::Bytes, none).is_some());
    }

    proptest! {
        #[test]
        fn every_value_has_a_place_and_ticks_lie_within(
            values in prop::collection::vec(prop::num::f64::ANY, 0..8),
            logarithmic: bool,
            most in 0_usize..12,
        ) {
            let kind =
                if logarithmic { FigureScale::Logarithmic } else { FigureScale::Linear };
            if let Some(scale) = Scale::over(kind, Unit::Nanoseconds, values.iter().copied()) {
                for value in values.iter().filter(|value| value.is_finite()) {
                    let place = scale.place(*value).unwrap();
                    prop_assert!((0.0..=1.0).contains(&place));
                }
                let ticks = scale.ticks(most);
                prop_assert!(ticks.len() <= most.max(2));
                prop_assert!(ticks.windows(2).all(|pair| pair[0].value < pair[1].value));
            }
        }
    }
}
