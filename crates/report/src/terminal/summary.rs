//! The summary of a run: what was measured where, recommended settings, findings, trustworthiness and
//! numbers.

use super::advice::told;
use super::chart::chart;
use super::claims::tally;
use super::findings::finding;
use super::marks;
use super::opening::opening;
use super::style::{Role, Style};
use super::table::table;
use super::text::{paragraph, title};
use super::trust::trust;
use crate::advice::{FIRST, commands, foremost as foremost_settings};
use crate::ranking::{MOST_FINDINGS, foremost};
use crate::{Analysis, ExperimentAnalysis, show};
use instrument::claim::Ruling;
use instrument::quantity::counted;
use instrument::results::Verdict;
use record::Failure;
use std::collections::BTreeSet;

/// Lines of two screens of 45: what a reader looks at before asking for more.
const TWO_SCREENS: usize = 90;
/// A brief summary has room for this many findings, however much else there is to say.
const FEWEST_FINDINGS: usize = 6;
/// A brief summary names this many reasons why something is missing.
const MOST_REASONS: usize = 3;

/// A run on two screens. A short run is shown whole; of a longer one there is what matters most, and
/// the commands that print the rest.
pub fn brief(analysis: &Analysis, style: &Style) -> String {
    let whole = summary(analysis, style);
    if whole.lines().count() <= TWO_SCREENS {
        return whole;
    }
    let before = before_findings(analysis, style);
    let after = after_findings(analysis, style) + &missing(analysis, style) + &rest(style);
    let lines = |text: &str| text.lines().count();
    let room = TWO_SCREENS.saturating_sub(lines(&before) + lines(&after));
    let mut most = MOST_FINDINGS;
    while most > FEWEST_FINDINGS && lines(&findings(analysis, most, style)) > room {
        most -= 1;
    }
    before + &findings(analysis, most, style) + &after
}

/// Everything: the summary with at most [`MOST_FINDINGS`] findings, then the findings, the table and
/// the charts of each experiment.
pub fn summary(analysis: &Analysis, style: &Style) -> String {
    let mut text = before_findings(analysis, style);
    text += &findings(analysis, MOST_FINDINGS, style);
    text += &after_findings(analysis, style);
    for experiment in &analysis.experiments {
        text.push('\n');
        text += &overview(experiment, style);
    }
    text
}

/// When, where and what was measured, the verdict, and what to set.
fn before_findings(analysis: &Analysis, style: &Style) -> String {
    let mut text = String::new();
    if analysis.run.header.redacted {
        let told = "This run is redacted: marks stand in the place of what named the machine and its people.";
        text = paragraph("", told, style) + "\n";
    }
    text + &opening(analysis, style) + "\n" + &settings(analysis, style)
}

/// The `most` findings that change most for a reader, and how many stand elsewhere.
fn findings(analysis: &Analysis, most: usize, style: &Style) -> String {
    let first = foremost(analysis, most);
    if first.is_empty() {
        return String::new();
    }
    let mut text = title("Findings", style);
    for (experiment, found) in &first {
        text += &finding(found, Some(&experiment.definition.id), style);
    }
    let all: usize = analysis
        .experiments
        .iter()
        .map(|one| one.findings.len())
        .sum();
    let further = all - first.len();
    if further > 0 {
        let more = format!("and {further} more, each with its experiment");
        text += &paragraph("", &more, style);
    }
    text + "\n"
}

fn after_findings(analysis: &Analysis, style: &Style) -> String {
    let mut text = String::new();
    let mut judged = analysis.claims.iter();
    if judged.any(|(_, judgement)| judgement.ruling != Ruling::CannotBeTold) {
        text += &title("Claims", style);
        text += &tally(analysis, style);
        let more = "`oscope claims` shows each with what it rests on.";
        text += &paragraph("", more, style);
        text.push('\n');
    }
    text += &title("How far to trust it", style);
    text + &trust(analysis, style)
}

/// The commands that print what a brief summary leaves out.
fn rest(style: &Style) -> String {
    let more = "`oscope show RUN EXPERIMENT` prints an experiment in full, `oscope show --all` every \
                finding, table and chart.";
    String::from("\n") + &paragraph("", more, style)
}

/// The first recommended settings, one line each.
fn settings(analysis: &Analysis<'_>, style: &Style) -> String {
    let advice = &analysis.advice;
    let system = analysis.run.environment.system();
    let first = foremost_settings(advice, FIRST);
    if first.is_empty() {
        return String::new();
    }
    let mut text = title("What to set here", style);
    for (name, setting) in first {
        text += &paragraph(style.choose("● ", "* "), &told(setting, style), style);
        let command = commands(name, setting, system).set;
        text += &paragraph("  ", &style.paint(Role::Faint, &command), style);
    }
    let all = counted(advice.settings.len(), "setting");
    let more = format!("`oscope advise` gives {all}, each with what it follows from.");
    text + &paragraph("", &more, style) + "\n"
}

/// An experiment's question, findings, table and charts, and its failed points.
fn overview(experiment: &ExperimentAnalysis, style: &Style) -> String {
    let mut text = heading(experiment, style);
    for found in &experiment.findings {
        text += &finding(found, None, style);
    }
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
    if has_estimate(experiment) {
        text.push('\n');
        text += &table(experiment, style);
        text += &marks::legend(experiment, style);
    } else if !experiment.points.is_empty() {
        let seen = format!(
            "{} seen too seldom for an estimate",
            counted(experiment.points.len(), "point")
        );
        text += &Outcome::NotReached.told(&seen, style);
    }
    text + &failures(experiment, style)
}

fn has_estimate(experiment: &ExperimentAnalysis) -> bool {
    let mut estimates = experiment.points.iter().flat_map(|point| &point.estimates);
    estimates.any(|estimate| !matches!(estimate.verdict, Verdict::TooFew))
}

/// The points that could not be measured, grouped by reason.
fn failures(experiment: &ExperimentAnalysis, style: &Style) -> String {
    let named = experiment.failures.iter().map(|(point, failure)| {
        let point = show::point(experiment.definition, point);
        (*failure, point)
    });
    let line = |(reason, points): (Failure, Vec<String>)| {
        let points = match points.as_slice() {
            [] | [_] | [_, _] => points.join("; "),
            [first, .., last] => {
                format!("{} from {first} to {last}", counted(points.len(), "point"))
            }
        };
        failure(reason, &points, style)
    };
    by_reason(named).into_iter().map(line).collect()
}

/// The first results that are missing, grouped by reason, and the number of further reasons.
fn missing(analysis: &Analysis, style: &Style) -> String {
    let experiments = &analysis.experiments;
    let points = experiments.iter().flat_map(|experiment| {
        let id = experiment.definition.id.as_str();
        experiment
            .failures
            .iter()
            .map(move |(_, failure)| (*failure, id))
    });
    let failed = by_reason(points).into_iter().map(|(reason, ids)| {
        let points = counted(ids.len(), "point");
        let ids: BTreeSet<&str> = ids.into_iter().collect();
        let of = match ids.first() {
            Some(id) if ids.len() == 1 => format!("{points} of {id}"),
            _ => format!("{points} of {}", counted(ids.len(), "experiment")),
        };
        failure(reason, &of, style)
    });
    let skipped = experiments.iter().filter_map(|experiment| {
        let reason = format!("{}: {}", experiment.definition.id, experiment.skipped?);
        Some(Outcome::Skipped.told(&reason, style))
    });
    let told: Vec<String> = failed.chain(skipped).collect();
    let (first, further) = told.split_at(told.len().min(MOST_REASONS));
    let more = match further.len() {
        0 => String::new(),
        more => paragraph(
            "",
            &format!("and {}", counted(more, "further reason")),
            style,
        ),
    };
    first.concat() + &more
}

/// The failures grouped by reason, in order of first appearance.
fn by_reason<'r, T>(
    failures: impl Iterator<Item = (Failure<'r>, T)>,
) -> Vec<(Failure<'r>, Vec<T>)> {
    let mut reasons: Vec<(Failure, Vec<T>)> = Vec::new();
    for (reason, what) in failures {
        match reasons.iter_mut().find(|(known, _)| *known == reason) {
            Some((_, all)) => all.push(what),
            None => reasons.push((reason, vec![what])),
        }
    }
    reasons
}

/// A paragraph on `points` that were not measured.
fn failure(failure: Failure, points: &str, style: &Style) -> String {
    let outcome = match failure {
        Failure::NotReached => Outcome::NotReached,
        Failure::Failed(_) => Outcome::Failed,
    };
    outcome.told(&format!("{points}: {}", failure.reason()), style)
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
