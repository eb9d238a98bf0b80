//! The page's text from an analysis.

use super::anchor::Anchors;
use super::data;
use super::document::{LinkTargets, filled, part};
use super::experiment::{ExperimentView, GroupView, groups};
use super::glance::{PictureView, pictures};
use super::packed::{Parts, packed};
use crate::advice::{Gaining, gaining, undecided, without_settings};
use crate::document::{Blocks, Text};
use crate::glance;
use crate::machines::Unusual;
use crate::ranking::{MOST_FINDINGS, foremost};
use crate::view::run::{finding, reference, trust, trusted};
use crate::view::{NEAREST, advice, claims, machine, nearest};
use crate::{Analysis, Verdict, show};
use askama::Template;
use instrument::figure::{FigureKind, FigureScale};
use instrument::quantity::{Unit, counted};
use record::Run;
use std::panic::resume_unwind;
use std::{iter, thread};

/// Number of findings on the first screen.
pub(super) const FIRST: usize = 3;
/// Number of findings in sight below it; the others are shown on demand.
const FIRST_FINDINGS: usize = 6;

/// The page of one run: a complete HTML document without external references.
pub fn render(analysis: &Analysis<'_>) -> String {
    thread::scope(|scope| {
        let data = scope.spawn(|| packed(&data::json(analysis)));
        // A panic goes on here, with its own message.
        let data = || data.join().unwrap_or_else(|panic| resume_unwind(panic));
        with_data(analysis, data)
    })
}

/// The page of `analysis`; `data` waits for its numbers.
fn with_data(analysis: &Analysis<'_>, data: impl FnOnce() -> String) -> String {
    let run = analysis.run;
    let mut anchors = Anchors::default();
    for name in [
        "top", "glance", "findings", "settings", "trust", "claims", "machine", "method",
    ] {
        anchors.take(name);
    }
    let mut parts = Parts::new();
    let clock_hz = analysis.surroundings.highest_hz();
    let groups = groups(&analysis.experiments, clock_hz, &mut anchors, &mut parts);
    let views = groups.iter().flat_map(|group| &group.experiments);
    let place = |view: &ExperimentView<'_>| {
        let place = (view.id.clone(), view.definition.title.clone());
        (view.definition.id.clone(), place)
    };
    let targets: LinkTargets = views.map(place).collect();
    let with_numbers = analysis
        .experiments
        .iter()
        .filter(|it| !it.points.is_empty());
    let drawn = glance::pictures(analysis);
    let (is_trusted, trust) = trusted(analysis);
    let unusual = foremost(analysis, FIRST).into_iter();
    let unusual = unusual.map(|(experiment, it)| {
        Text::from(&it.sentence).then(reference(&[&experiment.definition.id]))
    });
    let unusual = part(&Blocks::default().list(unusual), "unusual", &targets);
    let without = without_settings(analysis);
    let without = without.map(|words| Blocks::default().say([words]));
    filled(&Page {
        title: title(analysis),
        subtitle: subtitle(run),
        summary: summary(analysis),
        tags: tags(run),
        sections: sections(analysis, &targets),
        is_trusted,
        // A line never begins with the unit of the number before it.
        trust: trust.replace(" %", "\u{a0}%"),
        unusual,
        sides: Unusual::of(analysis).sentences().join(" "),
        pictures: pictures(analysis, &drawn, &targets),
        numbers_at: with_numbers
            .filter_map(|it| targets.get(&it.definition.id))
            .collect(),
        first_settings: gaining(analysis),
        open_settings: undecided(analysis).len(),
        without_settings: without.map(|blocks| part(&blocks, "settings", &targets)),
        groups: &groups,
        run,
        command: repeat(run),
        version: &run.header.version,
        resolution: show::round(Unit::Nanoseconds, run.calibration.resolution_ns),
        cost: show::round(Unit::Nanoseconds, run.calibration.cost_ns),
        parts: packed(&parts),
        data: data(),
        css: include_str!("../../assets/page.css"),
        parts_script: include_str!("../../assets/parts.js"),
        script: include_str!("../../assets/page.js"),
    })
}

/// A part above the chapters; folded, if a line says what is in it.
struct SectionView {
    id: &'static str,
    title: &'static str,
    brief: String,
    contents: String,
}

#[derive(Template)]
#[template(path = "page.html")]
struct Page<'a> {
    title: String,
    subtitle: String,
    summary: Vec<String>,
    tags: Vec<String>,
    is_trusted: bool,
    trust: String,
    /// The foremost findings.
    unusual: String,
    sections: [SectionView; 5],
    /// What is slow and fast for a machine of this kind.
    sides: String,
    pictures: Vec<PictureView<'a>>,
    /// Id and title of each chapter with numbers, for a run without pictures.
    numbers_at: Vec<&'a (String, String)>,
    first_settings: Vec<Gaining>,
    /// Number of settings that the run does not decide.
    open_settings: usize,
    without_settings: Option<String>,
    groups: &'a [GroupView<'a>],
    run: &'a Run,
    command: String,
    version: &'a str,
    resolution: String,
    cost: String,
    data: String,
    parts: String,
    css: &'static str,
    parts_script: &'static str,
    script: &'static str,
}

/// The parts above the chapters, in the order in which readers ask.
fn sections(analysis: &Analysis<'_>, targets: &LinkTargets) -> [SectionView; 5] {
    let evidence = Blocks::default().say([Verdict::of(analysis).text()]);
    let machine = machine::machine(analysis.run);
    let machine = match nearest(analysis) {
        Some(values) => machine.section(NEAREST, values),
        None => machine,
    };
    let settings = match analysis.advice.settings.len() {
        0 => "none follows from this run".to_owned(),
        count => format!("{}, each with its reason", counted(count, "setting")),
    };
    let sections = [
        (
            "trust",
            "How far to trust it",
            "the state of the machine, and each kind of warning".to_owned(),
            evidence.with(trust(analysis)),
        ),
        (
            "machine",
            "The machine",
            "processor, caches, memory, system, storage".to_owned(),
            machine,
        ),
        (
            "findings",
            "What was found",
            String::new(),
            findings(analysis),
        ),
        (
            "settings",
            "What to set here",
            settings,
            advice::settings(analysis),
        ),
        (
            "claims",
            "What is said, and whether it holds here",
            claims::tally(analysis),
            claims::judged(analysis),
        ),
    ];
    sections.map(|(id, title, brief, blocks)| SectionView {
        id,
        title,
        brief,
        contents: part(&blocks, id, targets),
    })
}

/// The findings that change most for a reader, the first of them in sight.
fn findings<'a>(analysis: &Analysis<'_>) -> Blocks<'a> {
    let all = foremost(analysis, MOST_FINDINGS).into_iter();
    let mut first: Vec<_> = all
        .map(|(experiment, it)| finding(it, Some(&experiment.definition.id)))
        .collect();
    let nothing = first
        .is_empty()
        .then_some("Nothing that could be put into a sentence.");
    let further = first.split_off(first.len().min(FIRST_FINDINGS));
    let more = format!("{} more", further.len());
    let further = Blocks::default().items(further);
    Blocks::default()
        .say(nothing)
        .items(first)
        .fold(more, further)
}

/// The original command line plus the seed of the run, so that the points come in the same order again.
fn repeat(run: &Run) -> String {
    let given = run.header.command_line.iter().skip(1);
    let mut words: Vec<String> = iter::once("oscope".to_owned())
        .chain(given.cloned())
        .collect();
    if words.len() == 1 {
        words.push("run".into());
    }
    if !words
        .iter()
        .any(|word| word == "--seed" || word.starts_with("--seed="))
    {
        words.extend(["--seed".into(), run.header.seed.to_string()]);
    }
    show::command(&words)
}

/// The user's tags. Those of printed values would repeat the summary.
fn tags(run: &Run) -> Vec<String> {
    if run.header.is_reported() {
        return Vec::new();
    }
    let tags = run.header.tags.iter();
    tags.map(|(name, value)| format!("{name}={value}"))
        .collect()
}

/// The run's name, else the processor's.
pub(super) fn title(analysis: &Analysis<'_>) -> String {
    let run = analysis.run;
    let names = [&run.header.name, &run.machine.cpu.model];
    let known = names
        .into_iter()
        .flatten()
        .find(|name| !name.trim().is_empty());
    known
        .cloned()
        .unwrap_or_else(|| format!("A machine of {}", show::moment(run.header.started)))
}

/// The machine in one line, without what the title says.
fn subtitle(run: &Run) -> String {
    let machine = show::machine(run);
    let model = run.machine.cpu.model.as_ref();
    let rest = model.filter(|_| run.header.name.is_none());
    let rest = rest.and_then(|model| machine.strip_prefix(&format!("{model}, ")));
    rest.map_or_else(|| machine.clone(), str::to_owned)
}

/// The parts of a run's description, for the line below its title.
fn summary(analysis: &Analysis<'_>) -> Vec<String> {
    let header = &analysis.run.header;
    let points: usize = analysis.experiments.iter().map(|e| e.points.len()).sum();
    let ran = analysis.experiments.iter().filter(|e| e.skipped.is_none());
    let mut parts = show::run(header);
    parts.extend([counted(ran.count(), "experiment"), counted(points, "point")]);
    parts.extend((!header.is_reported()).then(|| counted(analysis.samples, "sample")));
    parts
}
