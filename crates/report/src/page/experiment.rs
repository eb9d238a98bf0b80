//! The page's view of an experiment.

use super::anchor::Anchors;
use super::document::{Places, part};
use super::figure::FigureView;
use super::packed::Parts;
use super::table::Table;
use crate::document::Blocks;
use crate::view::run::finding;
use crate::{ExperimentAnalysis, show};
use askama::Template;
use instrument::experiment::Isolation;
use instrument::finding::Finding;

/// An experiment, ready for its template.
pub(super) struct ExperimentView {
    pub(super) id: String,
    pub(super) name: String,
    pub(super) title: String,
    pub(super) question: String,
    pub(super) skipped: Option<String>,
    /// Its first finding, and the others.
    pub(super) first_finding: String,
    pub(super) findings: String,
    pub(super) figures: Vec<FigureView>,
    pub(super) table: Table,
    /// The packed part that contains the table, if it is collapsed at first.
    pub(super) folded: Option<usize>,
    /// Points without a measurement, each with the reason.
    pub(super) failures: Vec<(String, String)>,
    /// Contents of the folded part of its chapter, in words.
    pub(super) rest: String,
    pub(super) method: String,
    pub(super) isolation: &'static str,
    pub(super) source: String,
    /// Name and version of each metric.
    pub(super) metrics: Vec<(String, u32)>,
}

/// The experiments of one group.
pub(super) struct GroupView {
    pub(super) id: String,
    pub(super) name: String,
    pub(super) experiments: Vec<ExperimentView>,
}

impl ExperimentView {
    fn new(
        experiment: &ExperimentAnalysis<'_>,
        clock_hz: Option<f64>,
        anchors: &mut Anchors,
        parts: &mut Parts,
    ) -> askama::Result<Self> {
        let definition = experiment.definition;
        let failures = experiment.failures.iter();
        let table = Table::new(experiment, clock_hz);
        let folded = (!table.is_short()).then(|| table.render());
        Ok(Self {
            id: anchors.take(&definition.id),
            name: definition.id.clone(),
            title: definition.title.clone(),
            question: definition.question.clone(),
            skipped: experiment.skipped.map(str::to_owned),
            first_finding: findings(&experiment.findings[..experiment.findings.len().min(1)]),
            findings: findings(experiment.findings.get(1..).unwrap_or_default()),
            figures: experiment
                .figures
                .iter()
                .map(|figure| FigureView::new(&definition.id, figure, anchors, parts))
                .collect(),
            folded: folded.transpose()?.map(|html| parts.keep(html)),
            table,
            failures: failures
                .map(|(point, failure)| {
                    (show::point(definition, point), failure.reason().to_owned())
                })
                .collect(),
            rest: rest(experiment),
            method: definition.method.clone(),
            isolation: match definition.isolation {
                Isolation::FreshProcess => "Each batch of samples is taken by a fresh process.",
                Isolation::OneProcess => "One process took all samples of a point.",
            },
            source: definition.source.clone(),
            metrics: definition
                .metrics
                .iter()
                .map(|metric| (metric.title.clone(), metric.version))
                .collect(),
        })
    }
}

/// The findings with the evidence for their grades.
fn findings(findings: &[Finding]) -> String {
    let items = findings.iter().map(|it| finding(it, None));
    part(&Blocks::default().items(items), "", &Places::new())
}

/// Contents of a chapter beside its first sentence and chart: `4 more findings, 2 more charts, 62
/// estimates, method`.
fn rest(experiment: &ExperimentAnalysis<'_>) -> String {
    let counted = |count: usize, word: &str| match count {
        0 => None,
        1 => Some(format!("1 {word}")),
        count => Some(format!("{count} {word}s")),
    };
    let estimates = experiment.points.iter().map(|point| point.estimates.len());
    let parts = [
        counted(experiment.findings.len().saturating_sub(1), "more finding"),
        counted(experiment.figures.len().saturating_sub(1), "more chart"),
        counted(estimates.sum(), "estimate"),
        counted(experiment.failures.len(), "failure"),
        Some("method and source".into()),
    ];
    let mut words = parts.into_iter().flatten().collect::<Vec<_>>().join(", ");
    if let Some(first) = words.get_mut(..1) {
        first.make_ascii_uppercase();
    }
    words
}

/// Experiments by group, in the order of the run.
pub(super) fn groups(
    experiments: &[ExperimentAnalysis<'_>],
    clock_hz: Option<f64>,
    anchors: &mut Anchors,
    parts: &mut Parts,
) -> askama::Result<Vec<GroupView>> {
    let mut groups: Vec<GroupView> = Vec::new();
    for experiment in experiments {
        let name = experiment.definition.group();
        let view = ExperimentView::new(experiment, clock_hz, anchors, parts)?;
        match groups.iter_mut().find(|group| group.name == name) {
            Some(group) => group.experiments.push(view),
            None => groups.push(GroupView {
                id: anchors.take(name),
                name: name.to_owned(),
                experiments: vec![view],
            }),
        }
    }
    Ok(groups)
}
