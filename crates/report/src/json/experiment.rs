//! An experiment: the values at each of its points.

use crate::{ExperimentAnalysis, show};
use instrument::experiment::{Isolation, Metric};
use instrument::noise::Warning;
use instrument::point::{Axis, Level, Point};
use instrument::results::{Estimate, PointResult};
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
    metrics: &'a [Metric],
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
            metrics: &definition.metrics,
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
struct PointJson<'a> {
    /// Axis to level: bytes, a count, or a choice.
    levels: BTreeMap<&'a str, &'a Level>,
    estimates: Vec<EstimateJson<'a>>,
    warnings: Vec<WarningJson<'a>>,
    remarks: &'a [String],
}

#[derive(Serialize, JsonSchema)]
struct EstimateJson<'a> {
    #[serde(flatten)]
    estimate: &'a Estimate,
    /// True if it is sound and its interval reaches further from it than half of it: readers are shown what is
    /// known in its place.
    vague: bool,
    /// True if a warning of the point concerns it.
    doubtful: bool,
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
        let estimate = |estimate: &'a Estimate| EstimateJson {
            estimate,
            vague: show::is_vague(estimate),
            doubtful: point.is_doubtful(&estimate.metric),
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
