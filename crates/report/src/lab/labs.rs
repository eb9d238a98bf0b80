//! The labs: what each asks, and the measurements that answer it.
//!
//! Each lab is a document of [`experiments::LABS`]. A test checks that each experiment, metric, level and printed
//! figure in it exists.

use crate::reproduce::{Figure, Query, Table, tables};
use instrument::quantity::Unit;
use serde::Deserialize;
use std::sync::OnceLock;

/// A lab.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Lab {
    /// Its name on the command line.
    pub name: String,
    /// Its title.
    pub title: String,
    /// The background in a few sentences.
    pub about: String,
    /// The measurements, one `oscope run` each.
    pub steps: Vec<Step>,
    /// The questions.
    pub questions: Vec<Question>,
}

/// One measurement of a lab.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Step {
    /// The experiment.
    pub experiment: String,
    /// Chosen levels, as `oscope run --at` takes them; all of the quick plan without any.
    #[serde(default)]
    pub at: Vec<String>,
    /// Time for it.
    pub seconds: u32,
}

/// A question: first a prediction, then the measurement, then the reason.
#[derive(Debug, Deserialize)]
pub struct Question {
    /// Its name in answers: `l1`.
    pub key: String,
    /// The prediction to make.
    pub asks: String,
    /// The way in which it is measured.
    #[serde(flatten)]
    pub measured: Measure,
    /// Figures that the reports print on it.
    #[serde(default)]
    pub reported: Vec<PrintedFigure>,
    /// Findings of the reports that are not printed as a figure.
    #[serde(default)]
    pub found_there: Vec<String>,
    /// The question after the measurement.
    pub why: String,
}

/// The measurement that answers a question.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Measure {
    /// A value, or a place on a curve.
    Value(Query),
    /// The first value over the second.
    Ratio(Box<[Query; 2]>),
    /// The choice with the highest value.
    Highest(Vec<Candidate>),
    /// The choice with the lowest value.
    Lowest(Vec<Candidate>),
    /// The value here over a printed one; of two runs, the second over the first.
    Against {
        /// The value here.
        query: Query,
        /// The printed one.
        printed: PrintedFigure,
    },
}

/// One of several choices.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Candidate {
    /// Its name.
    pub name: String,
    /// Its value.
    pub query: Query,
}

/// A figure that a report prints.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PrintedFigure {
    /// The table's id, as in `docs/guide/figures.md`.
    pub table: String,
    /// The row.
    pub what: String,
    /// The column.
    pub series: String,
}

/// All labs, in the order of a course.
pub fn labs() -> &'static [Lab] {
    static LABS: OnceLock<Vec<Lab>> = OnceLock::new();
    let read = |text: &&str| basic_toml::from_str(text).expect("a test reads each lab");
    LABS.get_or_init(|| experiments::LABS.iter().map(read).collect())
}

/// The lab called `name`.
pub fn find(name: &str) -> Option<&'static Lab> {
    labs().iter().find(|lab| lab.name == name)
}

impl Lab {
    /// The experiments that it measures.
    pub fn experiments(&self) -> Vec<&str> {
        let steps = self.steps.iter();
        steps.map(|step| step.experiment.as_str()).collect()
    }

    /// Time for all measurements.
    pub fn seconds(&self) -> u32 {
        self.steps.iter().map(|step| step.seconds).sum()
    }

    /// True if it sets two systems side by side.
    pub fn compares(&self) -> bool {
        let mut questions = self.questions.iter();
        questions.any(|question| matches!(question.measured, Measure::Against { .. }))
    }
}

impl Measure {
    /// The choices; none if a number is asked for.
    pub fn choices(&self) -> Vec<&str> {
        match self {
            Self::Highest(of) | Self::Lowest(of) => of.iter().map(|it| it.name.as_str()).collect(),
            Self::Value(_) | Self::Ratio(_) | Self::Against { .. } => Vec::new(),
        }
    }

    /// The unit of the number that is asked for; `None` for a choice.
    pub fn unit(&self) -> Option<Unit> {
        match self {
            Self::Value(query) if query.knee.is_some() => Some(Unit::Bytes),
            Self::Value(query) => Some(query.metric()?.unit),
            Self::Ratio(_) | Self::Against { .. } => Some(Unit::Ratio),
            Self::Highest(_) | Self::Lowest(_) => None,
        }
    }

    /// True if the answer is a place on a curve, which is measured at powers of two.
    pub fn is_place(&self) -> bool {
        matches!(self, Self::Value(query) if query.knee.is_some())
    }

    /// All values that it reads.
    pub fn queries(&self) -> Vec<&Query> {
        match self {
            Self::Value(query) | Self::Against { query, .. } => vec![query],
            Self::Ratio(both) => both.iter().collect(),
            Self::Highest(of) | Self::Lowest(of) => of.iter().map(|it| &it.query).collect(),
        }
    }
}

impl PrintedFigure {
    /// The figure with its table.
    pub(super) fn find(&self) -> Option<(&'static Table, &'static Figure)> {
        let table = tables().iter().find(|table| table.id == self.table)?;
        let mut figures = table.figures.iter();
        let figure = figures.find(|it| it.what == self.what && it.series == self.series)?;
        Some((table, figure))
    }
}
