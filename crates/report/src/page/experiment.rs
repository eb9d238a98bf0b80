//! The page's view of an experiment.

use super::anchor::Anchors;
use super::document::{LinkTargets, part};
use super::figure::FigureView;
use super::packed::Parts;
use super::table::Table;
use crate::lists::{by_key, capitalised};
use crate::view::run::findings;
use crate::{ExperimentAnalysis, show};
use askama::Template;
use instrument::experiment::{Definition, Isolation};
use instrument::quantity::counted;

/// An experiment, ready for its template.
pub(super) struct ExperimentView<'a> {
    pub(super) definition: &'a Definition,
    pub(super) skipped: Option<&'a str>,
    pub(super) id: String,
    /// Its first finding, and the others.
    pub(super) first_finding: String,
    pub(super) findings: String,
    pub(super) figures: Vec<FigureView<'a>>,
    pub(super) table: Table<'a>,
    /// The packed part that contains the table, if it is collapsed at first.
    pub(super) folded: Option<usize>,
    /// Points without a measurement, each with the reason.
    pub(super) failures: Vec<(String, &'a str)>,
    /// Contents of the folded part of its chapter, in words.
    pub(super) rest: String,
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
    ) -> askama::Result<Self> {
        let definition = experiment.definition;
        let table = Table::new(experiment, clock_hz);
        let folded = (!table.is_short()).then(|| table.render());
        let has_first = experiment
            .findings
            .first()
            .is_some_and(|it| !it.is_undecided());
        let (first, others) = experiment.findings.split_at(usize::from(has_first));
        let painted = |all| part(&findings(all), "", &LinkTargets::new());
        let failures = experiment.failures.iter();
        Ok(Self {
            definition,
            skipped: experiment.skipped,
            id: anchors.take(&definition.id),
            first_finding: painted(first),
            findings: painted(others),
            figures: experiment
                .figures
                .iter()
                .map(|figure| FigureView::new(&definition.id, figure, anchors, parts))
                .collect(),
            folded: folded.transpose()?.map(|html| parts.keep(html)),
            table,
            failures: failures
                .map(|(point, failure)| (show::point(definition, point), failure.reason()))
                .collect(),
            rest: rest(experiment),
        })
    }

    pub(super) fn isolation(&self) -> &'static str {
        match self.definition.isolation {
            Isolation::FreshProcess => "Each batch of samples is taken by a fresh process.",
            Isolation::OneProcess => "One process took all samples of a point.",
        }
    }
}

/// Contents of a chapter next to its first sentence and chart: `4 more findings, 2 more charts, 62
/// estimates, method`.
fn rest(experiment: &ExperimentAnalysis<'_>) -> String {
    let estimates = experiment.points.iter().map(|point| point.estimates.len());
    let findings = experiment.findings.iter();
    let decided = findings.filter(|it| !it.is_undecided()).count();
    let counts = [
        (decided.saturating_sub(1), "more finding"),
        (experiment.figures.len().saturating_sub(1), "more chart"),
        (estimates.sum(), "estimate"),
        (experiment.failures.len(), "failure"),
    ];
    let parts = counts.into_iter().filter(|(count, _)| *count > 0);
    let parts = parts.map(|(count, what)| counted(count, what) + ", ");
    capitalised(&(parts.collect::<String>() + "method and source"))
}

/// Experiments by group, in the order of the run.
pub(super) fn groups<'a>(
    experiments: &'a [ExperimentAnalysis<'_>],
    clock_hz: Option<f64>,
    anchors: &mut Anchors,
    parts: &mut Parts,
) -> askama::Result<Vec<GroupView<'a>>> {
    let views = experiments.iter().map(|experiment| {
        let view = ExperimentView::new(experiment, clock_hz, anchors, parts)?;
        Ok((experiment.definition.group(), view))
    });
    let views: askama::Result<Vec<_>> = views.collect();
    let groups = by_key(views?)
        .into_iter()
        .map(|(name, experiments)| GroupView {
            id: anchors.take(name),
            name,
            experiments,
        });
    Ok(groups.collect())
}
