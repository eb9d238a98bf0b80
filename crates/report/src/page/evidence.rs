//! Trustworthiness of a run: precision reached, disturbances, missing results.

use crate::{Analysis, show};
use instrument::noise::Warning;
use instrument::results::Verdict;
use instrument::runner::Ending;

/// The evidence for and against a run.
pub(super) struct Evidence {
    /// The most important statement.
    pub(super) headline: String,
    /// Further statements, one sentence each.
    pub(super) statements: Vec<String>,
    /// Disturbances, the most frequent first.
    pub(super) disturbances: Vec<Disturbance>,
}

/// Part of a sentence.
pub(super) struct Words {
    pub(super) text: &'static str,
    /// True for code that the reader may type.
    pub(super) is_code: bool,
}

/// All warnings of one kind.
pub(super) struct Disturbance {
    /// Label of one or two words.
    pub(super) label: &'static str,
    /// Number of affected points.
    pub(super) points: usize,
    /// The worst warning as text, and its point.
    pub(super) worst: String,
    /// The remedy.
    pub(super) advice: Vec<Words>,
    severity: f64,
}

impl Evidence {
    pub(super) fn new(analysis: &Analysis<'_>) -> Self {
        let points = analysis
            .experiments
            .iter()
            .flat_map(|experiment| &experiment.points);
        let (count, calm) = points.fold((0, 0), |(count, calm), point| {
            (count + 1, calm + usize::from(point.warnings.is_empty()))
        });
        let headline = match (count, calm) {
            (0, _) => "Nothing was measured.".to_owned(),
            (count, calm) if calm == count => {
                format!("None of the {count} points carries a warning.")
            }
            (count, 0) => format!("Each of the {count} points carries a warning."),
            (count, calm) => format!("{calm} of {count} points carry no warning."),
        };
        let statements = [
            ending(analysis),
            precision(analysis),
            missing(analysis),
            unsound(analysis),
        ];
        Self {
            headline,
            statements: statements.into_iter().flatten().collect(),
            disturbances: disturbances(analysis),
        }
    }
}

fn ending(analysis: &Analysis<'_>) -> Option<String> {
    let header = &analysis.run.header;
    let points = || {
        analysis
            .run
            .experiments
            .iter()
            .flat_map(|experiment| &experiment.points)
    };
    let unreached = points().filter(|point| point.batches.is_empty() && point.closing.is_none());
    let left = match unreached.count() {
        0 => String::new(),
        count => format!(" {count} points were never reached."),
    };
    match header.ended {
        None => Some(format!("The run was cut off or is still under way.{left}")),
        Some(_) if header.interrupted => Some(format!("The run was stopped before its end.{left}")),
        Some(_) => None,
    }
}

/// A sentence on the number of points that reach the precision of the profile.
fn precision(analysis: &Analysis<'_>) -> Option<String> {
    let header = &analysis.run.header;
    let closings = analysis
        .run
        .experiments
        .iter()
        .flat_map(|experiment| &experiment.points);
    let endings = closings.filter_map(|point| Some(&point.closing.as_ref()?.ending));
    let (reached, used_up) = endings.fold((0, 0), |(reached, used_up), ending| match ending {
        Ending::TargetReached => (reached + 1, used_up),
        Ending::BudgetUsed => (reached, used_up + 1),
        Ending::Interrupted | Ending::Failed(_) => (reached, used_up),
    });
    let profile = header.profile;
    let target = profile.precision().target * 100.0;
    match (reached, used_up) {
        (0, 0) => None,
        (reached, 0) => Some(format!(
            "All {reached} finished points are known to ±{target} % or better, as the {profile} \
             profile asks."
        )),
        (0, used_up) => Some(format!(
            "None of the {used_up} finished points is known to ±{target} %, as the {profile} profile \
             asks: all used up their time first."
        )),
        (reached, used_up) => Some(format!(
            "{reached} of {} finished points are known to ±{target} % or better, as the {profile} \
             profile asks; {used_up} used up their time first.",
            reached + used_up
        )),
    }
}

fn missing(analysis: &Analysis<'_>) -> Option<String> {
    let skipped = analysis
        .experiments
        .iter()
        .filter(|e| e.skipped.is_some())
        .count();
    let failed: usize = analysis.experiments.iter().map(|e| e.failures.len()).sum();
    let skipped = (skipped > 0).then(|| match skipped {
        1 => "One experiment could not run here".to_owned(),
        count => format!("{count} experiments could not run here"),
    });
    let failed = (failed > 0).then(|| match failed {
        1 => "one point could not be measured".to_owned(),
        count => format!("{count} points could not be measured"),
    });
    let parts: Vec<String> = skipped.into_iter().chain(failed).collect();
    let sentence = format!("{}; the reasons stand with each.", parts.join(", "));
    let mut letters = sentence.chars();
    let first = letters.next()?.to_uppercase().to_string();
    (!parts.is_empty()).then(|| first + letters.as_str())
}

/// A sentence on the estimates that must not be used as numbers.
fn unsound(analysis: &Analysis<'_>) -> Option<String> {
    let points = analysis
        .experiments
        .iter()
        .flat_map(|experiment| &experiment.points);
    let estimates = points.flat_map(|point| &point.estimates);
    let (below, broken) =
        estimates.fold((0, 0), |(below, broken), estimate| match estimate.verdict {
            Verdict::Sound => (below, broken),
            Verdict::BelowResolution => (below + 1, broken),
            Verdict::Broken(_) => (below, broken + 1),
        });
    let below = (below > 0).then(|| format!("{below} below the resolution of the method"));
    let broken =
        (broken > 0).then(|| format!("{broken} broken: they contradict physics or themselves"));
    let parts: Vec<String> = below.into_iter().chain(broken).collect();
    (!parts.is_empty()).then(|| format!("Values not to be used: {}.", parts.join(", ")))
}

fn disturbances(analysis: &Analysis<'_>) -> Vec<Disturbance> {
    let mut found: Vec<Disturbance> = Vec::new();
    for experiment in &analysis.experiments {
        for point in &experiment.points {
            let mut labels = Vec::new();
            for warning in &point.warnings {
                let (label, severity) = (warning.label(), severity(warning));
                let definition = experiment.definition;
                let place = show::point(definition, &point.point);
                let separator = if place.is_empty() { "" } else { ", " };
                let cause = show::warning(definition, warning);
                let worst = format!("{cause}: {}{separator}{place}", definition.id);
                let index = found.iter().position(|known| known.label == label);
                let index = index.unwrap_or_else(|| {
                    let advice = words(warning.advice());
                    let worst = worst.clone();
                    found.push(Disturbance {
                        label,
                        points: 0,
                        worst,
                        advice,
                        severity,
                    });
                    found.len() - 1
                });
                let known = &mut found[index];
                if !labels.contains(&label) {
                    known.points += 1;
                    labels.push(label);
                }
                if severity > known.severity {
                    known.worst = worst;
                    known.severity = severity;
                }
            }
        }
    }
    found.sort_by_key(|disturbance| std::cmp::Reverse(disturbance.points));
    found
}

/// `text` split into words and code (the parts between backticks).
fn words(text: &'static str) -> Vec<Words> {
    let parts = text.split('`').enumerate();
    parts
        .map(|(index, text)| Words {
            text,
            is_code: index % 2 == 1,
        })
        .collect()
}

/// Severity of a warning, comparable within its kind.
fn severity(warning: &Warning) -> f64 {
    match warning {
        Warning::Stolen { share }
        | Warning::OtherLoad { share }
        | Warning::Preempted { share, .. } => *share,
        Warning::FrequencyChanged {
            lowest_hz,
            highest_hz,
        } => highest_hz / lowest_hz,
        Warning::Drift { change, .. } => change.abs(),
        Warning::SeveralModes { centres, .. } => centres.len() as f64,
        Warning::NotWarm => 0.0,
        Warning::TargetMissed { reached, .. } => reached.unwrap_or(f64::INFINITY),
    }
}

/// The parts of a run's description, for the line below its title.
pub(super) fn summary(analysis: &Analysis<'_>) -> Vec<String> {
    let header = &analysis.run.header;
    let points: usize = analysis.experiments.iter().map(|e| e.points.len()).sum();
    let ran = analysis
        .experiments
        .iter()
        .filter(|e| e.skipped.is_none())
        .count();
    let plural = |count: usize, one: &str| {
        if count == 1 {
            format!("1 {one}")
        } else {
            format!("{count} {one}s")
        }
    };
    let mut parts = vec![
        format!("{} profile", header.profile),
        show::moment(header.started),
    ];
    if let Some(limited) = &header.limited {
        parts.push(format!("within {}", limited.limits));
    }
    if let Some(ended) = header.ended {
        let took = ended.duration_since(header.started);
        parts.push(format!("took {}", show::length(took.as_secs_f64() * 1e9)));
    }
    parts.push(plural(ran, "experiment"));
    parts.push(plural(points, "point"));
    parts.push(plural(analysis.run.sample_count(), "sample"));
    parts
}
