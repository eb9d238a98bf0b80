//! Estimates: the value of a metric at a point, with its interval.

mod centre;
mod from_batches;
mod ratio;

use crate::quantity::{Quantity, Unit};
use crate::statistics::moderation::Variance;
use crate::statistics::{Interval, next_run, student, summary};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The fewest processes on which an estimate may rest.
pub const FEWEST_PROCESSES: usize = 5;
/// The fewest passes of a run in which these processes must have run.
pub const FEWEST_PASSES: usize = 3;

/// The value of one metric at one point: a centre with its 95 % interval.
///
/// The centre is the cost at the highest clock that the run sustained, as far as that is known, and the interval
/// predicts where another run of the same command within the hour puts it
/// ([`crate::statistics::prediction`]).
///
/// A value that a publication printed has no passes: its centre is the printed number, and it has no
/// interval.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Estimate {
    /// Name of the metric.
    pub metric: String,
    /// The metric's unit, which the definition states.
    pub unit: Unit,
    /// The estimate, in the metric's unit.
    #[serde(rename = "value")]
    pub centre: f64,
    /// 95 % interval in the metric's unit; `None` with too few processes, and for a printed value.
    pub interval: Option<Interval>,
    /// The same value including the costs that the difference method removes; `None` for a value
    /// that is not timed.
    pub raw: Option<f64>,
    /// The mean without correction, on a processor that others may have slowed
    /// down; `None` for a value that is not timed.
    pub uncorrected: Option<f64>,
    /// Number of fresh processes.
    pub processes: usize,
    /// Number of passes of the run in which they ran; 0 for a printed value.
    pub passes: usize,
    /// Number of samples in all processes.
    pub samples: usize,
    /// Number of timings that no work can have, which were left out: below zero, or a thousand times
    /// their neighbours.
    pub impossible: usize,
    /// The share of the legs behind the value that were disturbed, from 0 to 1: something shared the
    /// core, or its state is not known. `None` if nothing is known of any.
    pub disturbed: Option<f64>,
    /// The half-width that the interval owes to the next run's clock, as a share of the value: all
    /// values of a run share it, so it does not blur their ratios.
    pub by_next_clock: f64,
    /// The growth of the cost with the duration of a cycle: from 0 (memory, devices) to 1 (the core).
    /// `None` if the run does not show it, since its clock changed too little or the work mostly waits;
    /// zero for what is not timed.
    pub clock_slope: Option<f64>,
    /// The value of each process, in the metric's unit, in the order of measurement.
    pub by_process: Vec<f64>,
    /// The pass of each process; empty for a printed value.
    pub pass_of: Vec<u32>,
    /// CPU time over wall time, where 1 is one fully used processor; `None` if the metric is not
    /// timed.
    pub cpu_share: Option<f64>,
    /// Share of the CPU time spent in the kernel, from 0 to 1.
    pub system_share: Option<f64>,
    /// Percentiles; latencies only.
    pub percentiles: Option<Percentiles>,
    /// Verdict on the number's usability.
    #[serde(flatten)]
    pub verdict: Verdict,
}

/// Percentiles of single operations in ns: the median over the processes of each percentile.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Percentiles {
    /// 5 % of the operations took at most this long.
    pub p5_ns: f64,
    /// 50 % took at most this long.
    pub p50_ns: f64,
    /// 95 % took at most this long.
    pub p95_ns: f64,
    /// 99 % took at most this long.
    pub p99_ns: f64,
}

/// Verdict on an estimate's usability.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case", tag = "verdict", content = "reason")]
pub enum Verdict {
    /// Usable.
    #[default]
    Sound,
    /// Seen in too few processes or passes for an estimate ([`FEWEST_PROCESSES`]).
    TooFew,
    /// The net cost is negative or smaller than its interval. It is known only to be smaller than
    /// the method can resolve.
    BelowResolution,
    /// The number contradicts physics or itself, for the given reason.
    Broken(String),
}

impl Estimate {
    /// True if the number is usable.
    pub fn is_sound(&self) -> bool {
        self.verdict == Verdict::Sound
    }

    /// The value with its unit and interval.
    pub fn quantity(&self) -> Quantity {
        Quantity::new(self.centre, self.interval, self.unit)
    }

    /// Half the width of the interval over the centre; `None` without an interval or if the centre
    /// is about zero.
    pub fn relative_half_width(&self) -> Option<f64> {
        self.interval?.relative_to(self.centre)
    }

    /// The precision that a profile's target asks for: half the width of the interval over the centre, or of a share
    /// in points, since 0.3 % ± 0.1 % is known well enough. `None` without an interval or if the centre is about
    /// zero.
    pub(crate) fn precision(&self) -> Option<f64> {
        match self.unit {
            Unit::Share => Some(self.interval?.half_width()),
            _ => self.relative_half_width(),
        }
    }

    /// The error variance of the value's logarithm within this session, at its clock; `None` if it is
    /// not known.
    pub fn error(&self) -> Option<Variance> {
        // The interval covers the error of this run and as much again of the next.
        let interval = self.interval?;
        let half_width = if interval.low > 0.0 {
            (interval.high / interval.low).ln() / 2.0
        } else {
            interval.half_width() / self.centre.abs()
        };
        let half_width = (half_width - self.by_next_clock).max(0.0);
        let degrees = next_run::degrees(self.passes)?;
        let t = student::t_quantile(degrees)?;
        let value = (half_width / t).powi(2) / 2.0;
        value.is_finite().then_some(Variance { value, degrees })
    }

    /// True if more samples are not needed for ±`target`: they do not show the next run's clock.
    pub(crate) fn is_settled(&self, target: f64) -> bool {
        let precision = self.precision();
        precision.is_some_and(|precision| precision - self.by_next_clock <= target)
    }

    /// True if the interval is within ±`target` of the value (0.02 for ±2 %, and for two points of a share).
    pub fn is_within(&self, target: f64) -> bool {
        self.precision()
            .is_some_and(|precision| precision <= target)
    }

    /// The value of one pass: the median of its processes. `None` if none ran in it.
    pub(crate) fn of_pass(&self, pass: u32) -> Option<f64> {
        let processes = self.pass_of.iter().zip(&self.by_process);
        let of_pass = processes.filter(|(of, _)| **of == pass);
        summary::median(&of_pass.map(|(_, value)| *value).collect::<Vec<_>>())
    }

    /// The estimate with this value, as if it had no error.
    pub(crate) fn exactly(&self, value: f64) -> Self {
        Self {
            centre: value,
            interval: Interval::new(value, value),
            by_next_clock: 0.0,
            clock_slope: None,
            raw: self.raw.map(|raw| raw / self.centre * value),
            uncorrected: self.uncorrected.map(|mean| mean / self.centre * value),
            by_process: vec![value],
            pass_of: vec![0],
            processes: 1,
            passes: 1,
            ..self.clone()
        }
    }

    /// The value, its interval and its processes times a positive `factor`.
    pub(crate) fn times(&self, factor: f64) -> Self {
        let times = |value: f64| value * factor;
        Self {
            centre: times(self.centre),
            interval: self.interval.and_then(|interval| interval.map(times)),
            raw: self.raw.map(times),
            uncorrected: self.uncorrected.map(times),
            by_process: self.by_process.iter().copied().map(times).collect(),
            percentiles: self.percentiles.map(|of| Percentiles {
                p5_ns: times(of.p5_ns),
                p50_ns: times(of.p50_ns),
                p95_ns: times(of.p95_ns),
                p99_ns: times(of.p99_ns),
            }),
            ..self.clone()
        }
    }
}

/// A quantity that a chart draws as an estimate, known to be sound: no process of this run gave it.
impl From<Quantity> for Estimate {
    fn from(quantity: Quantity) -> Self {
        Self {
            unit: quantity.unit,
            centre: quantity.value,
            interval: quantity.interval,
            ..Self::default()
        }
    }
}

impl From<&Estimate> for Quantity {
    fn from(estimate: &Estimate) -> Self {
        estimate.quantity()
    }
}

#[cfg(test)]
mod tests {
    use super::Estimate;
    use crate::quantity::{Quantity, Unit};
    use crate::statistics::Interval;

    /// Values of one run move together with its clock.
    #[test]
    fn the_next_clock_widens_a_value_and_not_its_error() {
        let estimate = |by_next_clock: f64| {
            let reach = 0.02 + by_next_clock;
            let interval = Interval::new(100.0 * (-reach).exp(), 100.0 * reach.exp());
            Estimate {
                by_next_clock,
                passes: 10,
                ..Quantity::new(100.0, interval, Unit::Nanoseconds).into()
            }
        };
        let (known, unknown) = (estimate(0.0), estimate(0.14));
        assert!(!unknown.is_within(0.05) && unknown.is_settled(0.05));
        let [known, unknown] = [known, unknown].map(|of| of.error().unwrap().value);
        assert!((known / unknown - 1.0).abs() < 1e-9, "{known} {unknown}");
    }

    #[test]
    fn a_share_is_known_in_points_and_a_value_that_never_varies_exactly() {
        let is_within = |value, [low, high]: [f64; 2], unit| {
            let interval = Interval::new(low, high);
            let estimate = Estimate::from(Quantity::new(value, interval, unit));
            (estimate.is_within(0.05), estimate.is_settled(0.05))
        };
        for (value, ends, unit, expected) in [
            (0.003, [0.001, 0.005], Unit::Share, true),
            (0.5, [0.44, 0.56], Unit::Share, false),
            (0.003, [0.001, 0.005], Unit::Count, false),
            (0.0, [0.0, 0.0], Unit::Count, true),
            (0.0, [0.0, 1.0], Unit::Count, false),
        ] {
            let found = is_within(value, ends, unit);
            assert_eq!(found, (expected, expected), "{value} {ends:?}");
        }
    }
}
