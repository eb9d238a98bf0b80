//! Answers in a file: a line `key = value` for each, and the template that asks for them.

use super::prediction::{Prediction, example};
use super::{Lab, Question};
use crate::lists::joined;
use std::collections::BTreeMap;
use std::fmt::Write as _;

/// Ending of the key of a reason.
const WHY: &str = ".why";
/// Key of the student's name.
const STUDENT: &str = "student";

/// The answers of a student to one lab.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Answers {
    /// The student's name.
    pub student: Option<String>,
    /// The predictions, by the key of their question.
    pub predictions: BTreeMap<&'static str, Prediction>,
    /// The reasons, by the key of their question.
    pub reasons: BTreeMap<&'static str, String>,
}

/// The reason why answers cannot be read, for readers.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub struct AnswersError(String);

impl Answers {
    /// Reads all lines of a file of answers. A line that begins with `#` is a remark; one without a
    /// value is not answered.
    ///
    /// # Errors
    /// If a line answers nothing of the lab.
    pub fn read(lab: &'static Lab, text: &str) -> Result<Self, AnswersError> {
        let mut answers = Self::default();
        for line in text.lines().map(str::trim) {
            if line.is_empty() || line.starts_with('#') {
                continue;
            }
            let (key, value) = line
                .split_once('=')
                .ok_or_else(|| AnswersError(format!("'{line}' is no line `key = value`")))?;
            answers.add(lab, key.trim(), value.trim())?;
        }
        Ok(answers)
    }

    /// Adds one answer.
    ///
    /// # Errors
    /// As [`Answers::read`].
    pub fn add(&mut self, lab: &'static Lab, key: &str, value: &str) -> Result<(), AnswersError> {
        let (plain, is_reason) = match key.strip_suffix(WHY) {
            Some(plain) => (plain, true),
            None => (key, false),
        };
        let question = lab.questions.iter().find(|it| it.key == plain);
        match question {
            _ if value.is_empty() => {}
            None if key == STUDENT => self.student = Some(value.to_owned()),
            None => return Err(unknown(lab, key)),
            Some(question) if is_reason => {
                self.reasons.insert(&question.key, value.to_owned());
            }
            Some(question) => {
                let prediction = Prediction::read(question, value)
                    .map_err(|reason| AnswersError(format!("{plain}: {reason}")))?;
                self.predictions.insert(&question.key, prediction);
            }
        }
        Ok(())
    }

    /// The questions without a prediction.
    pub fn missing(&self, lab: &'static Lab) -> Vec<&'static Question> {
        let questions = lab.questions.iter();
        questions
            .filter(|it| !self.predictions.contains_key(it.key.as_str()))
            .collect()
    }
}

fn unknown(lab: &Lab, key: &str) -> AnswersError {
    let keys = lab.questions.iter().map(|it| it.key.as_str());
    AnswersError(format!(
        "lab {} asks nothing called '{key}'; it asks for {STUDENT}, {}",
        lab.name,
        joined(", ", keys)
    ))
}

/// A file of answers to fill in.
pub fn template(lab: &Lab) -> String {
    let mut text = format!("# Lab {}: {}\n#\n", lab.name, lab.title);
    for line in textwrap::wrap(&lab.about, 90) {
        let _ = writeln!(text, "# {line}");
    }
    let _ = writeln!(text, "\n{STUDENT} = ");
    for question in &lab.questions {
        text.push('\n');
        for line in textwrap::wrap(&question.asks, 90) {
            let _ = writeln!(text, "# {line}");
        }
        let of = match question.measured.choices() {
            none if none.is_empty() => example(&question.measured).to_owned(),
            choices => choices.join(", "),
        };
        let _ = writeln!(text, "# ({of})\n{} = ", question.key);
        let _ = writeln!(text, "# {}\n{}{WHY} = ", question.why, question.key);
    }
    text
}

/// An example of the prediction that a question asks for, or its choices.
pub fn hint(question: &Question) -> String {
    let choices = question.measured.choices();
    if choices.is_empty() {
        return example(&question.measured).to_owned();
    }
    let named = choices.iter().enumerate();
    joined(
        ", ",
        named.map(|(index, name)| format!("{}: {name}", index + 1)),
    )
}
