//! Estimates: what is known of a metric at a point.

mod from_batches;

use crate::quantity::{Quantity, Unit};
use crate::statistics::moderation::Variance;
use crate::statistics::{Interval, student};
use schemars::JsonSchema;
use serde::Serialize;

/// What is known of one metric at one point: a centre with its 95 % confidence interval.
///
/// The centre is the geometric mean of the medians of the processes, the interval Student's t over
/// the same medians on the log scale.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Estimate {
    /// Name of the metric.
    pub metric: String,
    /// The metric's unit, which the definition states.
    #[serde(skip)]
    pub unit: Unit,
    /// In the metric's unit.
    pub centre: f64,
    /// 95 % confidence interval in the metric's unit; `None` while there are too few processes.
    pub interval: Option<Interval>,
    /// The same value with everything in it that the difference method takes off; `None` for a
    /// value that is not timed.
    pub raw: Option<f64>,
    /// Number of fresh processes.
    pub processes: usize,
    /// Number of samples in all processes.
    pub samples: usize,
    /// The median of each process, in the metric's unit and in the order taken.
    pub by_process: Vec<f64>,
    /// CPU time over wall time, 1 being one processor in full use; `None` where it is not timed.
    pub cpu_share: Option<f64>,
    /// The part of the CPU time spent in the kernel, from 0 to 1.
    pub system_share: Option<f64>,
    /// For latencies.
    pub percentiles: Option<Percentiles>,
    /// Whether the number may be used at all.
    pub verdict: Verdict,
}

/// Percentiles of single operations in ns: the median over the processes of each.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, JsonSchema)]
pub struct Percentiles {
    /// 5 % took no longer.
    pub p5_ns: f64,
    /// Half took no longer.
    pub p50_ns: f64,
    /// 95 % took no longer.
    pub p95_ns: f64,
    /// 99 % took no longer.
    pub p99_ns: f64,
}

/// Whether an estimate may be used.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Verdict {
    /// It may.
    Sound,
    /// The net cost is negative or smaller than its interval: all that is known is that it is
    /// smaller than this method can tell.
    BelowResolution,
    /// It contradicts physics or itself, and why.
    Broken(String),
}

impl Estimate {
    /// Whether the number may be used.
    pub fn is_sound(&self) -> bool {
        self.verdict == Verdict::Sound
    }

    /// The value with its unit and interval.
    pub fn quantity(&self) -> Quantity {
        Quantity {
            value: self.centre,
            interval: self.interval,
            unit: self.unit,
        }
    }

    /// Half the width of the interval over the centre; `None` without an interval, or about zero.
    pub fn relative_half_width(&self) -> Option<f64> {
        let relative = self.interval?.half_width() / self.centre.abs();
        relative.is_finite().then_some(relative)
    }

    /// How well this session knows the logarithm of the value, by its own processes; `None` where a
    /// single process stands for all that could have been started.
    pub fn error(&self) -> Option<Variance> {
        // A sample is a thousand times as long as the clock's error: nothing is known better.
        const CLOCK: f64 = 0.001;
        let logarithms: Vec<f64> = self
            .by_process
            .iter()
            // Values that noise took below zero have no logarithm; to first order it is the
            // distance from the centre over the centre.
            .map(|value| match value / self.centre {
                ratio if self.by_process.iter().all(|value| *value > 0.0) => ratio.ln(),
                ratio => ratio - 1.0,
            })
            .collect();
        Some(Variance {
            value: student::standard_error(&logarithms)?.max(CLOCK).powi(2),
            degrees: (logarithms.len() - 1) as f64,
        })
    }

    /// Whether the value is known to within `target` of itself (0.02 for ±2 %).
    pub fn is_within(&self, target: f64) -> bool {
        self.interval
            .is_some_and(|interval| interval.half_width() <= target * self.centre.abs())
    }
}

impl From<&Estimate> for Quantity {
    fn from(estimate: &Estimate) -> Self {
        estimate.quantity()
    }
}
