//! Results: the estimates of one experiment in one run, as findings and figures read them.

use crate::experiment::Definition;
use crate::figure::{FigurePoint, Series};
use crate::noise::{self, Warning};
use crate::point::{Level, Point};
use crate::sample::Batch;
use crate::statistics::moderation::Variance;
use crate::statistics::{Interval, student};
use platform::machine::Machine;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The estimates of one experiment in one run.
#[derive(Clone, Debug)]
pub struct Results<'a> {
    /// What was asked and measured.
    pub definition: &'a Definition,
    /// The machine it was measured on.
    pub machine: &'a Machine,
    /// Every point that gave samples, in the order of the plan.
    pub points: Vec<PointResult>,
}

/// What one point gave.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct PointResult {
    /// The point.
    pub point: Point,
    /// One estimate for each metric that gave samples, in the order of the definition.
    pub estimates: Vec<Estimate>,
    /// What casts doubt on them.
    pub warnings: Vec<Warning>,
    /// What the experiment said about the circumstances, each remark once.
    pub remarks: Vec<String>,
}

/// What is known of one metric at one point: a centre with its 95 % confidence interval.
///
/// The centre is the geometric mean of the medians of the processes, the interval Student's t over
/// the same medians on the log scale; where one process gave all samples it is their median, with
/// an interval by order statistics at the effective sample size.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Estimate {
    /// Name of the metric.
    pub metric: String,
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
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
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
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
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

impl PointResult {
    /// What the batches of one point give. The warnings are those `recorded` when the point was
    /// closed; of a point that never was, the batches are judged anew.
    pub fn new(
        definition: &Definition,
        point: &Point,
        batches: &[Batch],
        recorded: Option<&[Warning]>,
    ) -> Self {
        let estimates = Estimate::all(definition, batches);
        let warnings = match recorded {
            Some(warnings) => warnings.to_vec(),
            None => noise::judge(definition, &estimates, batches),
        };
        let mut remarks: Vec<String> = Vec::new();
        for remark in batches.iter().flat_map(|batch| &batch.remarks) {
            if !remarks.contains(remark) {
                remarks.push(remark.clone());
            }
        }
        Self {
            point: point.clone(),
            estimates,
            warnings,
            remarks,
        }
    }

    /// The estimate of `metric`.
    pub fn estimate(&self, metric: &str) -> Option<&Estimate> {
        self.estimates
            .iter()
            .find(|estimate| estimate.metric == metric)
    }

    /// Whether a warning touches `metric` here.
    pub fn is_doubtful(&self, metric: &str) -> bool {
        self.warnings.iter().any(|warning| warning.touches(metric))
    }
}

impl Estimate {
    /// Whether the number may be used.
    pub fn is_sound(&self) -> bool {
        self.verdict == Verdict::Sound
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

impl Results<'_> {
    /// The point with these levels, and no others left open.
    pub fn at(&self, levels: &[(&str, Level)]) -> Option<&PointResult> {
        self.points
            .iter()
            .find(|result| result.point.matches(levels))
    }

    /// Sound estimates of `metric` along the numeric axis `x` at the points with these levels, in
    /// ascending order of x.
    pub fn curve(&self, metric: &str, x: &str, levels: &[(&str, Level)]) -> Vec<(u64, &Estimate)> {
        let mut curve: Vec<_> = self
            .points
            .iter()
            .filter(|result| result.point.matches(levels))
            .filter_map(|result| Some((result.point.number(x).ok()?, result.estimate(metric)?)))
            .filter(|(_, estimate)| estimate.is_sound())
            .collect();
        curve.sort_by_key(|(x, _)| *x);
        curve
    }

    /// The estimates of `metric` along the axis `x` at the points with these levels, as one line of
    /// a figure.
    pub fn series(&self, label: &str, metric: &str, x: &str, levels: &[(&str, Level)]) -> Series {
        let mut points: Vec<_> = self
            .points
            .iter()
            .filter(|result| result.point.matches(levels))
            .filter_map(|result| {
                let estimate = result.estimate(metric)?;
                let x = result.point.get(x)?.clone();
                let doubtful = result.is_doubtful(metric) || !estimate.is_sound();
                Some(FigurePoint {
                    x,
                    estimate: estimate.clone(),
                    doubtful,
                })
            })
            .collect();
        if points.iter().all(|point| point.x.number().is_some()) {
            points.sort_by_key(|point| point.x.number());
        }
        Series {
            label: label.into(),
            points,
        }
    }
}
