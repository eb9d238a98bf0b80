//! The list of all figures that the published reports print.
//!
//! The list is data: `reference/printed.py` holds it as it was printed, table by table, and `reference/make.py`
//! writes `reference/figures.json`, which is part of the program. No figure has a grade: its spread and the state
//! of the caches were not printed and are unknown.

use super::unit::PrintedUnit;
use crate::lists::joined;
use instrument::definition::Metric;
use instrument::figure::FigureScale;
#[cfg(test)]
use instrument::point::AxisKind;
use instrument::point::Level;
use instrument::quantity::Unit;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::sync::OnceLock;

/// One of the published reports.
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, schemars::JsonSchema,
)]
#[serde(rename_all = "snake_case")]
pub enum Report {
    /// Reading and writing files, on macOS.
    A,
    /// The same task on Linux.
    B,
    /// Files between two programs; it prints graphs and no figures.
    C,
    /// User-level threads.
    D,
    /// Linux against Windows on a Pentium 4.
    E,
}

impl Report {
    /// All five.
    pub const ALL: [Self; 5] = [Self::A, Self::B, Self::C, Self::D, Self::E];

    /// Its letter.
    pub const fn letter(self) -> char {
        (b'A' + self as u8) as char
    }

    /// Its subject in a few words.
    pub const fn subject(self) -> &'static str {
        match self {
            Self::A => "files on a MacBook Air M1",
            Self::B => "files on Linux, in part in WSL",
            Self::C => "files from a master to a slave",
            Self::D => "user-level threads",
            Self::E => "Linux against Windows on a Pentium 4",
        }
    }

    /// True if a claim's source names this report.
    pub fn is_source(self, source: &str) -> bool {
        let letter = self.letter().to_string();
        match source.strip_prefix("Reports ") {
            Some(several) => {
                let several = several.split(',').next().unwrap_or(several);
                several.split(" and ").any(|name| name == letter)
            }
            None => source.starts_with(&format!("Report {letter}")),
        }
    }
}

/// Place of a figure in its report.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Kind {
    /// A table.
    Table,
    /// The output of a program.
    Console,
    /// Running text.
    Prose,
    /// A graph without its numbers.
    Picture,
}

/// The system that a figure was measured on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum System {
    /// Linux.
    Linux,
    /// macOS.
    Macos,
    /// Windows.
    Windows,
}

/// A table, a console, or a place in running text.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Table {
    /// Its name, the same in every version: `a_calls`.
    pub id: String,
    /// Its report.
    pub report: Report,
    /// The report's own section, table or figure.
    pub place: String,
    /// Title of a few words.
    pub title: String,
    /// Its place.
    pub kind: Kind,
    /// The system that it was measured on, unless a figure names another.
    pub system: System,
    /// The machine, if it is known.
    pub machine: Option<String>,
    /// The shapes by which it is judged.
    pub shapes: Vec<ShapeKind>,
    /// The reason why figures without a counterpart have none.
    pub why: Option<String>,
    /// The known reason why figures differ.
    pub because: Option<String>,
    /// The part of the work that was not printed, and what it follows from.
    #[serde(default)]
    pub inferred: Option<String>,
    /// Pairs of series; the first wins from some place on.
    pub rivals: Vec<[String; 2]>,
    /// The axes of its graph, if its figures lie along one.
    pub axes: Option<Axes>,
    /// Its figures, in the order of the rows. A picture has none.
    pub figures: Vec<Figure>,
    /// What is known of a picture.
    #[serde(default)]
    pub picture: Option<Picture>,
}

/// A graph without its numbers.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Picture {
    /// What the text of the report says of it.
    pub says: String,
    /// The experiment that draws the same.
    pub experiment: String,
    /// The charts that do; all of the experiment's without one.
    pub charts: Vec<String>,
    /// Levels that the charts need and that a quick run leaves out.
    pub levels: BTreeMap<String, Level>,
    /// The systems that it shows.
    pub systems: Vec<System>,
}

/// The axes of a table's graph.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Axes {
    /// Title of the horizontal axis.
    pub x: String,
    /// Unit of its numbers.
    pub unit: Unit,
    /// Its scale.
    pub x_scale: FigureScale,
    /// Scale of the vertical axis; `None` if the values decide it.
    pub y_scale: Option<FigureScale>,
    /// True if the report has this graph and names its axes.
    pub as_reported: bool,
}

/// The shapes of a table.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ShapeKind {
    /// Each figure over the first of its series.
    Ratio,
    /// The order of the figures of a series by size.
    Order,
    /// The exponent with which a series grows along its axis.
    Growth,
    /// The place from which on one series is below its rival.
    Crossover,
    /// The place from which on a series gains nothing.
    Plateau,
}

/// A printed number.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Figure {
    /// Its row.
    pub what: String,
    /// Its column.
    pub series: String,
    /// Its digits as printed.
    pub printed: String,
    /// The unit as printed.
    pub unit: PrintedUnit,
    /// Its place along the numeric axis of the table.
    pub x: Option<f64>,
    /// The system, if it is another than that of the table.
    system: Option<System>,
    /// The point of oscope that does the same work.
    pub here: Option<Query>,
    /// The reason why there is none.
    why: Option<String>,
}

/// The work of oscope that a figure is compared with.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Query {
    /// The experiment's id.
    pub experiment: String,
    /// The metric.
    pub metric: String,
    /// The levels of the point; an axis that is not named was not printed, and any level will do.
    pub levels: BTreeMap<String, Level>,
    /// Other levels of a second point, by whose value the first is divided.
    pub over: Option<BTreeMap<String, Level>>,
    /// Other levels of a second point, whose value is subtracted from the first.
    pub minus: Option<BTreeMap<String, Level>>,
    /// The value is the time of this work at the rate that the metric measures.
    pub inverse_of: Option<f64>,
    /// The value is this many times that of the metric.
    pub times: Option<f64>,
    /// Other levels that the report may have meant as well: it did not print which.
    pub or: Option<BTreeMap<String, Level>>,
    /// An axis on which any level will do for shapes, such as the size of a file of which every part costs the same.
    pub any_for_shapes: Option<String>,
    /// The amount of work was not printed: only ratios can be compared.
    #[serde(default)]
    pub proportional: bool,
    /// A place on the curve through these levels, instead of a value.
    pub knee: Option<Knee>,
}

impl Query {
    /// Its metric, as this version of oscope defines it.
    pub fn metric(&self) -> Option<Metric> {
        let definition = experiments::find(&self.experiment)?.definition();
        definition.metric(&self.metric).cloned()
    }

    /// The same with the other levels that the report may have meant.
    pub fn other_reading(&self) -> Option<Self> {
        let mut other = Self {
            or: None,
            ..self.clone()
        };
        other.levels.extend(self.or.clone()?);
        Some(other)
    }

    /// The same for shapes alone, where any level of an axis will do.
    pub fn at_any(&self) -> Option<Self> {
        let mut other = self.clone();
        other.levels.remove(self.any_for_shapes.as_ref()?)?;
        Some(other)
    }

    /// The levels in which it differs from its other reading.
    pub fn reading(&self, other: &Self) -> String {
        let levels = self.levels.iter();
        let own = levels.filter(|(axis, level)| other.levels.get(*axis) != Some(*level));
        joined(", ", own.map(|(_, level)| level.to_string()))
    }

    /// The levels of the second point.
    pub fn second(&self) -> Option<BTreeMap<String, Level>> {
        if self.minus.is_some() {
            return self.minus.clone();
        }
        let mut levels = self.levels.clone();
        levels.extend(self.over.clone()?);
        Some(levels)
    }
}

#[cfg(test)]
impl Query {
    /// Its metric, after a check that its metric and its levels are those of its experiment.
    #[track_caller]
    pub(crate) fn checked(&self) -> Metric {
        let known = experiments::find(&self.experiment).expect(&self.experiment);
        let known = known.definition();
        let second = self.second().unwrap_or_default();
        for (axis, level) in self.levels.iter().chain(&second) {
            let axis = known.axis(axis).unwrap_or_else(|| panic!("{self:?}"));
            let is_choice = matches!(level, Level::Choice(_));
            assert_eq!(axis.kind == AxisKind::Choice, is_choice, "{self:?}");
        }
        self.metric().unwrap_or_else(|| panic!("{self:?}"))
    }
}

/// A place on a curve.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Knee {
    /// The axis of the curve.
    pub along: String,
    /// The place.
    pub side: Side,
    /// Another metric, whose value is subtracted at each place of the curve.
    pub less: Option<String>,
}

/// A place on a curve of which more is better.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Side {
    /// The start of the plateau at its end.
    From,
    /// The end of the plateau at its start.
    Until,
    /// The best.
    Best,
}

impl Figure {
    /// Its value in the unit of oscope.
    pub fn value(&self) -> f64 {
        let printed: f64 = self.printed.parse().expect("a test parses every figure");
        printed * self.unit.in_base().1
    }

    /// Half a unit of its last digit, in the unit of oscope: how far rounding may have moved it.
    pub fn rounding(&self) -> f64 {
        let (mantissa, exponent) = self.printed.split_once('e').unwrap_or((&self.printed, "0"));
        let decimals = mantissa
            .split_once('.')
            .map_or(0, |(_, digits)| digits.len());
        let exponent: f64 = exponent.parse().expect("a test parses every figure");
        0.5 * 10_f64.powf(exponent - decimals as f64) * self.unit.in_base().1
    }

    /// The system that it was measured on.
    pub fn system(&self, table: &Table) -> System {
        self.system.unwrap_or(table.system)
    }

    /// The reason why it has no counterpart.
    pub fn why<'a>(&'a self, table: &'a Table) -> Option<&'a str> {
        self.why.as_deref().or(table.why.as_deref())
    }
}

/// All tables, report by report.
pub fn tables() -> &'static [Table] {
    static TABLES: OnceLock<Vec<Table>> = OnceLock::new();
    const DOCUMENT: &str = include_str!("../../../../reference/figures.json");
    TABLES.get_or_init(|| serde_json::from_str(DOCUMENT).expect("a test reads this document"))
}

#[cfg(test)]
mod tests {
    use super::{Kind, Report, tables};
    use instrument::quantity::Unit;
    use std::collections::{BTreeMap, BTreeSet};

    /// The count that `docs/guide/reports.md` publishes.
    #[test]
    fn the_list_is_as_long_as_the_documents_say() {
        let mut counts: BTreeMap<Report, [usize; 3]> = BTreeMap::new();
        for table in tables() {
            let [printed, prose, pictures] = counts.entry(table.report).or_default();
            match table.kind {
                Kind::Table | Kind::Console => *printed += table.figures.len(),
                Kind::Prose => *prose += table.figures.len(),
                Kind::Picture => *pictures += 1,
            }
        }
        let document = include_str!("../../../../docs/guide/reports.md");
        for (report, [printed, prose, pictures]) in counts {
            let row = format!("| {} | {printed} | {prose} | {pictures} |", report.letter());
            assert!(
                document.contains(&row),
                "docs/guide/reports.md has no row {row}"
            );
        }
    }

    #[test]
    fn every_figure_can_be_read_and_is_there_once() {
        let mut ids = BTreeSet::new();
        for table in tables() {
            assert!(ids.insert(&table.id), "{} is there twice", table.id);
            let mut places = BTreeSet::new();
            for figure in &table.figures {
                assert!(figure.printed.parse::<f64>().is_ok_and(f64::is_finite));
                let value = figure.value();
                assert!(figure.rounding() > 0.0 && value >= 0.0, "{figure:?}");
                assert!(places.insert((&figure.what, &figure.series)), "{figure:?}");
            }
            for rival in table.rivals.iter().flatten() {
                let is_there =
                    |series: &String| table.figures.iter().any(|it| it.series == *series);
                assert!(is_there(rival), "{}: {rival}", table.id);
            }
        }
    }

    #[test]
    fn rounding_is_half_of_the_last_printed_digit() {
        let find = |id: &str, printed: &str| {
            let table = tables().iter().find(|table| table.id == id).expect(id);
            let mut figures = table.figures.iter();
            figures.find(|it| it.printed == printed).expect(printed)
        };
        let near =
            |value: f64, expected: f64| assert!((value / expected - 1.0).abs() < 1e-9, "{value}");
        near(find("e_phases", "26.487").rounding(), 0.5e6);
        near(find("e_page_cost", "3.088e-6").rounding(), 0.5);
        near(find("b_benchmark", "1.2601e+10").rounding(), 0.5e6);
        near(find("b_benchmark", "1.2601e+10").value(), 1.2601e10);
        near(find("d_locks", "47432").rounding(), 500.0);
    }

    #[test]
    fn every_picture_is_drawn_by_an_experiment_and_has_no_numbers() {
        for table in tables() {
            let (id, is_picture) = (&table.id, table.kind == Kind::Picture);
            assert_eq!(is_picture, table.figures.is_empty(), "{id}");
            assert_eq!(is_picture, table.picture.is_some(), "{id}");
            let Some(picture) = &table.picture else {
                continue;
            };
            let known = experiments::find(&picture.experiment).expect(id);
            assert!(picture.says.ends_with('.'), "{id}");
            assert!(!picture.systems.is_empty(), "{id}");
            let design = known.definition();
            let mut axes = picture.levels.keys();
            assert!(axes.all(|axis| design.axis(axis).is_some()), "{id}");
        }
    }

    /// A figure without a counterpart has a reason; a counterpart exists and has a fitting unit.
    #[test]
    fn every_figure_has_a_counterpart_or_a_reason() {
        for table in tables() {
            for figure in &table.figures {
                let Some(here) = &figure.here else {
                    assert!(figure.why(table).is_some(), "{figure:?}");
                    continue;
                };
                let metric = here.checked();
                let expected = match figure.unit.in_base().0 {
                    Unit::Ratio => continue,
                    Unit::Bytes if here.knee.is_some() => continue,
                    unit => unit,
                };
                let is_time = expected == Unit::Nanoseconds;
                if here.inverse_of.is_some() {
                    assert!(is_time && metric.unit != expected, "{figure:?}");
                } else {
                    assert_eq!(metric.unit, expected, "{figure:?}");
                }
            }
        }
    }

    #[test]
    fn a_source_names_its_reports() {
        assert!(Report::A.is_source("Report A, section 5"));
        assert!(Report::B.is_source("Reports A and B, section 5"));
        assert!(!Report::A.is_source("Report E, section 5"));
        assert!(!Report::E.is_source("folklore"));
    }
}
