//! Results as JSON for other programs.
//!
//! The format is stable: [`FORMAT`] is raised when a field changes its meaning or goes; new fields
//! may come at any time. Numbers are in base units (bytes, ns, bytes per second), a number that
//! does not exist is `null`.

use crate::show;
use crate::{Analysis, ExperimentAnalysis};
use instrument::claim::Ruling;
use instrument::experiment::{Better, Isolation, Metric};
use instrument::finding::{Finding, Grade, Number};
use instrument::noise::Warning;
use instrument::point::{Axis, Level, Point};
use instrument::quantity::Unit;
use instrument::results::{Estimate, Percentiles, PointResult, Verdict};
use instrument::statistics::Interval;
use platform::clock::Calibration;
use platform::environment::Environment;
use platform::machine::Machine;
use platform::storage::Storage;
use record::Header;
use serde::Serialize;
use serde_json::Value;
use std::collections::BTreeMap;

/// The version of this format.
pub const FORMAT: u32 = 1;

/// All that follows from a run: its header, the machine, the findings with the weightiest first
/// and those that cannot be told last, and the estimates of each experiment.
pub fn analysis(analysis: &Analysis) -> Value {
    let run = analysis.run;
    let findings = analysis.findings();
    value(&AnalysisJson {
        format: FORMAT,
        run: &run.header,
        finished: run.is_finished(),
        machine: &run.machine,
        environment: &run.environment,
        storage: run.storage.as_ref(),
        calibration: &run.calibration,
        findings: findings
            .iter()
            .map(|(from, found)| FindingJson::new(from, found))
            .collect(),
        claims: claim_list(analysis),
        experiments: analysis
            .experiments
            .iter()
            .map(ExperimentJson::new)
            .collect(),
    })
}

/// The claims as in the list of [`analysis`], with the header of the run that judges them.
pub fn claims(analysis: &Analysis) -> Value {
    value(&ClaimsJson {
        format: FORMAT,
        run: &analysis.run.header,
        claims: claim_list(analysis),
    })
}

fn claim_list<'a>(analysis: &'a Analysis) -> Vec<ClaimJson<'a>> {
    let claims = analysis.claims.iter();
    claims
        .map(|(claim, judgement)| ClaimJson {
            key: claim.key,
            says: claim.says,
            source: claim.source,
            experiments: claim.experiments,
            ruling: judgement.ruling,
            because: show::sentence(&judgement.because),
            numbers: numbers(&judgement.because),
        })
        .collect()
}

/// One experiment as in the list of [`analysis`], with its findings beside it.
pub fn experiment(experiment: &ExperimentAnalysis) -> Value {
    let findings = experiment.findings.iter();
    value(&SingleJson {
        format: FORMAT,
        findings: findings
            .map(|found| FindingJson::new(experiment, found))
            .collect(),
        experiment: ExperimentJson::new(experiment),
    })
}

fn value(data: &impl Serialize) -> Value {
    serde_json::to_value(data).expect("plain data whose maps have text for keys")
}

#[derive(Serialize)]
struct AnalysisJson<'a> {
    format: u32,
    run: &'a Header,
    /// Whether the run came to the end of its plan.
    finished: bool,
    machine: &'a Machine,
    environment: &'a Environment,
    storage: Option<&'a Storage>,
    calibration: &'a Calibration,
    findings: Vec<FindingJson<'a>>,
    claims: Vec<ClaimJson<'a>>,
    experiments: Vec<ExperimentJson<'a>>,
}

#[derive(Serialize)]
struct ClaimsJson<'a> {
    format: u32,
    run: &'a Header,
    claims: Vec<ClaimJson<'a>>,
}

#[derive(Serialize)]
struct ClaimJson<'a> {
    /// The name of the claim, the same in every version.
    key: &'a str,
    /// What is said.
    says: &'a str,
    /// Who says it.
    source: &'a str,
    /// Ids of the experiments that decide it.
    experiments: &'a [&'a str],
    ruling: Ruling,
    /// For people.
    because: String,
    /// For programs: what the sentence says, by name.
    numbers: BTreeMap<&'a str, NumberJson>,
}

#[derive(Serialize)]
struct SingleJson<'a> {
    format: u32,
    findings: Vec<FindingJson<'a>>,
    #[serde(flatten)]
    experiment: ExperimentJson<'a>,
}

#[derive(Serialize)]
struct FindingJson<'a> {
    /// Id of the experiment it comes from.
    experiment: &'a str,
    /// With `experiment` the name of the finding, the same in every run.
    key: &'a str,
    /// For people.
    sentence: String,
    /// For programs: what the sentence says, by name.
    numbers: BTreeMap<&'a str, NumberJson>,
    grade: Grade,
    /// From 0 to 1.
    weight: f64,
}

#[derive(Serialize)]
struct NumberJson {
    value: f64,
    /// 95 % confidence interval; `null` for a number that was looked up.
    interval: Option<Interval>,
    unit: Unit,
}

#[derive(Serialize)]
struct ExperimentJson<'a> {
    id: &'a str,
    title: &'a str,
    question: &'a str,
    isolation: Isolation,
    axes: &'a [Axis],
    metrics: Vec<MetricJson<'a>>,
    /// Why it could not run at all.
    skipped: Option<&'a str>,
    points: Vec<PointJson<'a>>,
    failures: Vec<FailureJson<'a>>,
}

#[derive(Serialize)]
struct MetricJson<'a> {
    name: &'a str,
    title: &'a str,
    unit: Unit,
    better: Better,
    version: u32,
}

#[derive(Serialize)]
struct PointJson<'a> {
    /// Axis to level: bytes, a count, or a choice.
    levels: BTreeMap<&'a str, &'a Level>,
    estimates: Vec<EstimateJson<'a>>,
    warnings: Vec<WarningJson<'a>>,
    remarks: &'a [String],
}

#[derive(Serialize)]
struct EstimateJson<'a> {
    metric: &'a str,
    /// `null` for a metric that the definition does not name.
    unit: Option<Unit>,
    value: f64,
    /// 95 % confidence interval.
    interval: Option<Interval>,
    /// `sound`, `below_resolution` or `broken`.
    verdict: &'static str,
    /// Why it is broken.
    reason: Option<&'a str>,
    /// Whether a warning of the point touches it.
    doubtful: bool,
    /// With everything in it that the difference method takes off.
    raw: Option<f64>,
    processes: usize,
    samples: usize,
    /// The median of each process, in the order taken.
    by_process: &'a [f64],
    /// CPU time over wall time.
    cpu_share: Option<f64>,
    /// The kernel's part of the CPU time.
    system_share: Option<f64>,
    percentiles: Option<Percentiles>,
}

#[derive(Serialize)]
struct WarningJson<'a> {
    /// The warning with its numbers, under the name of its kind.
    warning: &'a Warning,
    /// For people.
    text: String,
    /// For people: what can be done.
    advice: &'static str,
}

#[derive(Serialize)]
struct FailureJson<'a> {
    levels: BTreeMap<&'a str, &'a Level>,
    reason: &'a str,
}

/// The numbers of a finding by name.
fn numbers(finding: &Finding) -> BTreeMap<&str, NumberJson> {
    let numbers = finding.numbers.iter().map(|number| {
        let &Number {
            value,
            interval,
            unit,
            ..
        } = number;
        let number_json = NumberJson {
            value,
            interval,
            unit,
        };
        (number.name.as_str(), number_json)
    });
    numbers.collect()
}

impl<'a> FindingJson<'a> {
    fn new(experiment: &'a ExperimentAnalysis, finding: &'a Finding) -> Self {
        Self {
            experiment: &experiment.definition.id,
            key: &finding.key,
            sentence: show::sentence(finding),
            numbers: numbers(finding),
            grade: finding.grade,
            weight: finding.weight,
        }
    }
}

impl<'a> ExperimentJson<'a> {
    fn new(experiment: &'a ExperimentAnalysis) -> Self {
        let definition = experiment.definition;
        let failure = |(point, reason): &(&'a Point, &'a str)| FailureJson {
            levels: point.levels().collect(),
            reason,
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

impl<'a> PointJson<'a> {
    fn new(experiment: &ExperimentAnalysis, point: &'a PointResult) -> Self {
        let estimate = |estimate: &'a Estimate| EstimateJson {
            metric: &estimate.metric,
            unit: experiment
                .definition
                .metric(&estimate.metric)
                .map(|metric| metric.unit),
            value: estimate.centre,
            interval: estimate.interval,
            verdict: match estimate.verdict {
                Verdict::Sound => "sound",
                Verdict::BelowResolution => "below_resolution",
                Verdict::Broken(_) => "broken",
            },
            reason: match &estimate.verdict {
                Verdict::Broken(reason) => Some(reason),
                _ => None,
            },
            doubtful: point.is_doubtful(&estimate.metric),
            raw: estimate.raw,
            processes: estimate.processes,
            samples: estimate.samples,
            by_process: &estimate.by_process,
            cpu_share: estimate.cpu_share,
            system_share: estimate.system_share,
            percentiles: estimate.percentiles,
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
