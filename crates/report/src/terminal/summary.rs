//! The summary at the end of a run: recommended settings, findings, trustworthiness and numbers.

use super::advice::told;
use super::chart::chart;
use super::claims::tally;
use super::findings::finding;
use super::marks;
use super::style::{Role, Style};
use super::table::table;
use super::text::{count, paragraph, title};
use super::trust::trust;
use crate::advice::{FIRST, foremost};
use crate::{Analysis, ExperimentAnalysis, show};
use advice::Advice;
use record::NOT_REACHED;
use std::collections::BTreeSet;

/// Number of findings in a brief summary.
const FIRST_FINDINGS: usize = 12;

/// One or two screens: the first settings and findings, claims, trustworthiness, and missing
/// results.
pub fn brief(analysis: &Analysis, style: &Style) -> String {
    let mut text = opening(analysis, FIRST_FINDINGS, style);
    text += &missing(analysis, style);
    text.push('\n');
    let all = count(analysis.experiments.len(), "experiment");
    let more = format!("`oscope show` prints every finding, and tables and charts of {all}.");
    text + &paragraph("", &more, style)
}

/// The same as [`brief`] with all findings, then the table and charts of each experiment.
pub fn summary(analysis: &Analysis, style: &Style) -> String {
    let mut text = opening(analysis, usize::MAX, style);
    for experiment in &analysis.experiments {
        text.push('\n');
        text += &overview(experiment, style);
    }
    text
}

/// The meaning of the numbers, the most useful first, without the numbers.
fn opening(analysis: &Analysis, most_findings: usize, style: &Style) -> String {
    let mut text = settings(&analysis.advice, style);
    if analysis.run.header.redacted {
        let told = "This run is redacted: marks stand in the place of what named the machine and its people.";
        text = paragraph("", told, style) + "\n" + &text;
    }
    let findings = analysis.findings();
    if !findings.is_empty() {
        text += &title("Findings", style);
        for (experiment, found) in findings.iter().take(most_findings) {
            text += &finding(found, Some(&experiment.definition.id), style);
        }
        let further = findings.len().saturating_sub(most_findings);
        if further > 0 {
            text += &paragraph("", &format!("and {further} more"), style);
        }
        text.push('\n');
    }
    text += &title("Claims", style);
    text += &tally(analysis, style);
    text += &paragraph(
        "",
        "`oscope claims` shows each with what it rests on.",
        style,
    );
    text.push('\n');
    text += &title("How far to trust it", style);
    text + &trust(analysis, style)
}

/// The first recommended settings, one line each.
fn settings(advice: &Advice, style: &Style) -> String {
    let first = foremost(advice, FIRST);
    if first.is_empty() {
        return String::new();
    }
    let mut text = title("What to set in programs here", style);
    for setting in first {
        text += &paragraph(style.choose("● ", "* "), &told(setting, style), style);
    }
    let all = count(advice.settings.len(), "setting");
    let more = format!("`oscope advise` gives {all}, each with what it follows from.");
    text + &paragraph("", &more, style) + "\n"
}

/// An experiment's question, table and charts, and its failed points.
fn overview(experiment: &ExperimentAnalysis, style: &Style) -> String {
    let mut text = heading(experiment, style);
    text += &results(experiment, style);
    for figure in &experiment.figures {
        let chart = chart(figure, style);
        if !chart.is_empty() {
            text.push('\n');
            text += &chart;
        }
    }
    text
}

/// The title and the question of an experiment.
pub(super) fn heading(experiment: &ExperimentAnalysis, style: &Style) -> String {
    let definition = experiment.definition;
    let id = style.paint(Role::Accent, &definition.id);
    let title = style.paint(Role::Strong, &style.text(&definition.title));
    format!("{title}  {id}\n") + &paragraph("", &definition.question, style)
}

/// An experiment's table with its legend, or the reason why there is none.
pub(super) fn results(experiment: &ExperimentAnalysis, style: &Style) -> String {
    let mut text = String::new();
    if let Some(reason) = experiment.skipped {
        text += &Outcome::Skipped.told(reason, style);
    }
    if !experiment.points.is_empty() {
        text.push('\n');
        text += &table(experiment, style);
        text += &marks::legend(experiment, style);
    }
    text + &failures(experiment, style)
}

/// The points that could not be measured, grouped by reason.
fn failures(experiment: &ExperimentAnalysis, style: &Style) -> String {
    let named = experiment.failures.iter().map(|(point, reason)| {
        let point = show::point(experiment.definition, point);
        (*reason, point)
    });
    let line = |(reason, points): (&str, Vec<String>)| {
        let points = match points.as_slice() {
            [] | [_] | [_, _] => points.join("; "),
            [first, .., last] => format!("{} from {first} to {last}", count(points.len(), "point")),
        };
        failure(reason, &points, style)
    };
    by_reason(named).into_iter().map(line).collect()
}

/// The results that are missing, grouped by reason.
fn missing(analysis: &Analysis, style: &Style) -> String {
    let experiments = &analysis.experiments;
    let points = experiments.iter().flat_map(|experiment| {
        let id = experiment.definition.id.as_str();
        experiment
            .failures
            .iter()
            .map(move |(_, reason)| (*reason, id))
    });
    let failed = by_reason(points).into_iter().map(|(reason, ids)| {
        let points = count(ids.len(), "point");
        let ids: BTreeSet<&str> = ids.into_iter().collect();
        let of = match ids.first() {
            Some(id) if ids.len() == 1 => format!("{points} of {id}"),
            _ => format!("{points} of {}", count(ids.len(), "experiment")),
        };
        failure(reason, &of, style)
    });
    let skipped = experiments.iter().filter_map(|experiment| {
        let reason = format!("{}: {}", experiment.definition.id, experiment.skipped?);
        Some(Outcome::Skipped.told(&reason, style))
    });
    failed.chain(skipped).collect()
}

/// The failures grouped by reason, in order of first appearance.
fn by_reason<'r, T>(failures: impl Iterator<Item = (&'r str, T)>) -> Vec<(&'r str, Vec<T>)> {
    let mut reasons: Vec<(&str, Vec<T>)> = Vec::new();
    for (reason, what) in failures {
        match reasons.iter_mut().find(|(known, _)| *known == reason) {
            Some((_, all)) => all.push(what),
            None => reasons.push((reason, vec![what])),
        }
    }
    reasons
}

/// A paragraph on `points` that failed for `reason`.
fn failure(reason: &str, points: &str, style: &Style) -> String {
    let outcome = match reason {
        NOT_REACHED => Outcome::NotReached,
        _ => Outcome::Failed,
    };
    outcome.told(&format!("{points}: {reason}"), style)
}

/// The reason why a number is missing.
#[derive(Clone, Copy)]
enum Outcome {
    Skipped,
    Failed,
    NotReached,
}

impl Outcome {
    /// The outcome with its `reason`.
    fn told(self, reason: &str, style: &Style) -> String {
        let (role, name) = match self {
            Self::Skipped => (Role::Broken, "not measured: "),
            Self::Failed => (Role::Broken, "failed: "),
            Self::NotReached => (Role::Doubtful, "no time: "),
        };
        paragraph(&style.paint(role, name), reason, style)
    }
}
