//! Parts of a run: its findings, and how far to trust it.

use super::marks::kinds;
use crate::document::{Blocks, Item, Piece, Text, text};
use crate::lists::joined;
use crate::show::{self, Tone};
use crate::{Analysis, Verdict};
use instrument::finding::Finding;
use instrument::noise::Warning;
use instrument::quantity::counted;

/// A finding with its grade, and the experiment called `source`; without one, the evidence for the grade.
pub(crate) fn finding(finding: &Finding, source: Option<&str>) -> Item {
    let note = match (source, &finding.trust) {
        (Some(source), _) => reference(&[source]),
        (None, Some(trust)) => Piece::faint(format!(" [{}]", show::trust(finding, trust))).into(),
        (None, None) => Text::default(),
    };
    let sentence = Text::from(&finding.sentence);
    Item::new(show::grade(finding.grade), [sentence.then(note)])
}

/// Findings with the evidence for their grades. Those that the measurements do not decide are only counted, and
/// shown on demand.
pub(crate) fn findings<'a>(findings: &[Finding]) -> Blocks<'a> {
    let (undecided, decided): (Vec<_>, Vec<_>) = findings.iter().partition(|it| it.is_undecided());
    let items = |findings: Vec<&Finding>| {
        let items = findings.into_iter().map(|it| finding(it, None));
        Blocks::default().items(items)
    };
    let title = format!("{} undecided", counted(undecided.len(), "finding"));
    items(decided).fold(title, items(undecided))
}

/// The experiments that something rests on, after it.
pub(crate) fn reference(experiments: &[impl AsRef<str>]) -> Text {
    let mut pieces = Vec::new();
    for id in experiments {
        let before = if pieces.is_empty() { " [" } else { ", " };
        pieces.extend([Piece::faint(before), Piece::Link(id.as_ref().to_owned())]);
    }
    pieces.extend((!experiments.is_empty()).then(|| Piece::faint("]")));
    Text(pieces)
}

/// Whether a reader can rely on the values, and why, in one line.
pub(crate) fn trusted(analysis: &Analysis<'_>) -> (bool, String) {
    let verdict = Verdict::of(analysis);
    let doubts = [
        show::stand_in(analysis.run),
        analysis.surroundings.first(),
        ending(analysis),
    ];
    let is_trusted = doubts.iter().all(Option::is_none) && verdict.is_good();
    let line = doubts.into_iter().flatten().chain([verdict.line()]);
    (is_trusted, joined(" ", line))
}

/// The missing results, the state of the machine, and each kind of warning with its remedy.
pub(crate) fn trust<'a>(analysis: &Analysis<'_>) -> Blocks<'a> {
    let state = &analysis.surroundings;
    let reasons = [ending(analysis), missing(analysis), state.text()];
    let reasons: Vec<String> = reasons.into_iter().flatten().collect();
    let warnings = warnings(analysis);
    let is_quiet = reasons.is_empty() && warnings.is_empty() && state.first().is_none();
    Blocks::default()
        .say(reasons)
        .say(is_quiet.then_some("Nothing disturbed this run."))
        .say(state.clock_text())
        .items(warnings)
}

fn ending(analysis: &Analysis<'_>) -> Option<String> {
    let header = &analysis.run.header;
    let experiments = analysis.run.measured();
    let points = experiments.flat_map(|experiment| &experiment.points);
    let unreached = points.filter(|point| point.batches.is_empty() && point.closing.is_none());
    let left = match unreached.count() {
        0 => String::new(),
        1 => " One point was never reached.".to_owned(),
        count => format!(" {count} points were never reached."),
    };
    match header.ended {
        None => Some(format!("The run was cut off or is still under way.{left}")),
        Some(_) if header.interrupted => Some(format!("The run was stopped before its end.{left}")),
        Some(_) => None,
    }
}

fn missing(analysis: &Analysis<'_>) -> Option<String> {
    let experiments = analysis.experiments.iter();
    let skipped = experiments.clone().filter(|it| it.skipped.is_some());
    let failed: usize = experiments.map(|it| it.failures.len()).sum();
    let part = |count: usize, thing: &str, words: &str| {
        (count > 0).then(|| format!("{} could not {words}", counted(count, thing)))
    };
    let skipped = skipped.count();
    let whose = if skipped + failed == 1 {
        "it is"
    } else {
        "each is"
    };
    let skipped = part(skipped, "experiment", "run here");
    let failed = part(failed, "point", "be measured");
    let parts = joined(", ", skipped.into_iter().chain(failed));
    (!parts.is_empty()).then(|| format!("{parts}; {whose} listed with its reason."))
}

/// The kinds of warnings, each with its worst one and the remedy, the most frequent first.
fn warnings(analysis: &Analysis<'_>) -> Vec<Item> {
    let kinds = kinds(&analysis.experiments).into_iter();
    let items = kinds.filter_map(|(values, kind)| {
        // Of equal ones the first.
        let by_severity = kind.into_iter().rev();
        let worst = by_severity.max_by(|one, other| severity(one.2).total_cmp(&severity(other.2)));
        let (definition, point, warning) = worst?;
        let place = show::point(definition, &point.point);
        let place = joined(", ", [definition.id.as_str(), place.as_str()]);
        let cause = show::warning(definition, warning);
        let counted = counted(values, "value");
        let worst = format!("{counted}, worst: {cause}: {place}.");
        let lines = [
            text![worst],
            format!("Remedy: {}.", warning.advice()).into(),
        ];
        let lead = Piece::toned(Tone::Doubtful, warning.label());
        Some(Item::new(lead, lines))
    });
    items.collect()
}

/// Severity of a warning, comparable within its kind.
fn severity(warning: &Warning) -> f64 {
    match warning {
        Warning::Drift { change, .. } => change.abs(),
        Warning::SeveralModes { centres, .. } => {
            let ends = centres.first().zip(centres.last());
            ends.map_or(0.0, |(low, high)| (high - low).abs() / low.abs())
        }
        Warning::NotWarm => 0.0,
        Warning::TargetMissed { reached, .. } => reached.unwrap_or(f64::INFINITY),
    }
}
