//! Labs for teachers and students: a prediction, its measurement, and the reason.

mod answer;
mod class;
mod hand_in;
mod labs;
mod measured;
mod prediction;

pub use answer::{Answers, AnswersError, hint, template};
pub use class::{Class, ClassQuestion, ClassRow};
pub use hand_in::{Accuracy, Answered, HandIn, Reported, Student};
pub use labs::{Candidate, Lab, Measure, PrintedFigure, Question, Step, find, labs};
pub use measured::{Found, Rival, Sides};
pub use prediction::Prediction;

use instrument::quantity::Unit;
use schemars::JsonSchema;
use serde::Serialize;

/// All labs for other programs.
pub fn list() -> Vec<Entry> {
    let question = |question: &'static Question| QuestionEntry {
        key: &question.key,
        asks: &question.asks,
        choices: question.measured.choices(),
        unit: question.measured.unit(),
        why: &question.why,
    };
    let entry = |lab: &'static Lab| Entry {
        format: crate::json::FORMAT,
        name: &lab.name,
        title: &lab.title,
        about: &lab.about,
        experiments: lab.experiments(),
        seconds: lab.seconds(),
        questions: lab.questions.iter().map(question).collect(),
    };
    labs().iter().map(entry).collect()
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

#[cfg(test)]
mod tests;
