//! The summary of a run: what was measured where, recommended settings, findings, trustworthiness and
//! numbers.

use super::advice::first;
use super::catalogue::named;
use super::claims::tally;
use super::experiment::{failure, overview, skipped};
use super::run::{finding, trust, trusted};
use crate::advice::is_untried;
use crate::document::{Blocks, Chart, Document, Item, Piece, Text};
use crate::glance;
use crate::lists::{by_key, joined};
use crate::machines::Unusual;
use crate::ranking::{MOST_FINDINGS, foremost};
use crate::show::{self, Tone};
use crate::{Analysis, Verdict};
use instrument::claim::Ruling;
use instrument::quantity::counted;
use record::Header;
use std::collections::BTreeSet;

/// A brief summary names this many reasons why something is missing.
const MOST_REASONS: usize = 3;

/// Everything: the summary with at most [`MOST_FINDINGS`] findings, then the findings, the table and
/// the charts of each experiment.
pub fn summary<'a>(analysis: &Analysis<'_>) -> Document<'a> {
    let mut blocks = foremost_of(analysis, MOST_FINDINGS);
    for experiment in &analysis.experiments {
        blocks = blocks.section(named(experiment.definition), overview(experiment));
    }
    Document {
        unfolded_by: "--all",
        ..blocks.document("")
    }
}

/// The summary with the `most` important findings, and the commands that print the rest.
pub(crate) fn brief<'a>(analysis: &Analysis<'_>, most: usize) -> Document<'a> {
    let rest = "`oscope show RUN EXPERIMENT` prints an experiment in full, `oscope show --all` every finding, table \
                and chart.";
    foremost_of(analysis, most)
        .with(missing(analysis))
        .section("More", Blocks::default().say([rest]))
        .document("")
}

/// How far to trust the run, the machine, the `most` important findings, the settings that gain, the claims, and
/// the evidence for the trust in all of it.
fn foremost_of<'a>(analysis: &Analysis<'_>, most: usize) -> Blocks<'a> {
    let evidence = Blocks::default().say([Verdict::of(analysis).text()]);
    let redacted = "This run is redacted: marks replace what named the machine and its people.";
    Blocks::default()
        .say(analysis.run.header.redacted.then_some(redacted))
        .with(opening(analysis))
        .section("Latency ladder", ladder(analysis))
        .section("Findings", findings(analysis, most))
        .section("What to set here", settings(analysis))
        .section("Claims", claims(analysis))
        .section("How far to trust it", evidence.with(trust(analysis)))
}

fn ladder<'a>(analysis: &Analysis<'_>) -> Blocks<'a> {
    /// With fewer rungs it is no picture of a machine.
    const FEWEST_RUNGS: usize = 3;
    let ladder = glance::ladder(analysis).map(|picture| picture.figure);
    let ladder = ladder.filter(|it| it.series[0].points.len() >= FEWEST_RUNGS);
    Blocks::default().charts(ladder.map(|figure| Chart::of(figure, "", None)))
}

fn settings<'a>(analysis: &Analysis<'_>) -> Blocks<'a> {
    let first = first(analysis);
    let all = counted(analysis.advice.settings.len(), "setting");
    let more = format!("`oscope advise` gives {all}, each with its reason.");
    let untried = "No setting has been tried in this run. `oscope advise` names those that may gain, and how to \
                   try them.";
    let is_first = !first.0.is_empty();
    let more = if is_first { &more } else { untried };
    first.say((is_first || is_untried(analysis)).then_some(more))
}

/// The `most` findings that change most for a reader, and the number of the others.
fn findings<'a>(analysis: &Analysis<'_>, most: usize) -> Blocks<'a> {
    let first = foremost(analysis, most).into_iter();
    let all = analysis.experiments.iter().flat_map(|one| &one.findings);
    let (undecided, decided): (Vec<_>, Vec<_>) = all.partition(|it| it.is_undecided());
    let (further, undecided) = (decided.len() - first.len(), undecided.len());
    let has_first = first.len() > 0;
    let items = first.map(|(experiment, it)| finding(it, Some(&experiment.definition.id)));
    let more = (further > 0).then(|| format!("and {further} more, each with its experiment"));
    let undecided = (undecided > 0).then(|| format!("{undecided} undecided, shown by `--all`"));
    let rest = joined("; ", more.into_iter().chain(undecided));
    let rest = (has_first && !rest.is_empty()).then_some(rest);
    Blocks::default().items(items).say(rest)
}

fn claims<'a>(analysis: &Analysis<'_>) -> Blocks<'a> {
    let mut judged = analysis.claims.iter();
    if judged.all(|(_, judgement)| judgement.ruling == Ruling::Undecided) {
        return Blocks::default();
    }
    let more = "`oscope claims` shows each with its reason.";
    Blocks::default().say([tally(analysis).as_str(), more])
}

/// The first results that are missing, grouped by reason, and the number of further reasons.
fn missing<'a>(analysis: &Analysis<'_>) -> Blocks<'a> {
    let experiments = &analysis.experiments;
    let points = experiments.iter().flat_map(|experiment| {
        let id = experiment.definition.id.as_str();
        let failures = experiment.failures.iter();
        failures.map(move |(_, reason)| (*reason, id))
    });
    let failed = by_key(points).into_iter().map(|(reason, ids)| {
        let points = counted(ids.len(), "point");
        let ids: BTreeSet<&str> = ids.into_iter().collect();
        let of = match ids.first() {
            Some(id) if ids.len() == 1 => format!("{points} of {id}"),
            _ => format!("{points} of {}", counted(ids.len(), "experiment")),
        };
        failure(reason, format!("{of}: {}", reason.reason()))
    });
    let skipped = experiments.iter().filter_map(|experiment| {
        let id = experiment.definition.id.as_str();
        Some(skipped(&format!("{id}: {}", experiment.skipped?)))
    });
    let mut items: Vec<Item> = failed.chain(skipped).collect();
    let further = items.len().saturating_sub(MOST_REASONS);
    items.truncate(MOST_REASONS);
    let more = format!("and {}", counted(further, "further reason"));
    Blocks::default()
        .items(items)
        .say((further > 0).then_some(more))
}

/// How far to trust the run, then what it measured on which machine.
fn opening<'a>(analysis: &Analysis<'_>) -> Blocks<'a> {
    let run = analysis.run;
    let (is_trusted, trust) = trusted(analysis);
    let tone = if is_trusted { Tone::Plain } else { Tone::Bad };
    let trust = Text::from(Piece::toned(tone, trust));
    let name = run.header.name.clone().into_iter();
    let described = joined(", ", name.chain(show::run(&run.header)));
    let facts = [
        ("trust", trust),
        ("run", described.into()),
        ("machine", show::machine(run).into()),
        ("files", files(&run.header).into()),
        (
            "unusual",
            Unusual::of(analysis).sentences().join(" ").into(),
        ),
    ];
    let facts = facts.into_iter().filter(|(_, words)| !words.is_empty());
    Blocks::default().facts(facts)
}

/// The directory of the scratch files; empty for printed values.
fn files(header: &Header) -> String {
    if header.is_reported() {
        return String::new();
    }
    header.directory.display().to_string()
}
