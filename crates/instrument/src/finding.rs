//! Findings: what the numbers mean, as sentences whose numbers stay numbers.

use crate::quantity::Unit;
use crate::statistics::Interval;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::cmp::Ordering;

/// A sentence that follows from estimates, with the numbers it rests on and how sure it is.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Finding {
    /// Name within its experiment, the same in every run: `plateau`.
    pub key: String,
    /// The sentence, with the name of a number in braces wherever it stands: `Blocks larger than
    /// {plateau} gain nothing.`
    pub template: String,
    /// The numbers of the sentence.
    pub numbers: Vec<Number>,
    /// How sure it is.
    pub grade: Grade,
    /// How much it matters to a reader, from 0 to 1: see [`Finding::by_importance`].
    pub weight: f64,
}

/// A number in a finding.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Number {
    /// Name in the template.
    pub name: String,
    /// Its value.
    pub value: f64,
    /// Its 95 % confidence interval, if it was estimated and not looked up.
    pub interval: Option<Interval>,
    /// Its unit.
    pub unit: Unit,
}

/// How sure a finding is.
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "snake_case")]
pub enum Grade {
    /// The intervals leave no room for another answer.
    Certain,
    /// The best answer, but the intervals or the noise leave room.
    Likely,
    /// The measurement does not decide it.
    CannotBeTold,
}

impl Finding {
    /// A finding that is certain and of middling weight, without numbers yet.
    pub fn new(key: &str, template: &str) -> Self {
        Self {
            key: key.into(),
            template: template.into(),
            numbers: Vec::new(),
            grade: Grade::Certain,
            weight: 0.5,
        }
    }

    /// With a number that was estimated.
    #[must_use]
    pub fn estimated(
        mut self,
        name: &str,
        value: f64,
        interval: Option<Interval>,
        unit: Unit,
    ) -> Self {
        self.numbers.push(Number {
            name: name.into(),
            value,
            interval,
            unit,
        });
        self
    }

    /// With a number that was looked up or set.
    #[must_use]
    pub fn given(self, name: &str, value: f64, unit: Unit) -> Self {
        self.estimated(name, value, None, unit)
    }

    /// With another grade.
    #[must_use]
    pub fn graded(self, grade: Grade) -> Self {
        Self { grade, ..self }
    }

    /// With another weight, from 0 to 1.
    #[must_use]
    pub fn weighing(self, weight: f64) -> Self {
        Self { weight, ..self }
    }

    /// The order in which findings are told: the weightier first, and last those that cannot be told,
    /// which a reader who stops early loses least by.
    pub fn by_importance(&self, other: &Self) -> Ordering {
        let is_open = |finding: &Self| finding.grade == Grade::CannotBeTold;
        is_open(self)
            .cmp(&is_open(other))
            .then(other.weight.total_cmp(&self.weight))
    }

    /// The sentence, each number put in by `show`; a name without a number stays as it is.
    pub fn sentence(&self, show: impl Fn(&Number) -> String) -> String {
        let mut sentence = self.template.clone();
        for number in &self.numbers {
            sentence = sentence.replace(&format!("{{{}}}", number.name), &show(number));
        }
        sentence
    }
}

#[cfg(test)]
mod tests {
    use super::{Finding, Grade};
    use crate::quantity::Unit;

    #[test]
    fn what_cannot_be_told_comes_last_however_weighty() {
        let finding =
            |key: &str, weight, grade| Finding::new(key, "").weighing(weight).graded(grade);
        let mut findings = [
            finding("open", 0.9, Grade::CannotBeTold),
            finding("light", 0.1, Grade::Certain),
            finding("likely", 0.7, Grade::Likely),
            finding("open and light", 0.2, Grade::CannotBeTold),
            finding("heavy", 0.8, Grade::Certain),
        ];
        findings.sort_by(Finding::by_importance);
        let keys = findings.map(|finding| finding.key);
        assert_eq!(keys, ["heavy", "likely", "light", "open", "open and light"]);
    }

    #[test]
    fn a_sentence_shows_its_numbers() {
        let finding = Finding::new("plateau", "Blocks above {plateau} gain nothing.").given(
            "plateau",
            524_288.0,
            Unit::Bytes,
        );
        let sentence = finding.sentence(|number| number.unit.show(number.value, 3));
        assert_eq!(sentence, "Blocks above 512 KiB gain nothing.");
    }
}
