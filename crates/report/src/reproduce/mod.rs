//! The published reports figure by figure: what each printed, what it is here, and why they differ.
//!
//! A figure is judged by its number, a table also by its shapes: ratios, order, growth, crossover and
//! plateau, which can be compared with a machine of another age.

mod figure;
mod graph;
mod here;
mod json;
mod judge;
mod printed;
mod shape;
mod unit;
pub(crate) mod words;

pub use graph::{Graph, graphs};
pub use here::{Failed, Measurements, Wanted};
pub(crate) use here::{Here, Missing, inverse};
pub use json::{json, schema};
pub use judge::{Outcome, TOLERANCE, TOLERANCE_OF_GROWTH, TOLERANCE_OF_PLACES};
pub use printed::{Figure, Kind, Knee, Query, Report, ShapeKind, Side, System, Table, tables};
pub use shape::Shape;
pub use unit::PrintedUnit;

use instrument::claim::{Claim, Evidence, Judgement, Ruling};
use instrument::quantity::Quantity;
use instrument::results::Results;
use std::collections::BTreeMap;

/// The reports and figures to judge.
#[derive(Clone, Debug, Default)]
pub struct Choice {
    /// The report; all five without one.
    pub report: Option<Report>,
    /// Words of a table's place or name, as in `table 1` or `e_calls`; all tables without one.
    pub place: Option<String>,
}

/// The reports, reproduced.
#[derive(Debug)]
pub struct Reproduction {
    /// The chosen tables.
    pub tables: Vec<JudgedTable>,
    /// The claims of the chosen reports. None if one table was chosen.
    pub claims: Vec<(Report, &'static Claim, Judgement)>,
    /// The model of the processor here.
    pub machine: String,
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
    pub wanted: Option<Wanted>,
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
            && (self.place.iter()).all(|place| is_named(table, place))
    }

    /// The experiments that the chosen tables and claims need, each once.
    pub fn experiments(&self) -> Vec<&'static str> {
        let chosen = tables().iter().filter(|table| self.includes(table));
        let figures = chosen.flat_map(|table| &table.figures);
        let mut ids: Vec<&str> = figures
            .filter_map(|figure| Some(figure.here.as_ref()?.experiment.as_str()))
            .chain(
                self.claims()
                    .flat_map(|(_, claim)| claim.experiments.iter().copied()),
            )
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

/// True if `words` is the table's name or part of its place, as in `fig 26` for `Figure 26`.
fn is_named(table: &Table, words: &str) -> bool {
    let plain = |text: &str| {
        let text = text.to_lowercase().replace("fig.", "figure");
        let text = text.replace("fig ", "figure ").replace(',', " ");
        let words: Vec<&str> = text.split_whitespace().collect();
        format!(" {} ", words.join(" "))
    };
    let (place, words) = (plain(&table.place), plain(words));
    table.id == words.trim() || place.contains(&words) || {
        // A section names its subsections, and a bare number a table or a figure.
        let number = format!(" section {}.", words.trim().trim_start_matches("section "));
        let bare = ["figure", "table", "section"].map(|it| format!(" {it}{words}"));
        place.contains(&number) || bare.iter().any(|it| place.contains(it))
    }
}

impl Reproduction {
    /// Judges what was chosen by these results. Of one experiment there may be several, the newest
    /// first; claims are judged by all of them `together`, with each experiment once. `failed` holds what this
    /// machine refused to measure, and `machine` is the model of the processor.
    pub fn new(
        choice: &Choice,
        results: &[Results<'_>],
        together: &[Results<'_>],
        failed: &[Failed],
        machine: &str,
    ) -> Self {
        let measured = Measurements::new(results).refused(failed);
        let chosen = tables().iter().filter(|table| choice.includes(table));
        let evidence = Evidence::new(together);
        let claims = choice.claims();
        Self {
            tables: chosen
                .map(|table| figure::judged(table, &measured, machine))
                .collect(),
            claims: claims
                .map(|(report, claim)| (report, claim, claim.judge(&evidence)))
                .collect(),
            machine: machine.to_owned(),
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

    /// Measurements that the missing figures need: for each experiment the levels of each axis, no axis
    /// if all of it is missing. Figures that name other axes are apart, since a run has every combination of
    /// its levels.
    fn wanted(&self) -> Vec<(&str, BTreeMap<&str, Vec<String>>)> {
        let mut wanted: Vec<(&str, BTreeMap<&str, Vec<String>>)> = Vec::new();
        let figures = self.tables.iter().flat_map(|table| &table.figures);
        for missing in figures.filter_map(|figure| figure.wanted.as_ref()) {
            let is_alike = |(experiment, axes): &(&str, BTreeMap<&str, Vec<String>>)| {
                *experiment == missing.experiment && axes.keys().eq(missing.levels.keys())
            };
            let at = wanted.iter().position(is_alike).unwrap_or_else(|| {
                let axes = missing.levels.keys();
                let axes = axes.map(|axis| (axis.as_str(), Vec::new())).collect();
                wanted.push((&missing.experiment, axes));
                wanted.len() - 1
            });
            for (axis, level) in &missing.levels {
                let levels = wanted[at].1.entry(axis).or_default();
                let level = level.to_string();
                if !levels.contains(&level) {
                    levels.push(level);
                }
            }
        }
        // An experiment that is missing as a whole needs no other command.
        let whole: Vec<&str> = wanted
            .iter()
            .filter(|(_, axes)| axes.is_empty())
            .map(|(experiment, _)| *experiment)
            .collect();
        wanted.retain(|(experiment, axes)| axes.is_empty() || !whole.contains(experiment));
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
        self.wanted().into_iter().map(command).collect()
    }
}

#[cfg(test)]
mod tests;
