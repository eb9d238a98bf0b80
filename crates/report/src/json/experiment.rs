//! An experiment: the values at each of its points.

use crate::{ExperimentAnalysis, show};
use instrument::experiment::{Better, Isolation, Metric};
use instrument::noise::Warning;
use instrument::point::{Axis, Level, Point};
use instrument::quantity::Unit;
use instrument::results::{Estimate, Percentiles, PointResult, Verdict};
use instrument::statistics::Interval;
use record::Failure;
use schemars::JsonSchema;
use serde::Serialize;
use std::collections::BTreeMap;

#[derive(Serialize, JsonSchema)]
pub(super) struct ExperimentJson<'a> {
    id: &'a str,
    title: &'a str,
    question: &'a str,
    isolation: Isolation,
    axes: &'a [Axis],
    metrics: Vec<MetricJson<'a>>,
    /// The reason if it could not run at all.
    skipped: Option<&'a str>,
    points: Vec<PointJson<'a>>,
    failures: Vec<FailureJson<'a>>,
}

impl<'a> ExperimentJson<'a> {
    pub(super) fn new(experiment: &'a ExperimentAnalysis) -> Self {
        let definition = experiment.definition;
        let failure = |(point, failure): &(&'a Point, Failure<'a>)| FailureJson {
            levels: point.levels().collect(),
            reason: failure.reason(),
        };
        Self {
            id: &definition.id,
            title: &definition.title,
            question: &definition.question,
            isolation: definition.isolation,
            axes: &definition.axes,
            metrics: definition.metrics.iter().map(MetricJson::new).collect(),
            skipped: experiment.skipped,
            points: experiment
                .points
                .iter()
                .map(|point| PointJson::new(experiment, point))
                .collect(),
            failures: experiment.failures.iter().map(failure).collect(),
        }
    }
}

#[derive(Serialize, JsonSchema)]
struct MetricJson<'a> {
    name: &'a str,
    title: &'a str,
    unit: Unit,
    better: Better,
    version: u32,
}

impl<'a> MetricJson<'a> {
    fn new(metric: &'a Metric) -> Self {
        Self {
            name: &metric.name,
            title: &metric.title,
            unit: metric.unit,
            better: metric.better,
            version: metric.version,
        }
    }
}

#[derive(Serialize, JsonSchema)]
struct PointJson<'a> {
    /// Axis to level: bytes, a count, or a choice.
    levels: BTreeMap<&'a str, &'a Level>,
    estimates: Vec<EstimateJson<'a>>,
    warnings: Vec<WarningJson<'a>>,
    remarks: &'a [String],
}

#[derive(Serialize, JsonSchema)]
struct EstimateJson<'a> {
    metric: &'a str,
    /// `null` if the definition does not name the metric.
    unit: Option<Unit>,
    value: f64,
    /// 95 % confidence interval.
    interval: Option<Interval>,
    /// `sound`, `too_few` (processes for an estimate), `below_resolution` or `broken`.
    verdict: &'static str,
    /// The reason if it is broken.
    reason: Option<&'a str>,
    /// True if it is sound and its interval reaches further from it than half of it: readers are shown what is
    /// known in its place.
    vague: bool,
    /// True if a warning of the point concerns it.
    doubtful: bool,
    /// The value including what each timing pays once.
    raw: Option<f64>,
    /// The mean that a program met during the run, on a processor that others may have slowed
    /// down. The value itself is that at full speed.
    uncorrected: Option<f64>,
    processes: usize,
    /// The passes of the run in which the processes ran; 0 for a printed value.
    passes: usize,
    samples: usize,
    /// Timings that no work can have, which were left out: below zero, or a thousand times their
    /// neighbours.
    impossible: usize,
    /// The share of the legs behind the value that were disturbed, from 0 to 1: something shared the
    /// core, or its state is not known. `null` if nothing is known of any.
    disturbed: Option<f64>,
    /// The value of each process, in measuring order.
    by_process: &'a [f64],
    /// CPU time divided by wall time.
    cpu_share: Option<f64>,
    /// The kernel's share of the CPU time.
    system_share: Option<f64>,
    percentiles: Option<Percentiles>,
}

#[derive(Serialize, JsonSchema)]
struct WarningJson<'a> {
    /// The warning with its numbers, keyed by its kind.
    warning: &'a Warning,
    /// Text for readers.
    text: String,
    /// Remedy, as text for readers.
    advice: &'static str,
}

#[derive(Serialize, JsonSchema)]
struct FailureJson<'a> {
    levels: BTreeMap<&'a str, &'a Level>,
    reason: &'a str,
}

impl<'a> PointJson<'a> {
    fn new(experiment: &ExperimentAnalysis, point: &'a PointResult) -> Self {
        let estimate = |estimate: &'a Estimate| {
            let (verdict, reason) = match &estimate.verdict {
                Verdict::Sound => ("sound", None),
                Verdict::TooFew => ("too_few", None),
                Verdict::BelowResolution => ("below_resolution", None),
                Verdict::Broken(reason) => ("broken", Some(reason.as_str())),
            };
            EstimateJson {
                metric: &estimate.metric,
                unit: experiment
                    .definition
                    .metric(&estimate.metric)
                    .map(|metric| metric.unit),
                value: estimate.centre,
                interval: estimate.interval,
                verdict,
                reason,
                vague: show::is_vague(estimate),
                doubtful: point.is_doubtful(&estimate.metric),
                raw: estimate.raw,
                uncorrected: estimate.uncorrected,
                processes: estimate.processes,
                passes: estimate.passes,
                samples: estimate.samples,
                impossible: estimate.impossible,
                disturbed: estimate.disturbed,
                by_process: &estimate.by_process,
                cpu_share: estimate.cpu_share,
                system_share: estimate.system_share,
                percentiles: estimate.percentiles,
            }
        };
        let warning = |warning: &'a Warning| WarningJson {
            warning,
            text: show::warning(experiment.definition, warning),
            advice: warning.advice(),
        };
        Self {
            levels: point.point.levels().collect(),
            estimates: point.estimates.iter().map(estimate).collect(),
            warnings: point.warnings.iter().map(warning).collect(),
            remarks: &point.remarks,
        }
    }
}
