//! The page's view of an experiment.

use super::anchor::Anchors;
use super::document::{LinkTargets, filled, inline, part};
use super::figure::FigureView;
use super::packed::{Parts, keep};
use super::table::Table;
use crate::document::{Blocks, Text};
use crate::lists::{by_key, joined};
use crate::view::run::findings;
use crate::{ExperimentAnalysis, show};
use instrument::experiment::Definition;

/// An experiment, ready for its template.
pub(super) struct ExperimentView<'a> {
    pub(super) definition: &'a Definition,
    pub(super) id: String,
    /// What a reader knows of it without unfolding it.
    pub(super) brief: String,
    pub(super) findings: String,
    pub(super) figures: Vec<FigureView<'a>>,
    pub(super) table: Table<'a>,
    /// The packed part that contains the table, if it is collapsed at first.
    pub(super) folded: Option<usize>,
    /// Points without a measurement, each with the reason.
    pub(super) missing: String,
    pub(super) method: String,
}

pub(super) struct GroupView<'a> {
    pub(super) id: String,
    pub(super) name: &'a str,
    pub(super) experiments: Vec<ExperimentView<'a>>,
}

impl<'a> ExperimentView<'a> {
    fn new(
        experiment: &'a ExperimentAnalysis<'_>,
        clock_hz: Option<f64>,
        anchors: &mut Anchors,
        parts: &mut Parts,
    ) -> Self {
        let definition = experiment.definition;
        let table = Table::new(experiment, clock_hz);
        let folded = (!table.is_short()).then(|| keep(parts, filled(&table)));
        let missing = experiment.failures.iter().map(|(point, failure)| {
            let place = show::point(definition, point);
            joined(": ", [&*place, failure.reason()])
        });
        let method = [
            definition.method.as_str(),
            show::isolation(definition.isolation),
            &format!("Source: {}", definition.source),
        ];
        let html = |blocks| part(&blocks, "", &LinkTargets::new());
        Self {
            definition,
            id: anchors.take(&definition.id),
            brief: inline(&brief(experiment)),
            findings: html(findings(&experiment.findings)),
            figures: experiment
                .figures
                .iter()
                .map(|figure| FigureView::new(&definition.id, figure, anchors, parts))
                .collect(),
            folded,
            table,
            missing: html(Blocks::default().list(missing)),
            method: html(Blocks::default().say(method)),
        }
    }
}

/// The first sentence that is decided, else the reason why there is none, or the question.
fn brief(experiment: &ExperimentAnalysis<'_>) -> Text {
    let mut decided = experiment.findings.iter();
    let first = decided.find(|finding| !finding.is_undecided());
    match (first, experiment.skipped) {
        (Some(finding), _) => (&finding.sentence).into(),
        (None, Some(reason)) => format!("Not measured: {reason}").into(),
        (None, None) => experiment.definition.question.as_str().into(),
    }
}

/// Experiments by group, in the order of the run.
pub(super) fn groups<'a>(
    experiments: &'a [ExperimentAnalysis<'_>],
    clock_hz: Option<f64>,
    anchors: &mut Anchors,
    parts: &mut Parts,
) -> Vec<GroupView<'a>> {
    let views = experiments.iter().map(|experiment| {
        let view = ExperimentView::new(experiment, clock_hz, anchors, parts);
        (experiment.definition.group(), view)
    });
    let groups = by_key(views)
        .into_iter()
        .map(|(name, experiments)| GroupView {
            id: anchors.take(name),
            name,
            experiments,
        });
    groups.collect()
}
