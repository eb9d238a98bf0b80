//! An experiment: the values at each of its points.

use crate::{ExperimentAnalysis, show};
use instrument::experiment::Definition;
use instrument::noise::Warning;
use instrument::point::{Level, Point};
use instrument::results::{Estimate, PointResult};
use record::Failure;
use schemars::JsonSchema;
use serde::Serialize;
use std::collections::BTreeMap;

/// An experiment and the values at each of its points.
#[derive(Serialize, JsonSchema)]
pub(super) struct ExperimentJson<'a> {
    #[serde(flatten)]
    definition: &'a Definition,
    /// The reason if it could not run at all.
    skipped: Option<&'a str>,
    points: Vec<PointJson<'a>>,
    failures: Vec<FailureJson<'a>>,
}

impl<'a> ExperimentJson<'a> {
    pub(super) fn new(experiment: &'a ExperimentAnalysis) -> Self {
        let failure = |(point, failure): &(&'a Point, Failure<'a>)| FailureJson {
            levels: point.levels().collect(),
            reason: failure.reason(),
        };
        Self {
            definition: experiment.definition,
            skipped: experiment.skipped,
            points: (experiment.points.iter())
                .map(|point| PointJson::new(experiment.definition, point))
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
    fn new(definition: &Definition, point: &'a PointResult) -> Self {
        let estimate = |estimate: &'a Estimate| EstimateJson {
            estimate,
            vague: show::is_vague(estimate),
            doubtful: point.is_doubtful(&estimate.metric),
        };
        let warning = |warning: &'a Warning| WarningJson {
            warning,
            text: show::warning(definition, warning),
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
