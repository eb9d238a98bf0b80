//! The published reports figure by figure: what each printed, what it is here, and why they differ.
//!
//! A figure is judged by its number, a table also by its shapes: ratios, order, growth, crossover and
//! plateau, which can be compared with a machine of another age.

mod figure;
mod graph;
mod here;
mod json;
mod judge;
mod picture;
mod printed;
mod shape;
mod unit;
pub(crate) mod words;

pub use graph::{Graph, graphs};
pub use here::{Failed, Measurements, Wanted};
pub(crate) use here::{Here, Missing, fits, inverse};
pub use json::{json, schema};
pub use judge::{Outcome, TOLERANCE, TOLERANCE_OF_GROWTH, TOLERANCE_OF_PLACES};
pub use picture::Drawn;
pub use printed::{
    Figure, Kind, Knee, Picture, Query, Report, ShapeKind, Side, System, Table, tables,
};
pub use shape::Shape;
pub use unit::PrintedUnit;

use experiments::programs::{PROGRAMS, Program};
use instrument::claim::{Claim, Evidence, Judgement, Ruling};
use instrument::quantity::Quantity;
use instrument::results::Results;
use std::collections::BTreeMap;

/// The reports and figures to judge.
#[derive(Clone, Debug, Default)]
pub struct Choice {
    /// The report; all five without one.
    pub report: Option<Report>,
    /// Words of a table's place, its name or that of a row, as in `table 1`, `e_calls` or `BM_dd/512`; all tables
    /// without one.
    pub place: Option<String>,
}

/// The reports, reproduced.
#[derive(Debug)]
pub struct Reproduction {
    /// The chosen tables.
    pub tables: Vec<JudgedTable>,
    /// The claims of the chosen reports. None if one table was chosen.
    pub claims: Vec<(Report, &'static Claim, Judgement)>,
    /// Experiments of these claims that no run has.
    unmeasured: Vec<Wanted>,
    /// Experiments with points that only the standard profile plans, which a claim may need.
    incomplete: Vec<&'static str>,
    /// The model of the processor here.
    pub machine: String,
    /// A caution about a run that it was judged by.
    pub caution: Option<String>,
}

/// A table with each of its figures judged.
#[derive(Debug)]
pub struct JudgedTable {
    /// The table as printed.
    pub table: &'static Table,
    /// Its figures in the order of the rows.
    pub figures: Vec<JudgedFigure>,
    /// Its shapes.
    pub shapes: Vec<Shape>,
    /// The charts that show what a picture showed.
    pub drawn: Drawn,
}

/// A figure with its value here.
#[derive(Debug)]
pub struct JudgedFigure {
    /// The figure as printed.
    pub figure: &'static Figure,
    /// The value here, in the unit of oscope.
    pub here: Option<Quantity>,
    /// The point that gave it.
    pub point: Option<String>,
    /// The judgement.
    pub outcome: Outcome,
    /// The reason why it differs or is undecided.
    pub reason: Option<String>,
    /// Measurements that are needed first.
    pub wanted: Vec<Wanted>,
}

/// Counts by outcome.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize, schemars::JsonSchema)]
pub struct Tally {
    /// As reported.
    pub as_reported: usize,
    /// Different.
    pub differs: usize,
    /// Undecided.
    pub undecided: usize,
}

impl Tally {
    fn of(outcomes: impl Iterator<Item = Outcome>) -> Self {
        let mut tally = Self::default();
        for outcome in outcomes {
            *match outcome {
                Outcome::AsReported => &mut tally.as_reported,
                Outcome::Differs => &mut tally.differs,
                Outcome::Undecided => &mut tally.undecided,
            } += 1;
        }
        tally
    }

    /// All together.
    pub fn all(&self) -> usize {
        self.as_reported + self.differs + self.undecided
    }
}

impl JudgedTable {
    /// Its figures by outcome.
    pub fn tally(&self) -> Tally {
        Tally::of(self.figures.iter().map(|figure| figure.outcome))
    }
}

impl Choice {
    /// True if the table is chosen.
    pub fn includes(&self, table: &Table) -> bool {
        self.report.is_none_or(|report| report == table.report)
            && (self.place.iter())
                .all(|place| is_named(&table.id, &table.place, place) || has_row(table, place))
    }

    /// The first program or listing that the reports have at the chosen place.
    pub fn listing(&self) -> Option<&'static Program> {
        let place = self.place.as_ref()?;
        let is_in =
            |letter: &str| (self.report.iter()).all(|report| letter == report.letter().to_string());
        let mut programs = PROGRAMS.iter();
        programs.find(|it| is_in(it.report) && is_named("", it.place, place))
    }

    /// The experiments that the chosen tables and claims need, each once.
    pub fn experiments(&self) -> Vec<&'static str> {
        let chosen = || tables().iter().filter(|table| self.includes(table));
        let figures = chosen().flat_map(|table| &table.figures);
        let pictures = chosen().filter_map(|table| table.picture.as_ref());
        let claims = self.claims();
        let claimed = claims.flat_map(|(_, claim)| claim.basis.experiments());
        let mut ids: Vec<&str> = figures
            .filter_map(|figure| Some(figure.here.as_ref()?.experiment.as_str()))
            .chain(pictures.map(|picture| picture.experiment.as_str()))
            .chain(claimed.copied())
            .collect();
        ids.sort_unstable();
        ids.dedup();
        ids
    }

    fn claims(&self) -> impl Iterator<Item = (Report, &'static Claim)> {
        let reports: &[Report] = match (&self.place, &self.report) {
            (Some(_), _) => &[],
            (None, Some(report)) => std::slice::from_ref(report),
            (None, None) => &Report::ALL,
        };
        experiments::claims().filter_map(|claim| {
            let mut named = reports.iter();
            let report = named.find(|report| report.is_source(claim.source))?;
            Some((*report, claim))
        })
    }
}

/// True if a row of the table has this name, as `BM_dd/512`.
fn has_row(table: &Table, name: &str) -> bool {
    let mut rows = table.figures.iter();
    rows.any(|figure| figure.what.eq_ignore_ascii_case(name))
}

/// True if `words` is the name `id` or part of the `place`, as in `fig 26` for `Figure 26`.
fn is_named(id: &str, place: &str, words: &str) -> bool {
    let plain = |text: &str| {
        let text = text.to_lowercase().replace("fig.", "figure");
        let text = text.replace("fig ", "figure ").replace(',', " ");
        let words: Vec<&str> = text.split_whitespace().collect();
        format!(" {} ", words.join(" "))
    };
    let (place, words) = (plain(place), plain(words));
    id == words.trim() || place.contains(&words) || {
        // A section names its subsections, and a bare number a table or a figure.
        let number = format!(" section {}.", words.trim().trim_start_matches("section "));
        let bare = ["figure", "table", "section"].map(|it| format!(" {it}{words}"));
        place.contains(&number) || bare.iter().any(|it| place.contains(it))
    }
}

/// What a reproduction judges by.
#[derive(Clone, Copy, Debug, Default)]
pub struct Measured<'a> {
    /// Everything measured here. Of one experiment there may be several results, the newest first.
    pub results: &'a [Results<'a>],
    /// The same together, with each experiment once.
    pub together: &'a [Results<'a>],
    /// What was measured on Windows, here or elsewhere: each experiment once.
    pub on_windows: &'a [Results<'a>],
    /// True if these are the results of Windows themselves, so that there are none of another system.
    pub is_windows_alone: bool,
    /// What this machine refused to measure.
    pub failed: &'a [Failed],
    /// A caution about one of the runs.
    pub caution: Option<&'a str>,
    /// The experiments of which the standard profile plans points that no run has tried.
    pub incomplete: &'a [&'static str],
}

impl Reproduction {
    /// Judges what was chosen by these measurements.
    pub fn new(choice: &Choice, measured: &Measured<'_>) -> Self {
        let here = Measurements::new(measured.results, measured.failed);
        let on_windows = Measurements::new(measured.on_windows, &[]);
        let on_windows = (!measured.on_windows.is_empty()).then_some(&on_windows);
        let chosen = tables().iter().filter(|table| choice.includes(table));
        let second = Some(measured.on_windows).filter(|_| !measured.is_windows_alone);
        let evidence = Evidence::new(measured.together).next_to_windows(second.unwrap_or_default());
        let judged = |table: &'static Table| {
            let judged = figure::judged(table, &here, on_windows);
            let drawn = table.picture.as_ref().map(|picture| {
                picture::drawn(picture, (&here, measured.together), measured.on_windows)
            });
            JudgedTable {
                drawn: drawn.unwrap_or_default(),
                ..judged
            }
        };
        let needed = choice
            .claims()
            .flat_map(|(_, claim)| claim.basis.experiments());
        let unmeasured = needed.filter(|id| !here.has(id));
        let unmeasured = unmeasured.filter_map(|id| here.missing_whole(id).wanted);
        let open = (choice.claims()).filter(|(_, claim)| !claim.is_measured(&evidence));
        let of_open = open.flat_map(|(_, claim)| claim.basis.experiments().iter().copied());
        let mut incomplete: Vec<&str> = of_open
            .filter(|id| here.has(id) && measured.incomplete.contains(id))
            .collect();
        incomplete.sort_unstable();
        incomplete.dedup();
        Self {
            tables: chosen.map(judged).collect(),
            claims: (choice.claims())
                .map(|(report, claim)| (report, claim, claim.judge(&evidence)))
                .collect(),
            unmeasured: unmeasured.collect(),
            incomplete,
            machine: here.machine().to_owned(),
            caution: measured.caution.map(str::to_owned),
        }
    }

    /// The figures by outcome.
    pub fn figures(&self) -> Tally {
        let figures = self.tables.iter().flat_map(|table| &table.figures);
        Tally::of(figures.map(|figure| figure.outcome))
    }

    /// The shapes by outcome.
    pub fn shapes(&self) -> Tally {
        let shapes = self.tables.iter().flat_map(|table| &table.shapes);
        Tally::of(shapes.map(|shape| shape.outcome))
    }

    /// The claims by outcome: what holds, holds in part, does not hold, and is open.
    pub fn claims(&self) -> [usize; 4] {
        let of = |ruling| {
            let claims = self.claims.iter();
            claims.filter(|(.., it)| it.ruling == ruling).count()
        };
        [
            Ruling::Holds,
            Ruling::HoldsInPart,
            Ruling::DoesNotHold,
            Ruling::Undecided,
        ]
        .map(of)
    }

    /// Measurements that the missing figures, charts and claims need: for each experiment the levels of each axis, no axis
    /// if all of it is missing. A run has every combination of its levels, and so measurements that differ in more than
    /// one axis are apart unless all their combinations are needed.
    fn wanted(&self) -> Vec<(&str, BTreeMap<&str, Vec<String>>)> {
        let figures = self.tables.iter().flat_map(|table| &table.figures);
        let of_figures = figures.flat_map(|figure| &figure.wanted);
        let pictures = self.tables.iter();
        let of_pictures = pictures.filter_map(|table| table.drawn.wanted.as_ref());
        let mut wanted: Vec<(&str, BTreeMap<&str, Vec<String>>)> = Vec::new();
        for missing in of_figures.chain(of_pictures).chain(&self.unmeasured) {
            let levels = missing.levels.iter();
            let levels = levels.map(|(axis, level)| (axis.as_str(), vec![level.to_string()]));
            let one = (missing.experiment.as_str(), levels.collect());
            if !wanted.contains(&one) {
                wanted.push(one);
            }
        }
        // An experiment that is missing as a whole, or runs for longer, needs no other command yet.
        let whole: Vec<&str> = wanted
            .iter()
            .filter(|(_, axes)| axes.is_empty())
            .map(|(experiment, _)| *experiment)
            .chain(self.incomplete.iter().copied())
            .collect();
        wanted.retain(|(experiment, axes)| axes.is_empty() || !whole.contains(experiment));
        while join_two(&mut wanted) {}
        wanted.sort();
        wanted
    }

    /// The arguments of `oscope` that measure what is missing.
    pub fn commands(&self) -> Vec<Vec<String>> {
        let command = |(experiment, axes): (&str, BTreeMap<&str, Vec<String>>)| {
            let mut words = vec!["run".to_owned(), experiment.to_owned()];
            // A run of all has left these points out, or had too little time for them.
            if !axes.is_empty() {
                words.extend(["--profile".to_owned(), "standard".to_owned()]);
            }
            for (axis, levels) in axes {
                for level in levels {
                    words.extend(["--at".to_owned(), format!("{axis}={level}")]);
                }
            }
            words
        };
        let of_claims = self.incomplete.iter().map(|id| {
            let words = ["run", id, "--profile", "standard"];
            words.map(str::to_owned).to_vec()
        });
        of_claims
            .chain(self.wanted().into_iter().map(command))
            .collect()
    }
}

/// Joins the first two measurements of one experiment whose levels differ on one axis alone; false if there are none.
fn join_two(wanted: &mut Vec<(&str, BTreeMap<&str, Vec<String>>)>) -> bool {
    for first in 0..wanted.len() {
        for second in first + 1..wanted.len() {
            let [(one, axes), (other, others)] = [&wanted[first], &wanted[second]];
            if one != other || !axes.keys().eq(others.keys()) {
                continue;
            }
            let mut different = axes.keys().filter(|axis| axes[*axis] != others[*axis]);
            if let (Some(&axis), None) = (different.next(), different.next()) {
                let more = wanted.remove(second).1.remove(axis).unwrap_or_default();
                let levels = wanted[first].1.entry(axis).or_default();
                levels.extend(more);
                return true;
            }
        }
    }
    false
}

#[cfg(test)]
mod tests;
