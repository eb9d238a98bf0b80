//! Analysis: derives estimates, findings and figures from a stored run. It reads nothing else.

use crate::advice::{Found, Guides};
use crate::consistency::{Statement, reconcile};
use crate::machines::ReferenceMachine;
use crate::printed;
use crate::surroundings::Surroundings;
use advice::Advice;
use instrument::claim::{Claim, Evidence, Judgement, Ruling};
use instrument::experiment::{Definition, Metric};
use instrument::figure::Figure;
use instrument::finding::Finding;
use instrument::grading;
use instrument::point::Point;
use instrument::results::{Estimate, PointResult, Results};
use record::{ExperimentRecord, Failure, Run};
use serde::{Serialize, Serializer};

/// All results of one run. What is in the run already is not written with them.
#[derive(Clone, Debug, Serialize)]
pub struct Analysis<'a> {
    /// The run.
    #[serde(skip)]
    pub run: &'a Run,
    /// One analysis for each experiment of the run, in the run's order.
    pub experiments: Vec<ExperimentAnalysis<'a>>,
    /// All claims that this version of oscope knows, each judged by this run.
    #[serde(serialize_with = "by_key")]
    pub claims: Vec<(&'static Claim, Judgement)>,
    /// Recommended settings for programs on the machine of the run.
    pub advice: Advice,
    /// How to follow them, and how far the run has tried them.
    pub guides: Guides,
    /// Other activity on the machine during the run.
    pub surroundings: Surroundings,
    /// Number of samples in the run.
    pub samples: usize,
    /// Reference machines to compare with, next to those that are part of the program.
    #[serde(skip)]
    pub machines: Vec<ReferenceMachine>,
}

/// Claims by their keys.
fn by_key<S: Serializer>(claims: &[(&Claim, Judgement)], to: S) -> Result<S::Ok, S::Error> {
    to.collect_seq(claims.iter().map(|(claim, judged)| (claim.key, judged)))
}

/// All results of one experiment of a run.
#[derive(Clone, Debug, Serialize)]
pub struct ExperimentAnalysis<'a> {
    /// The experiment's definition.
    #[serde(skip)]
    pub definition: &'a Definition,
    /// The reason if it could not run at all.
    #[serde(skip)]
    pub skipped: Option<&'a str>,
    /// Estimates of the points that gave samples.
    pub points: Vec<PointResult>,
    /// Points without a measurement, each with the reason.
    #[serde(skip)]
    pub failures: Vec<(&'a Point, Failure<'a>)>,
    /// The meaning of the results, in the order of [`Finding::by_importance`]; empty if this
    /// version of oscope does not know the experiment.
    pub findings: Vec<Finding>,
    /// Charts of the results.
    pub figures: Vec<Figure>,
}

impl<'a> Analysis<'a> {
    /// Analyses `run`.
    pub fn new(run: &'a Run) -> Self {
        let results = run.results();
        let evidence = Evidence::new(&results);
        let claims = experiments::claims().map(|claim| (claim, claim.judge(&evidence)));
        let mut claims: Vec<(&Claim, Judgement)> = claims.collect();
        let mut advice = crate::advice::found(&results);
        let experiments = run.measured().zip(results);
        let mut experiments: Vec<_> = experiments
            .map(|(record, it)| ExperimentAnalysis::new(record, it, run.header.is_reported()))
            .collect();
        make_consistent(&mut experiments, &mut claims, &mut advice);
        let (advice, guides) = crate::advice::advice(run, &advice);
        Self {
            run,
            experiments,
            claims,
            advice,
            guides,
            surroundings: Surroundings::of(run),
            samples: run.sample_count(),
            machines: Vec::new(),
        }
    }

    /// The experiment called `id`, if the run has it.
    pub(crate) fn experiment(&self, id: &str) -> Option<&ExperimentAnalysis<'a>> {
        self.experiments.iter().find(|it| it.definition.id == id)
    }

    /// All findings of the run, each with its experiment, in the order of
    /// [`Finding::by_importance`].
    pub fn findings(&self) -> Vec<(&ExperimentAnalysis<'a>, &Finding)> {
        let mut findings: Vec<_> = (self.experiments.iter())
            .flat_map(|from| from.findings.iter().map(move |found| (from, found)))
            .collect();
        findings.sort_by(|(_, one), (_, other)| one.by_importance(other));
        findings
    }
}

/// Reconciles all that the analysis says ([`reconcile`]). A claim that rests on a contradiction is
/// undecided, and a setting that does is not advised.
fn make_consistent(
    experiments: &mut [ExperimentAnalysis<'_>],
    claims: &mut [(&'static Claim, Judgement)],
    advice: &mut Vec<Found>,
) {
    let of_findings = experiments.iter_mut().flat_map(|experiment| {
        let from = experiment.definition.id.as_str();
        let findings = experiment.findings.iter_mut();
        findings.map(move |finding| Statement { from, finding })
    });
    let first = |ids: &[&'static str]| ids.first().copied().unwrap_or_default();
    let mut statements: Vec<Statement<'_>> = of_findings.collect();
    let (findings, judged) = (statements.len(), claims.len());
    statements.extend(claims.iter_mut().map(|(claim, judgement)| Statement {
        from: first(claim.basis.experiments()),
        finding: &mut judgement.because,
    }));
    statements.extend(advice.iter_mut().map(|(rule, advice)| Statement {
        from: first(rule.basis.experiments()),
        finding: &mut advice.because,
    }));
    let withheld = reconcile(&mut statements);
    let (of_claims, of_advice) = withheld[findings..].split_at(judged);
    for ((_, judgement), is_withheld) in claims.iter_mut().zip(of_claims) {
        if *is_withheld {
            judgement.ruling = Ruling::Undecided;
        }
    }
    let mut withheld = of_advice.iter();
    advice.retain(|_| withheld.next() != Some(&true));
}

impl<'a> ExperimentAnalysis<'a> {
    /// The sound estimates, each with its point and its metric.
    pub(crate) fn sound(&self) -> impl Iterator<Item = (&Point, &'a Metric, &Estimate)> {
        let points = self.points.iter();
        points.flat_map(|point| {
            let estimates = point.estimates.iter().filter(|it| it.is_sound());
            estimates.filter_map(|estimate| {
                let metric = self.definition.metric(&estimate.metric)?;
                Some((&point.point, metric, estimate))
            })
        })
    }

    fn new(record: &'a ExperimentRecord, results: Results<'a>, is_reported: bool) -> Self {
        let (mut findings, mut figures) = match experiments::find(&record.definition.id) {
            Some(known) => (grading::findings(known, &results), known.figures(&results)),
            // An experiment that only a publication made.
            None if is_reported => (Vec::new(), printed::figures(&results)),
            None => (Vec::new(), Vec::new()),
        };
        // Figures without measured points would be empty charts.
        figures.retain(|figure| figure.series.iter().any(|series| !series.points.is_empty()));
        findings.retain(Finding::is_sayable);
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
