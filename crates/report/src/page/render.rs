//! The page's text from an analysis.

use super::anchor::Anchors;
use super::document::{Error, Places, part};
use super::experiment::{GroupView, groups};
use super::glance::{PictureView, chapters_with_numbers, pictures};
use super::packed::{Parts, packed};
use super::setting::{SettingView, first};
use super::{command, data};
use crate::advice::{untold, without_settings};
use crate::document::{Blocks, Text};
use crate::first_screen::first_screen;
use crate::ranking::{MOST_FINDINGS, foremost};
use crate::thumb::{Side, Sides};
use crate::view::run::{finding, trust};
use crate::view::{advice, claims, machine};
use crate::{Analysis, Verdict, show};
use askama::Template;
use instrument::quantity::{Unit, counted};
use record::Run;

/// Number of findings on the first screen; the others are shown on demand.
const FIRST_FINDINGS: usize = 6;

/// The page of one run: a complete HTML document without external references.
///
/// # Errors
/// [`Error`] if a template or the data cannot be written. No such case is known.
pub fn render(analysis: &Analysis<'_>) -> Result<String, Error> {
    let run = analysis.run;
    let mut anchors = Anchors::default();
    for name in [
        "top", "glance", "findings", "settings", "trust", "claims", "machine", "method",
    ] {
        anchors.take(name);
    }
    let mut parts = Parts::default();
    let groups = groups(
        &analysis.experiments,
        analysis.surroundings.highest_hz(),
        &mut anchors,
        &mut parts,
    )?;
    let views = groups.iter().flat_map(|group| &group.experiments);
    let places: Places = views
        .map(|view| (view.name.clone(), (view.id.clone(), view.title.clone())))
        .collect();
    let place_of = |name: &str| places.get(name).cloned();
    let verdict = Verdict::of(analysis);
    let evidence = Blocks::default().say([verdict.text()]);
    let sections = [
        ("findings", "What was found", findings(analysis)),
        ("settings", "What to set here", advice::settings(analysis)),
        (
            "claims",
            "What is said, and whether it holds here",
            claims::judged(analysis),
        ),
        (
            "trust",
            "How far to trust it",
            evidence.with(trust(analysis)),
        ),
        ("machine", "The machine", machine::machine(run)),
    ];
    let sections = sections.map(|(id, title, blocks)| (id, title, part(&blocks, id, &places)));
    let without =
        without_settings(analysis).map(|words| Blocks::default().say([Text::marked(words)]));
    let page = Page {
        caution: show::stand_in(run),
        conditions: analysis.surroundings.first(),
        title: title(analysis),
        subtitle: subtitle(run),
        summary: summary(analysis),
        tags: tags(run),
        sections,
        verdict: verdict.line(),
        sides: Sides::of(analysis).named(),
        rules_from: &first_screen().rules_from,
        pictures: pictures(analysis, place_of),
        numbers_at: chapters_with_numbers(analysis, place_of),
        first_settings: first(analysis),
        open_settings: untold(analysis).len(),
        without_settings: without.map(|blocks| part(&blocks, "settings", &places)),
        groups: &groups,
        reported: run.header.is_reported(),
        command: command::repeat(run),
        seed: run.header.seed,
        run_id: &run.header.id,
        version: &run.header.version,
        resolution: show::round(Unit::Nanoseconds, run.calibration.resolution_ns),
        cost: show::round(Unit::Nanoseconds, run.calibration.cost_ns),
        data: packed(&data::json(analysis)?)?,
        parts: parts.packed()?,
        css: include_str!("../../assets/page.css"),
        parts_script: include_str!("../../assets/parts.js"),
        script: include_str!("../../assets/page.js"),
    };
    Ok(page.render()?)
}

#[derive(Template)]
#[template(path = "page.html")]
struct Page<'a> {
    /// A reason not to take the times for those of the system.
    caution: Option<String>,
    /// The conditions that may have moved the values.
    conditions: Option<String>,
    title: String,
    subtitle: String,
    summary: Vec<String>,
    tags: Vec<String>,
    /// The verdict on the run in one line.
    verdict: String,
    /// Id, title and contents of each section above the chapters.
    sections: [(&'static str, &'static str, String); 5],
    /// The strong and the weak sides of the machine.
    sides: Vec<(&'static str, Vec<Side>)>,
    /// The lists of the rules of thumb.
    rules_from: &'static str,
    pictures: Vec<PictureView>,
    /// Id and title of each chapter with numbers, told where there is no picture.
    numbers_at: Vec<(String, String)>,
    first_settings: Vec<SettingView>,
    /// Number of settings that the run does not decide.
    open_settings: usize,
    /// A sentence in place of the first settings.
    without_settings: Option<String>,
    groups: &'a [GroupView],
    reported: bool,
    command: String,
    seed: u64,
    run_id: &'a str,
    version: &'a str,
    resolution: String,
    cost: String,
    data: String,
    parts: String,
    css: &'static str,
    parts_script: &'static str,
    script: &'static str,
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

/// The user's tags. Those of printed values say again what the summary says.
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
