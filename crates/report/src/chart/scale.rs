//! Mapping from values to places on an axis.

use instrument::figure::{Figure, FigureAxis, FigureScale, Series};
use instrument::quantity::Unit;
use instrument::results::{Estimate, Verdict};
use instrument::statistics::Interval;

/// An axis of ratios reaches from 1 to this at least, and as far to the other side.
const LEAST_RATIO: f64 = 1.1;

/// A mapping from the values of an axis to places from 0 to 1.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Scale {
    pub(crate) kind: FigureScale,
    /// The value at 0.
    pub(crate) low: f64,
    /// The value at 1.
    pub(crate) high: f64,
}

impl Scale {
    /// Place of `value`, clamped to the ends. `None` for values without a place on this scale: NaN, and on a
    /// logarithmic scale values that are not positive.
    pub(crate) fn position(&self, value: f64) -> Option<f64> {
        let part = match self.kind {
            FigureScale::Linear => (value - self.low) / (self.high - self.low),
            FigureScale::Logarithmic => (value / self.low).log2() / (self.high / self.low).log2(),
        };
        let has_place = self.kind == FigureScale::Linear || value > 0.0;
        (value.is_finite() && !part.is_nan() && has_place).then(|| part.clamp(0.0, 1.0))
    }

    /// True if `value` lies between the ends.
    pub(crate) fn contains(&self, value: f64) -> bool {
        self.low <= value && value <= self.high
    }

    /// The range of those `values` that have a place on a scale of this `kind`; one to span if none has.
    /// Linear scales start at zero, logarithmic scales span at least one octave.
    pub(crate) fn around(values: impl IntoIterator<Item = f64>, kind: FigureScale) -> Self {
        let (mut low, mut high) = (f64::INFINITY, f64::NEG_INFINITY);
        // Larger values have no unit prefix, and their differences and ratios overflow.
        for value in values.into_iter().filter(|value| value.abs() < 1e150) {
            if kind == FigureScale::Linear || value > 1e-150 {
                low = low.min(value);
                high = high.max(value);
            }
        }
        let (low, high) = match kind {
            FigureScale::Linear => {
                let (low, high) = (low.min(0.0), high.max(0.0));
                (low, if low < high { high } else { 1.0 })
            }
            FigureScale::Logarithmic if low > high => (1.0, 2.0),
            FigureScale::Logarithmic => {
                let short = (2.0 / (high / low)).max(1.0).sqrt();
                (low / short, high * short)
            }
        };
        Self { kind, low, high }
    }

    /// The range of an axis along `numbers`, such as sizes.
    pub(crate) fn along(axis: &FigureAxis, numbers: &[f64]) -> Self {
        let mut scale = Self::around(numbers.iter().copied(), axis.scale);
        let smallest = numbers.iter().copied().fold(f64::INFINITY, f64::min);
        // There is no place with 0 threads or 0 files.
        if axis.unit == Some(Unit::Count) && (1.0..scale.high).contains(&smallest) {
            scale.low = smallest;
        }
        scale
    }

    /// The range of the values of `series`: all centres, and intervals and processes as far as they leave the
    /// centres distinguishable. Values that are not sound may be arbitrarily large: they count only if there
    /// are no others. An axis of ratios has 1, which is no difference.
    pub(crate) fn of_estimates(axis: &FigureAxis, series: &[Series], kind: FigureScale) -> Self {
        let all = || {
            let points = series.iter().flat_map(|series| &series.points);
            points.map(|point| &point.estimate)
        };
        let are_sound = all().any(Estimate::is_sound);
        let estimates = || all().filter(move |estimate| estimate.is_sound() || !are_sound);
        let centres = Self::around(estimates().filter_map(drawn_centre), kind);
        let (low, high) = match kind {
            FigureScale::Linear => {
                let quarter = (centres.high - centres.low) / 4.0;
                (centres.low - quarter, centres.high + quarter)
            }
            FigureScale::Logarithmic => (centres.low / 2.0, centres.high * 2.0),
        };
        let ends = estimates().filter_map(|estimate| estimate.interval);
        let ends = ends.flat_map(|Interval { low, high }| [low, high]);
        let dots = estimates().flat_map(|estimate| estimate.by_process.iter().copied());
        let values = estimates().filter_map(drawn_centre).chain(ends).chain(dots);
        let near = values.filter(|value| low <= *value && *value <= high);
        if axis.unit == Some(Unit::Ratio) && kind == FigureScale::Logarithmic {
            let ends = (1.0 / LEAST_RATIO, LEAST_RATIO);
            let (low, high) =
                near.fold(ends, |(low, high), ratio| (low.min(ratio), high.max(ratio)));
            return Self { kind, low, high }.padded();
        }
        Self::around(near, kind).padded()
    }

    /// The range with some space before the first and after the last value.
    fn padded(self) -> Self {
        let (low, high) = match self.kind {
            FigureScale::Linear => {
                let air = (self.high - self.low) * 0.04;
                let below = if self.low < 0.0 { air } else { 0.0 };
                (self.low - below, self.high + air)
            }
            FigureScale::Logarithmic => {
                let air = (self.high / self.low).powf(0.04);
                (self.low / air, self.high * air)
            }
        };
        Self { low, high, ..self }
    }
}

/// True if the smaller values of `figure` would look the same on a linear scale.
pub(crate) fn is_wide(figure: &Figure) -> bool {
    /// Values that span more than this factor are drawn on a logarithmic scale.
    const WIDE: f64 = 30.0;
    let sound = figure.points().filter(|it| it.estimate.is_sound());
    let positive = sound.map(|it| it.estimate.centre).filter(|it| *it > 0.0);
    let ends = (f64::INFINITY, 0.0_f64);
    let (low, high) = positive.fold(ends, |(low, high), it| (low.min(it), high.max(it)));
    high > WIDE * low
}

/// The centre of an estimate as drawn; `None` if it has no value to draw.
pub(crate) fn drawn_centre(estimate: &Estimate) -> Option<f64> {
    let known = match estimate.verdict {
        Verdict::TooFew | Verdict::BelowResolution => false,
        Verdict::Sound | Verdict::Broken(_) => estimate.centre.is_finite(),
    };
    known.then_some(estimate.centre)
}

#[cfg(test)]
mod tests {
    use super::Scale;
    use instrument::figure::FigureAxis;
    use instrument::figure::FigureScale::{Linear, Logarithmic};
    use instrument::quantity::Unit;

    #[test]
    fn a_linear_scale_begins_at_zero_and_a_logarithmic_one_spans_an_octave() {
        let cases: [(&[f64], _, _); 6] = [
            (&[3.0, 8.0], Linear, (0.0, 8.0)),
            (&[4.0], Logarithmic, (8_f64.sqrt(), 32_f64.sqrt())),
            (&[1.0, 4.0, f64::NAN, 0.0], Logarithmic, (1.0, 4.0)),
            (&[f64::NAN, 0.0, -1.0], Logarithmic, (1.0, 2.0)),
            (&[], Linear, (0.0, 1.0)),
            (&[], Logarithmic, (1.0, 2.0)),
        ];
        for (values, kind, (low, high)) in cases {
            let scale = Scale::around(values.iter().copied(), kind);
            let differences = [scale.low - low, scale.high - high];
            assert!(
                differences.iter().all(|it| it.abs() < 1e-9),
                "{values:?}: {scale:?}"
            );
        }
    }

    #[test]
    fn an_axis_of_counts_begins_with_the_smallest() {
        let axis = |unit| FigureAxis::new("threads", Some(unit), Linear);
        let low = |unit| Scale::along(&axis(unit), &[2.0, 8.0]).low;
        assert_eq!((low(Unit::Count), low(Unit::Bytes)), (2.0, 0.0));
    }
}
