//! Labs for teachers and students: a prediction, a measurement beside it, and the reason.
//!
//! The labs themselves are constants of the crate `experiments`. A test holds each of their experiments,
//! metrics, levels and printed figures against those that exist.

mod answer;
mod class;
mod hand_in;
mod measured;
mod prediction;

pub use answer::{Answers, AnswersError, hint, template};
pub use class::{Class, ClassQuestion, ClassRow};
pub use hand_in::{Answered, Comparison, HandIn, HandInError, Reported, Student};
pub use measured::{Estimated, Found, Rival, Sides};
pub use prediction::{Prediction, PredictionError};

use crate::reproduce::{Counterpart, Figure, Knee, Side, Table, tables};
pub use experiments::lab::{ALL, At, Lab, Measure, Printed, Question, Reading, Step, find};
use instrument::point::Level;
use instrument::quantity::Unit;
use schemars::{JsonSchema, Schema, schema_for};
use serde::Serialize;

/// All labs for other programs.
pub fn list() -> Vec<Entry> {
    let question = |question: &Question| QuestionEntry {
        key: question.key,
        asks: question.asks,
        choices: question.measured.choices(),
        unit: question.measured.unit(),
        why: question.why,
    };
    let entry = |lab: &Lab| Entry {
        format: crate::json::FORMAT,
        name: lab.name,
        title: lab.title,
        about: lab.about,
        experiments: lab.experiments(),
        seconds: lab.seconds(),
        questions: lab.questions.iter().map(question).collect(),
    };
    ALL.iter().map(entry).collect()
}

/// The schema of [`list`].
pub fn schema_of_list() -> Schema {
    schema_for!(Vec<Entry>)
}

/// A lab in the list.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Entry {
    /// Version of the format.
    format: u32,
    /// Its name on the command line.
    name: &'static str,
    /// Its title.
    title: &'static str,
    /// The background.
    about: &'static str,
    /// The experiments that it measures.
    experiments: Vec<&'static str>,
    /// Time for all measurements.
    seconds: u32,
    /// Its questions.
    questions: Vec<QuestionEntry>,
}

/// A question in the list.
#[derive(Debug, Serialize, JsonSchema)]
struct QuestionEntry {
    key: &'static str,
    asks: &'static str,
    /// The choices; empty if a number is asked for.
    choices: Vec<&'static str>,
    /// The unit of a number.
    unit: Option<Unit>,
    /// The question after the measurement.
    why: &'static str,
}

/// The work that a reading reads, or the place on its curve along an axis.
fn counterpart(reading: &Reading, along: Option<&str>) -> Counterpart {
    let level = |at: &At| match at {
        At::Number(number) => Level::Number(*number),
        At::Choice(name) => Level::Choice((*name).to_owned()),
    };
    let levels = reading.at.iter();
    Counterpart {
        experiment: reading.experiment.to_owned(),
        metric: reading.metric.to_owned(),
        levels: levels
            .map(|(axis, at)| ((*axis).to_owned(), level(at)))
            .collect(),
        over: None,
        minus: None,
        inverse_of: None,
        proportional: false,
        knee: along.map(|along| Knee {
            along: along.to_owned(),
            side: Side::From,
        }),
    }
}

/// The figure with its table.
fn printed(wanted: &Printed) -> Option<(&'static Table, &'static Figure)> {
    let table = tables().iter().find(|table| table.id == wanted.table)?;
    let mut figures = table.figures.iter();
    let figure = figures.find(|it| it.what == wanted.what && it.series == wanted.series)?;
    Some((table, figure))
}

#[cfg(test)]
mod tests;
