//! The page's text from an analysis.

use super::anchor::Anchors;
use super::claim::{ClaimView, claims};
use super::evidence::{Evidence, Words, summary, words};
use super::experiment::{GroupView, groups};
use super::facts::{Facts, facts};
use super::finding::{FindingView, Piece};
use super::glance::{PictureView, chapters_with_numbers, pictures};
use super::packed::{Parts, packed};
use super::setting::{AudienceView, SettingView, first, settings, untold};
use super::{command, data};
use crate::advice::without_settings;
use crate::first_screen::first_screen;
use crate::ranking::{MOST_FINDINGS, foremost};
use crate::thumb::{Side, Sides};
use crate::{Analysis, show};
use askama::Template;
use instrument::quantity::Unit;
use record::Run;

/// Number of findings on the first screen; the others are shown on demand.
const FIRST_FINDINGS: usize = 6;

/// The reason why a page could not be written.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The templates could not be filled.
    #[error("the page could not be laid out: {0}")]
    Layout(#[from] askama::Error),
    /// The data could not be put into the page.
    #[error("the data could not be put into the page: {0}")]
    Data(#[from] serde_json::Error),
}

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
    // Views and analysis have different orders of experiments, so ids are matched by name.
    let place_of = |name: &str| {
        let mut all = groups.iter().flat_map(|group| &group.experiments);
        let view = all.find(|view| view.name == name)?;
        Some((view.id.clone(), view.title.clone()))
    };
    let findings: Vec<FindingView> = foremost(analysis, MOST_FINDINGS)
        .into_iter()
        .map(|(experiment, finding)| FindingView {
            from: place_of(&experiment.definition.id),
            ..FindingView::new(finding)
        })
        .collect();
    let (decided, undecided) = claims(analysis, place_of);
    let (first_findings, further) = findings.split_at(findings.len().min(FIRST_FINDINGS));
    let page = Page {
        caution: show::stand_in(run),
        conditions: analysis.surroundings.first(),
        title: title(analysis),
        subtitle: subtitle(run),
        summary: summary(analysis),
        tags: tags(run),
        first_findings,
        further,
        sides: Sides::of(analysis).named(),
        rules_from: &first_screen().rules_from,
        pictures: pictures(analysis, place_of),
        numbers_at: chapters_with_numbers(analysis, place_of),
        first_settings: first(analysis),
        settings: settings(analysis, place_of),
        has_settings: !analysis.advice.settings.is_empty(),
        without_settings: without_settings(analysis).map(words),
        untold: untold(analysis),
        decided,
        undecided,
        evidence: Evidence::new(analysis),
        facts: facts(run),
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
    first_findings: &'a [FindingView],
    further: &'a [FindingView],
    /// The strong and the weak sides of the machine.
    sides: Vec<(&'static str, Vec<Side>)>,
    /// The lists of the rules of thumb.
    rules_from: &'static str,
    pictures: Vec<PictureView>,
    /// Id and title of each chapter with numbers, told where there is no picture.
    numbers_at: Vec<(String, String)>,
    first_settings: Vec<SettingView>,
    settings: Vec<AudienceView>,
    /// True if there is a setting that programs can load.
    has_settings: bool,
    /// A sentence in place of the first settings.
    without_settings: Option<Vec<Words>>,
    untold: Vec<(&'static str, Vec<Words>)>,
    decided: Vec<ClaimView>,
    undecided: Vec<ClaimView>,
    evidence: Evidence,
    facts: Vec<Facts>,
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
