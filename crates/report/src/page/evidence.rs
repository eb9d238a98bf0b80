//! Trustworthiness of a run: the verdict, disturbances, missing results.

use crate::{Analysis, Verdict, show};
use instrument::noise::Warning;
use instrument::quantity::counted;

/// The evidence for and against a run.
pub(super) struct Evidence {
    /// The verdict on the run in one line.
    pub(super) line: String,
    /// The whole verdict.
    pub(super) headline: String,
    /// Further statements, one sentence each.
    pub(super) statements: Vec<String>,
    /// Disturbances, the most frequent first.
    pub(super) disturbances: Vec<Disturbance>,
}

/// Part of a sentence.
pub(super) struct Words {
    pub(super) text: String,
    /// True for code that the reader may type.
    pub(super) is_code: bool,
}

/// All warnings of one kind.
pub(super) struct Disturbance {
    /// Label of one or two words.
    pub(super) label: &'static str,
    /// Number of values that they touch.
    pub(super) values: usize,
    /// The worst warning as text, and its point.
    pub(super) worst: String,
    /// The remedy.
    pub(super) advice: Vec<Words>,
    severity: f64,
}

impl Evidence {
    pub(super) fn new(analysis: &Analysis<'_>) -> Self {
        let statements = [
            ending(analysis),
            analysis.surroundings.text(),
            analysis.surroundings.clock_text(),
            missing(analysis),
        ];
        let verdict = Verdict::of(analysis);
        Self {
            line: verdict.line(),
            headline: verdict.text(),
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

fn disturbances(analysis: &Analysis<'_>) -> Vec<Disturbance> {
    let mut found: Vec<Disturbance> = Vec::new();
    for experiment in &analysis.experiments {
        for point in &experiment.points {
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
                        values: 0,
                        worst,
                        advice,
                        severity,
                    });
                    found.len() - 1
                });
                let known = &mut found[index];
                let touched = point
                    .estimates
                    .iter()
                    .filter(|it| warning.touches(&it.metric));
                known.values += touched.count();
                if severity > known.severity {
                    known.worst = worst;
                    known.severity = severity;
                }
            }
        }
    }
    found.sort_by_key(|disturbance| std::cmp::Reverse(disturbance.values));
    found
}

/// `text` split into words and code (the parts between backticks).
pub(super) fn words(text: &str) -> Vec<Words> {
    let parts = text.split('`').enumerate();
    parts
        .map(|(index, text)| Words {
            text: text.to_owned(),
            is_code: index % 2 == 1,
        })
        .collect()
}

/// Severity of a warning, comparable within its kind.
fn severity(warning: &Warning) -> f64 {
    match warning {
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
    if let Some(printed) = show::printed(header) {
        return vec![
            printed,
            counted(ran, "experiment"),
            counted(points, "point"),
        ];
    }
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
    parts.push(counted(ran, "experiment"));
    parts.push(counted(points, "point"));
    parts.push(counted(analysis.samples, "sample"));
    parts
}
