//! A hand-in: predictions with measurements and reports, for people and as a document that others read.

use super::{Answers, Found, Lab, Prediction, Question, Sides};
use crate::format::{self, Unreadable};
use crate::lists::joined;
use crate::show;
use instrument::quantity::Unit;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Version of the document.
const FORMAT: u32 = 1;
/// A prediction within this factor is right.
const NEAR: f64 = 1.5;
/// The same for a place on a curve, which is measured at powers of two.
const NEAR_PLACE: f64 = 2.0;

/// The work of one student on one lab.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct HandIn {
    /// Version of the format.
    pub format: u32,
    /// The lab's name.
    pub lab: String,
    /// Its title.
    pub title: String,
    /// The student and the machine.
    pub student: Student,
    /// The answers, in the order of the questions.
    pub answers: Vec<Answered>,
    /// The version of oscope.
    pub version: String,
}

/// The student, and the machine that was measured.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Student {
    /// The name.
    pub name: String,
    /// The machine in a few words.
    pub machine: String,
    /// The other system, if two were compared.
    pub first_machine: Option<String>,
    /// Ids of the runs that were used.
    pub runs: Vec<String>,
    /// The time of the newest run.
    pub measured: String,
}

/// A question with its prediction and its measurement.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Answered {
    /// The question's name.
    pub key: String,
    /// The question.
    pub asks: String,
    /// The unit of numbers; `None` for a choice.
    pub unit: Option<Unit>,
    /// The prediction.
    pub prediction: Prediction,
    /// The measured answer.
    pub measured: Found,
    /// The prediction against the measurement.
    pub outcome: Accuracy,
    /// Findings of the reports.
    pub reported: Vec<Reported>,
    /// The question after the measurement.
    pub why_asked: String,
    /// The student's reason.
    pub why: Option<String>,
}

/// A prediction against its measurement.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Accuracy {
    /// The chosen one, or a number within a factor of 1.5 (2 for a place on a curve).
    Right,
    /// A number that is too high.
    TooHigh,
    /// A number that is too low.
    TooLow,
    /// Another choice.
    Wrong,
    /// The measurement does not decide.
    Undecided,
}

/// A finding of a report.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Reported {
    /// Its place: `Report E, Figure 26`.
    pub place: String,
    /// The finding.
    pub says: String,
}

impl HandIn {
    /// The hand-in of these answers. Questions without a prediction are left out.
    pub fn new(lab: &Lab, answers: &Answers, sides: &Sides<'_>, student: Student) -> Self {
        let answered = lab.questions.iter().filter_map(|question| {
            let prediction = answers.predictions.get(question.key.as_str())?;
            let measured = sides.answer(question);
            let near = if question.measured.is_place() {
                NEAR_PLACE
            } else {
                NEAR
            };
            Some(Answered {
                key: question.key.clone(),
                asks: question.asks.clone(),
                unit: question.measured.unit(),
                outcome: compared(prediction, &measured, near),
                prediction: prediction.clone(),
                measured,
                reported: reported(question, sides.are_two()),
                why_asked: question.why.clone(),
                why: answers.reasons.get(question.key.as_str()).cloned(),
            })
        });
        Self {
            format: FORMAT,
            lab: lab.name.clone(),
            title: lab.title.clone(),
            answers: answered.collect(),
            student,
            version: env!("CARGO_PKG_VERSION").to_owned(),
        }
    }

    /// Reads a hand-in that was written as JSON.
    ///
    /// # Errors
    /// If it is none, or one of an unknown version.
    pub fn read(text: &str) -> Result<Self, Unreadable> {
        format::read(text, "hand-in of `oscope lab start`", FORMAT)
    }

    /// Number of right predictions, and of those that can be judged.
    pub fn score(&self) -> (usize, usize) {
        let count = |outcome| {
            let answers = self.answers.iter();
            answers.filter(|it| it.outcome == outcome).count()
        };
        let judged = self.answers.len() - count(Accuracy::Undecided);
        (count(Accuracy::Right), judged)
    }
}

impl Answered {
    /// The outcome as text, with the factor of a number.
    pub fn verdict(&self) -> String {
        let factor = match (&self.prediction, &self.measured) {
            (Prediction::Number(predicted), Found::Number(found)) => {
                let ratio = predicted / found.value;
                show::round(Unit::Count, ratio.max(1.0 / ratio))
            }
            _ => String::new(),
        };
        match self.outcome {
            Accuracy::Right => "right".to_owned(),
            Accuracy::TooHigh => format!("too high, {factor} times as much"),
            Accuracy::TooLow => format!("too low, by a factor of {factor}"),
            Accuracy::Wrong => "another one".to_owned(),
            Accuracy::Undecided => "undecided".to_owned(),
        }
    }
}

impl Found {
    /// The measurement as text.
    pub fn show(&self) -> String {
        match self {
            Self::Number(quantity) => show::quantity(quantity),
            Self::Choice {
                choice,
                is_certain,
                of,
            } => {
                let of = of.iter();
                let of = of.map(|it| format!("{} {}", it.choice, show::quantity(&it.value)));
                let doubt = if *is_certain { "" } else { ", perhaps" };
                format!("{choice}{doubt} ({})", joined("; ", of))
            }
            Self::Nothing(reason) => format!("not known: {reason}"),
        }
    }
}

fn compared(prediction: &Prediction, measured: &Found, near: f64) -> Accuracy {
    match (prediction, measured) {
        (Prediction::Number(predicted), Found::Number(found))
            if found.interval.is_some() && !found.is_vague() =>
        {
            let ratio = predicted / found.value;
            if (1.0 / near..=near).contains(&ratio) {
                Accuracy::Right
            } else if ratio > 1.0 {
                Accuracy::TooHigh
            } else {
                Accuracy::TooLow
            }
        }
        (
            Prediction::Choice(predicted),
            Found::Choice {
                choice,
                is_certain: true,
                ..
            },
        ) => {
            if predicted == choice {
                Accuracy::Right
            } else {
                Accuracy::Wrong
            }
        }
        _ => Accuracy::Undecided,
    }
}

fn reported(question: &Question, are_two: bool) -> Vec<Reported> {
    let printed = question.reported.iter().filter_map(|printed| {
        let (table, figure) = printed.find()?;
        let unit = figure.unit.name();
        let says = format!(
            "{}, {}: {} {unit}",
            figure.series, figure.what, figure.printed
        );
        Some(Reported {
            place: format!("Report {}, {}", table.report.letter(), table.place),
            says: says.trim_end().to_owned(),
        })
    });
    let in_words = question.found_there.iter().map(|words| {
        let (place, says) = words.split_once(": ").unwrap_or(("", words));
        Reported {
            place: place.to_owned(),
            says: says.to_owned(),
        }
    });
    // The report's own machine is a third if two systems are compared.
    let elsewhere = if are_two {
        ""
    } else {
        ", the other system here"
    };
    let against = match &question.measured {
        super::Measure::Against { printed, .. } => printed.find(),
        _ => None,
    };
    let against = against.map(|(table, figure)| Reported {
        place: format!("Report {}, {}", table.report.letter(), table.place),
        says: format!(
            "{} {} on a {}{elsewhere}",
            figure.printed,
            figure.unit.name(),
            table.machine.as_deref().unwrap_or("machine without a name"),
        ),
    });
    against.into_iter().chain(printed).chain(in_words).collect()
}
