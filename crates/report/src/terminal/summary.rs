//! What a person sees at the end of a run: what was found, how far to trust it, and the numbers.

use super::chart::chart;
use super::claims::tally;
use super::findings::finding;
use super::marks;
use super::style::{Role, Style};
use super::table::table;
use super::text::{count, paragraph, title};
use super::trust::trust;
use crate::show;
use crate::{Analysis, ExperimentAnalysis};
use record::NOT_REACHED;

/// The findings of a run, the weightiest first and those that cannot be told last; one line on how far to trust them; then the table
/// and the charts of each experiment.
pub fn summary(analysis: &Analysis, style: &Style) -> String {
    let findings = analysis.findings();
    let mut text = String::new();
    if !findings.is_empty() {
        text += &title("Findings", style);
        for (experiment, found) in findings {
            text += &finding(found, Some(&experiment.definition.id), style);
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
    text += &trust(analysis, style);
    for experiment in &analysis.experiments {
        text.push('\n');
        text += &overview(experiment, style);
    }
    text
}

/// An experiment's question, its table, its charts and what could not be measured.
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

/// The table of an experiment with what belongs to it, or why there is none.
pub(super) fn results(experiment: &ExperimentAnalysis, style: &Style) -> String {
    let mut text = String::new();
    if let Some(reason) = experiment.skipped {
        let skipped = style.paint(Role::Broken, "not measured: ");
        text += &paragraph(&skipped, reason, style);
    }
    if !experiment.points.is_empty() {
        text.push('\n');
        text += &table(experiment, style);
        text += &marks::legend(experiment, style);
    }
    text + &failures(experiment, style)
}

/// The points that could not be measured: those that failed for the same reason together.
fn failures(experiment: &ExperimentAnalysis, style: &Style) -> String {
    let mut reasons: Vec<(&str, Vec<String>)> = Vec::new();
    for (point, reason) in &experiment.failures {
        let point = show::point(experiment.definition, point);
        match reasons.iter_mut().find(|(known, _)| known == reason) {
            Some((_, points)) => points.push(point),
            None => reasons.push((reason, vec![point])),
        }
    }
    let line = |(reason, points): &(&str, Vec<String>)| {
        let points = match points.as_slice() {
            [] | [_] | [_, _] => points.join("; "),
            [first, .., last] => format!("{} from {first} to {last}", count(points.len(), "point")),
        };
        let outcome = match *reason {
            NOT_REACHED => style.paint(Role::Doubtful, "no time: "),
            _ => style.paint(Role::Broken, "failed: "),
        };
        paragraph(&outcome, &format!("{points}: {reason}"), style)
    };
    reasons.iter().map(line).collect()
}
