//! Mapping from values to positions.

use instrument::figure::{FigureAxis, FigureScale, Series};
use instrument::quantity::Unit;
use instrument::results::{Estimate, Verdict};
use instrument::statistics::Interval;

/// A mapping from values to a range of positions, such as pixels.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Scale {
    /// Linear or logarithmic.
    pub(crate) kind: FigureScale,
    /// The value at the start.
    pub(crate) low: f64,
    /// The value at the end.
    pub(crate) high: f64,
    /// Start of the range.
    pub(crate) from: f64,
    /// End of the range; smaller than the start for an axis that points upwards.
    pub(crate) to: f64,
}

impl Scale {
    /// Position of `value`, clamped to the ends. `None` for values without a place on this
    /// scale: NaN, and on a logarithmic scale values that are not positive.
    pub(crate) fn position(&self, value: f64) -> Option<f64> {
        let part = match self.kind {
            FigureScale::Linear => (value - self.low) / (self.high - self.low),
            FigureScale::Logarithmic => (value / self.low).log2() / (self.high / self.low).log2(),
        };
        (value.is_finite() && !part.is_nan() && self.holds_sign(value))
            .then(|| self.from + part.clamp(0.0, 1.0) * (self.to - self.from))
    }

    /// True if `value` lies between the ends.
    pub(crate) fn contains(&self, value: f64) -> bool {
        self.low <= value && value <= self.high
    }

    fn holds_sign(&self, value: f64) -> bool {
        self.kind == FigureScale::Linear || value > 0.0
    }
}

/// The range of an axis: first and last value.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Domain {
    pub(crate) low: f64,
    pub(crate) high: f64,
}

impl Domain {
    /// The range of those `values` that have a place on a scale of this `kind`; one to span without any.
    pub(crate) fn around(values: impl Iterator<Item = f64>, kind: FigureScale) -> Self {
        let (low, high) = match kind {
            FigureScale::Linear => (0.0, 1.0),
            FigureScale::Logarithmic => (1.0, 2.0),
        };
        Self::of(values, kind).unwrap_or(Self { low, high })
    }

    /// The range of those `values` that have a place on a scale of this `kind`; `None` if none has.
    /// Linear scales start at zero, logarithmic scales span at least one octave.
    pub(crate) fn of(values: impl Iterator<Item = f64>, kind: FigureScale) -> Option<Self> {
        let (mut low, mut high) = (f64::INFINITY, f64::NEG_INFINITY);
        // Larger values have no unit prefix, and their differences and ratios overflow.
        for value in values.filter(|value| value.is_finite() && value.abs() < 1e150) {
            if kind == FigureScale::Linear || value > 1e-150 {
                low = low.min(value);
                high = high.max(value);
            }
        }
        (low <= high).then(|| match kind {
            FigureScale::Linear => {
                let (low, high) = (low.min(0.0), high.max(0.0));
                let high = if low < high { high } else { 1.0 };
                Self { low, high }
            }
            FigureScale::Logarithmic => {
                let short = (2.0 / (high / low)).max(1.0).sqrt();
                Self {
                    low: low / short,
                    high: high * short,
                }
            }
        })
    }

    /// The range of an axis along `numbers`, such as sizes; `None` if none has a place on it.
    pub(crate) fn along(axis: &FigureAxis, numbers: impl Iterator<Item = f64>) -> Option<Self> {
        let numbers: Vec<f64> = numbers.collect();
        let smallest = numbers.iter().copied().fold(f64::INFINITY, f64::min);
        let mut domain = Self::of(numbers.into_iter(), axis.scale)?;
        // There is no place with 0 threads or 0 files.
        if axis.unit == Some(Unit::Count) && (1.0..domain.high).contains(&smallest) {
            domain.low = smallest;
        }
        Some(domain)
    }

    /// The range of the y axis of `series`: all centres, and intervals and processes as far as they
    /// leave the centres distinguishable.
    pub(crate) fn of_estimates(series: &[Series], kind: FigureScale) -> Self {
        let estimates = || {
            series
                .iter()
                .flat_map(|series| &series.points)
                .map(|p| &p.estimate)
        };
        let centres = Self::around(estimates().filter_map(drawn_centre), kind);
        let room = match kind {
            FigureScale::Linear => {
                let quarter = (centres.high - centres.low) / 4.0;
                Self {
                    low: centres.low - quarter,
                    high: centres.high + quarter,
                }
            }
            FigureScale::Logarithmic => Self {
                low: centres.low / 2.0,
                high: centres.high * 2.0,
            },
        };
        let ends = estimates().filter_map(|estimate| estimate.interval);
        let ends = ends.flat_map(|Interval { low, high }| [low, high]);
        let dots = estimates().flat_map(|estimate| estimate.by_process.iter().copied());
        let all = estimates().filter_map(drawn_centre).chain(ends).chain(dots);
        let near = all.filter(|value| room.low <= *value && *value <= room.high);
        Self::around(near, kind).padded(kind)
    }

    /// The range with some space before the first and after the last value.
    pub(crate) fn padded(self, kind: FigureScale) -> Self {
        match kind {
            FigureScale::Linear => {
                let air = (self.high - self.low) * 0.04;
                let low = if self.low < 0.0 {
                    self.low - air
                } else {
                    self.low
                };
                Self {
                    low,
                    high: self.high + air,
                }
            }
            FigureScale::Logarithmic => {
                let air = (self.high / self.low).powf(0.04);
                Self {
                    low: self.low / air,
                    high: self.high * air,
                }
            }
        }
    }

    /// The scale between two positions.
    pub(crate) fn between(self, kind: FigureScale, from: f64, to: f64) -> Scale {
        Scale {
            kind,
            low: self.low,
            high: self.high,
            from,
            to,
        }
    }
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
    use super::Domain;
    use instrument::figure::FigureAxis;
    use instrument::figure::FigureScale::{Linear, Logarithmic};
    use instrument::quantity::Unit;

    #[test]
    fn a_linear_scale_begins_at_zero_and_a_logarithmic_one_spans_an_octave() {
        let linear = Domain::around([3.0, 8.0].into_iter(), Linear);
        assert_eq!(
            linear,
            Domain {
                low: 0.0,
                high: 8.0
            }
        );
        let logarithmic = Domain::around([4.0].into_iter(), Logarithmic);
        assert!((logarithmic.high / logarithmic.low - 2.0).abs() < 1e-9);
    }

    #[test]
    fn what_has_no_place_gets_none() {
        let domain = Domain::around([1.0, 4.0, f64::NAN, 0.0].into_iter(), Logarithmic);
        let scale = domain.between(Logarithmic, 0.0, 100.0);
        assert_eq!(scale.position(2.0), Some(50.0));
        assert_eq!(scale.position(1e9), Some(100.0));
        assert_eq!(scale.position(0.0), None);
        assert_eq!(scale.position(f64::NAN), None);
    }

    #[test]
    fn no_values_still_make_a_scale() {
        for kind in [Linear, Logarithmic] {
            let domain = Domain::around(std::iter::empty(), kind);
            assert!(domain.low < domain.high);
        }
    }

    #[test]
    fn what_has_no_place_gives_no_range() {
        let none = [f64::NAN, 0.0, -1.0].into_iter();
        assert!(Domain::of(none.clone(), Logarithmic).is_none());
        assert!(Domain::of(none, Linear).is_some());
    }

    #[test]
    fn an_axis_of_counts_begins_with_the_smallest() {
        let axis = |unit| FigureAxis {
            title: "threads".into(),
            unit: Some(unit),
            scale: Linear,
        };
        let low = |unit| {
            let domain = Domain::along(&axis(unit), [2.0, 8.0].into_iter());
            domain.map(|domain| domain.low)
        };
        assert_eq!(low(Unit::Count), Some(2.0));
        assert_eq!(low(Unit::Bytes), Some(0.0));
    }
}
