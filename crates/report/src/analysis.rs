//! Analysis: derives estimates, findings and figures from a stored run. It reads nothing else.

use advice::Advice;
use instrument::claim::{Claim, Evidence, Judgement};
use instrument::experiment::Definition;
use instrument::figure::Figure;
use instrument::finding::Finding;
use instrument::point::Point;
use instrument::results::{PointResult, Results};
use record::{ExperimentRecord, Run};

/// All results of one run.
#[derive(Clone, Debug)]
pub struct Analysis<'a> {
    /// The run.
    pub run: &'a Run,
    /// One analysis for each experiment of the run, in the run's order.
    pub experiments: Vec<ExperimentAnalysis<'a>>,
    /// All claims that this version of oscope knows, each judged by this run.
    pub claims: Vec<(&'static Claim, Judgement)>,
    /// Recommended settings for programs on the machine of the run.
    pub advice: Advice,
}

/// All results of one experiment of a run.
#[derive(Clone, Debug)]
pub struct ExperimentAnalysis<'a> {
    /// The experiment's definition.
    pub definition: &'a Definition,
    /// The reason if it could not run at all.
    pub skipped: Option<&'a str>,
    /// Estimates of the points that gave samples.
    pub points: Vec<PointResult>,
    /// Points without a measurement, each with the reason.
    pub failures: Vec<(&'a Point, &'a str)>,
    /// The meaning of the results, in the order of [`Finding::by_importance`]; empty if this
    /// version of oscope does not know the experiment.
    pub findings: Vec<Finding>,
    /// Charts of the results.
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

    /// All findings of the run, each with its experiment, in the order of
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
        // Figures without measured points would be empty charts.
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
