//! Analysis: from a stored run to estimates, findings and figures. Nothing else is read.

use advice::Advice;
use instrument::claim::{Claim, Evidence, Judgement};
use instrument::experiment::Definition;
use instrument::figure::Figure;
use instrument::finding::Finding;
use instrument::point::Point;
use instrument::results::{PointResult, Results};
use record::{ExperimentRecord, Run};

/// Everything that follows from one run.
#[derive(Clone, Debug)]
pub struct Analysis<'a> {
    /// The run.
    pub run: &'a Run,
    /// One for each experiment of the run, in its order.
    pub experiments: Vec<ExperimentAnalysis<'a>>,
    /// Every claim that this version of oscope knows, with what becomes of it in this run.
    pub claims: Vec<(&'static Claim, Judgement)>,
    /// What programs should use on the machine of the run.
    pub advice: Advice,
}

/// Everything that follows from one experiment of a run.
#[derive(Clone, Debug)]
pub struct ExperimentAnalysis<'a> {
    /// What was asked and measured.
    pub definition: &'a Definition,
    /// Why it could not run at all; `None` if it did.
    pub skipped: Option<&'a str>,
    /// Estimates of the points that gave samples.
    pub points: Vec<PointResult>,
    /// The points that could not be measured, and why.
    pub failures: Vec<(&'a Point, &'a str)>,
    /// What the results mean, in the order of [`Finding::by_importance`]; empty for an experiment that this version of
    /// oscope does not know.
    pub findings: Vec<Finding>,
    /// How the results are best seen.
    pub figures: Vec<Figure>,
}

impl<'a> Analysis<'a> {
    /// Analyses `run`.
    pub fn new(run: &'a Run) -> Self {
        let records = run.experiments.iter();
        let results: Vec<_> = records.map(|record| record.results(&run.machine)).collect();
        let evidence = Evidence::new(&results);
        let claims = experiments::claims().map(|claim| (claim, claim.judge(&evidence)));
        let claims = claims.collect();
        let advice = crate::advice::advice(run, &evidence);
        let experiments = run.experiments.iter().zip(results);
        Self {
            run,
            experiments: experiments
                .map(|(record, results)| ExperimentAnalysis::new(record, results))
                .collect(),
            claims,
            advice,
        }
    }

    /// Every finding of the run with the experiment it comes from, in the order of
    /// [`Finding::by_importance`].
    pub fn findings(&self) -> Vec<(&ExperimentAnalysis<'a>, &Finding)> {
        let mut findings: Vec<_> = self
            .experiments
            .iter()
            .flat_map(|experiment| {
                experiment
                    .findings
                    .iter()
                    .map(move |found| (experiment, found))
            })
            .collect();
        findings.sort_by(|(_, one), (_, other)| one.by_importance(other));
        findings
    }
}

impl<'a> ExperimentAnalysis<'a> {
    fn new(record: &'a ExperimentRecord, results: Results<'a>) -> Self {
        let known = experiments::find(&record.definition.id);
        let (mut findings, mut figures) = known.map_or_else(Default::default, |known| {
            (known.findings(&results), known.figures(&results))
        });
        // What was not measured has nothing to be drawn.
        figures.retain(|figure| figure.series.iter().any(|series| !series.points.is_empty()));
        findings.sort_by(Finding::by_importance);
        let Results { points, .. } = results;
        Self {
            definition: &record.definition,
            skipped: record.skipped.as_deref(),
            points,
            failures: record.failures().collect(),
            findings,
            figures,
        }
    }
}
