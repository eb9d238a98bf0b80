//! The summary of a run: what was measured where, recommended settings, findings, trustworthiness and
//! numbers.

use super::advice::first;
use super::catalogue::named;
use super::claims::tally;
use super::experiment::{failure, overview, skipped};
use super::run::{finding, trust};
use crate::document::{Blocks, Document, Item, Text};
use crate::lists::by_key;
use crate::machines::Unusual;
use crate::ranking::{MOST_FINDINGS, foremost};
use crate::{Analysis, Verdict, show};
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
    blocks.document("")
}

/// The summary with the `most` important findings, and the commands that print the rest.
pub(crate) fn brief<'a>(analysis: &Analysis<'_>, most: usize) -> Document<'a> {
    let rest = "`oscope show RUN EXPERIMENT` prints an experiment in full, `oscope show --all` every finding, table \
                and chart.";
    foremost_of(analysis, most)
        .with(missing(analysis))
        .section("More", Blocks::default().say([Text::marked(rest)]))
        .document("")
}

/// The run and its verdict, the settings that gain, the `most` important findings, the claims and
/// the trust in all of it.
fn foremost_of<'a>(analysis: &Analysis<'_>, most: usize) -> Blocks<'a> {
    let redacted = "This run is redacted: marks replace what named the machine and its people.";
    Blocks::default()
        .say(analysis.run.header.redacted.then_some(redacted))
        .with(opening(analysis))
        .section("What to set here", settings(analysis))
        .section("Findings", findings(analysis, most))
        .section("Claims", claims(analysis))
        .section("How far to trust it", trust(analysis))
}

fn settings<'a>(analysis: &Analysis<'_>) -> Blocks<'a> {
    let first = first(analysis);
    let all = counted(analysis.advice.settings.len(), "setting");
    let more = format!("`oscope advise` gives {all}, each with its reason.");
    let more = (!first.0.is_empty()).then(|| Text::marked(&more));
    first.say(more)
}

/// The `most` findings that change most for a reader, and the number of the others.
fn findings<'a>(analysis: &Analysis<'_>, most: usize) -> Blocks<'a> {
    let first = foremost(analysis, most).into_iter();
    let all = analysis.experiments.iter().map(|one| one.findings.len());
    let further = all.sum::<usize>() - first.len();
    let is_more = first.len() > 0 && further > 0;
    let items = first.map(|(experiment, it)| finding(it, Some(&experiment.definition.id)));
    let more = format!("and {further} more, each with its experiment");
    Blocks::default().items(items).say(is_more.then_some(more))
}

fn claims<'a>(analysis: &Analysis<'_>) -> Blocks<'a> {
    let mut judged = analysis.claims.iter();
    if judged.all(|(_, judgement)| judgement.ruling == Ruling::Undecided) {
        return Blocks::default();
    }
    let more = Text::marked("`oscope claims` shows each with its reason.");
    Blocks::default().say([tally(analysis).into(), more])
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
        failure(reason, &format!("{of}: {}", reason.reason()))
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

/// The run, the machine, the directory and the verdict. Before them a caution, if the system was not
/// itself, and the conditions, if they may have moved the values.
fn opening<'a>(analysis: &Analysis<'_>) -> Blocks<'a> {
    let run = analysis.run;
    let facts = [
        ("caution", show::stand_in(run)),
        ("conditions", analysis.surroundings.first()),
        ("run", Some(measured(analysis))),
        ("machine", Some(show::machine(run))),
        ("files", Some(files(&run.header))),
        ("verdict", Some(Verdict::of(analysis).text())),
        ("unusual", Some(Unusual::of(analysis).sentences().join(" "))),
    ];
    let facts = facts
        .into_iter()
        .filter_map(|(name, words)| Some((name, words?)));
    Blocks::default().facts(facts.filter(|(_, words)| !words.is_empty()))
}

/// The directory of the scratch files; empty for printed values.
fn files(header: &Header) -> String {
    if header.is_reported() {
        return String::new();
    }
    header.directory.display().to_string()
}

/// Name, time, profile and duration of the run.
fn measured(analysis: &Analysis) -> String {
    let header = &analysis.run.header;
    if let Some(printed) = show::printed(header) {
        let parts: Vec<String> = header.name.clone().into_iter().chain([printed]).collect();
        return parts.join(", ");
    }
    let parts = [
        header.name.clone(),
        Some(show::moment(header.started)),
        Some(format!("{} profile", header.profile)),
        show::took(header),
    ];
    parts.into_iter().flatten().collect::<Vec<_>>().join(", ")
}
