//! Predictions: a number with its unit, or one of several choices.

use super::{Measure, Question};
use crate::show;
use instrument::quantity::Unit;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A prediction.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Prediction {
    /// A number in the unit of the question.
    Number(f64),
    /// A choice.
    Choice(String),
}

impl Prediction {
    /// Reads the prediction for a question; the error is the reason why the text is none.
    pub(super) fn read(question: &Question, text: &str) -> Result<Self, String> {
        let text = text.trim();
        let Some(unit) = question.measured.unit() else {
            return choice(&question.measured, text);
        };
        let number = match unit.read(text) {
            Some(_) if text.parse::<f64>().is_ok() => {
                let example = example(&question.measured);
                return Err(format!("'{text}' has no unit: give {example}"));
            }
            Some(read) => read.map_err(|error| error.to_string())?,
            None => plain(text, unit).unwrap_or(f64::NAN),
        };
        (number.is_finite() && number > 0.0)
            .then_some(Self::Number(number))
            .ok_or_else(|| format!("'{text}' is no number above zero, such as `10` or `0.5`"))
    }

    /// The prediction as text.
    pub fn show(&self, unit: Option<Unit>) -> String {
        match self {
            Self::Number(number) => show::round(unit.unwrap_or(Unit::Count), *number),
            Self::Choice(name) => name.clone(),
        }
    }
}

/// A bare number; `3 times`, `3 x` and `30 %` are understood, too.
fn plain(text: &str, unit: Unit) -> Option<f64> {
    let ends = ["times", "x", "×"];
    let bare = ends.iter().find_map(|end| text.strip_suffix(end));
    let (number, factor) = match (unit, text.strip_suffix('%')) {
        (Unit::Share, Some(number)) => (number, 0.01),
        _ => (bare.unwrap_or(text), 1.0),
    };
    Some(number.trim().parse::<f64>().ok()? * factor)
}

/// The choice by its name or its number.
fn choice(measured: &Measure, text: &str) -> Result<Prediction, String> {
    let choices = measured.choices();
    let by_number = text.parse::<usize>().ok();
    let by_number = by_number.and_then(|number| choices.get(number.checked_sub(1)?));
    let by_name = choices.iter().find(|name| name.eq_ignore_ascii_case(text));
    let found = by_name.or(by_number);
    found
        .map(|name| Prediction::Choice((*name).to_owned()))
        .ok_or_else(|| format!("'{text}' is none of the choices: {}", choices.join(", ")))
}

/// An example of an answer.
pub(super) fn example(measured: &Measure) -> &'static str {
    match measured.unit() {
        None => "the name of a choice, or its number",
        Some(Unit::Nanoseconds) => "a time, as in 5 ns or 2 ms",
        Some(Unit::Bytes) => "a size, as in 64KiB",
        Some(Unit::BytesPerSecond) => "a speed, as in 500MB/s or 10GB/s",
        Some(Unit::OperationsPerSecond) => "a rate, as in 300kops/s or 2Mops/s",
        Some(Unit::Ratio) => "a factor, as in 3 or 0.5",
        Some(Unit::Share) => "a share, as in 50 %",
        Some(Unit::Count) => "a number",
    }
}
