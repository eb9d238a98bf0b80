//! Findings: the meaning of the numbers, as sentences that keep their numbers machine-readable.

mod sentence;
mod trust;

pub use macros::sentence;
pub use sentence::{Name, Number, Piece, Say, Sentence};
pub use trust::Trust;
pub(crate) use trust::{DOUBTS_OF_CONDITIONS, doubt_of};

use crate::quantity::{Known, Quantity, Unit};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::cmp::Ordering;

/// A sentence that follows from estimates, with its degree of certainty.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Finding {
    /// Name within its experiment, the same in every run: `plateau`.
    pub key: String,
    /// The sentence.
    pub sentence: Sentence,
    /// Numbers that support it but are not in the sentence.
    pub further_numbers: Vec<Number>,
    /// Degree of certainty.
    pub grade: Grade,
    /// Importance to a reader, from 0 to 1: see [`Finding::by_importance`].
    pub weight: f64,
    /// The evidence for its grade ([`crate::grading`]); `None` for printed values.
    pub trust: Option<Trust>,
    /// Its numbers that other findings may measure too, under other conditions.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub aspects: Vec<Aspect>,
}

/// Degree of certainty of a finding.
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "snake_case")]
pub enum Grade {
    /// The intervals allow no other answer, each pass says the same by itself, and no warning
    /// touches a number.
    Certain,
    /// The best answer, which most passes give by themselves, but the intervals, a pass or a warning
    /// allow another.
    Likely,
    /// The measurement does not decide it, or half of the passes or more give another answer.
    Undecided,
}

impl Finding {
    /// A finding with certain grade and medium weight.
    pub fn new(key: &str, sentence: impl Into<Sentence>) -> Self {
        Self {
            key: key.into(),
            sentence: sentence.into(),
            further_numbers: Vec::new(),
            grade: Grade::Certain,
            weight: 0.5,
            trust: None,
            aspects: Vec::new(),
        }
    }

    /// Adds a number for programs, unless the sentence contains it.
    #[must_use]
    pub fn with_number(mut self, name: &'static str, quantity: impl Into<Quantity>) -> Self {
        if self.number(name).is_none() {
            let quantity = quantity.into();
            self.further_numbers.push(Number { name, quantity });
        }
        self
    }

    /// Adds the subject and the conditions of one of its numbers ([`Aspect`]).
    #[must_use]
    pub fn about(
        mut self,
        subject: Name,
        quantity: impl Into<Quantity>,
        conditions: impl Into<String>,
    ) -> Self {
        self.aspects.push(Aspect {
            subject,
            quantity: quantity.into(),
            conditions: conditions.into(),
        });
        self
    }

    /// The finding with another grade.
    #[must_use]
    pub fn graded(self, grade: Grade) -> Self {
        Self { grade, ..self }
    }

    /// The finding with another weight, from 0 to 1.
    #[must_use]
    pub fn weighing(self, weight: f64) -> Self {
        Self { weight, ..self }
    }

    /// All its numbers, those of the sentence first.
    pub fn numbers(&self) -> impl Iterator<Item = &Number> {
        self.sentence.numbers().chain(&self.further_numbers)
    }

    /// The number called `name`.
    pub fn number(&self, name: &str) -> Option<Quantity> {
        let found = self.numbers().find(|number| number.name == name);
        found.map(|number| number.quantity)
    }

    /// True if its numbers make sense in a sentence: each is a number, no time, rate or size lies below
    /// zero, and something is known of each ([`Quantity::known`]). A cost below zero means only that the
    /// method did not resolve it.
    pub fn is_sayable(&self) -> bool {
        let is_possible = |Number { quantity, .. }: &Number| {
            quantity.value.is_finite() && (quantity.unit == Unit::Share || quantity.value >= 0.0)
        };
        self.sentence.numbers().all(is_possible) && !self.is_vague()
    }

    /// True if nothing is known of a number of its sentence.
    pub fn is_vague(&self) -> bool {
        let mut numbers = self.sentence.numbers();
        numbers.any(|number| number.quantity.known() == Known::Nothing)
    }

    /// True if the measurements do not decide it.
    pub fn is_undecided(&self) -> bool {
        self.grade == Grade::Undecided
    }

    /// Display order: higher weights first. Undecided findings come last, since a reader
    /// who stops early loses least by missing them.
    pub fn by_importance(&self, other: &Self) -> Ordering {
        self.is_undecided()
            .cmp(&other.is_undecided())
            .then(other.weight.total_cmp(&self.weight))
    }
}

/// Below this ratio, two values of one subject agree for a reader.
const NOTABLE: f64 = 1.1;

/// A number of a finding whose subject other findings measure too.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Aspect {
    /// The name of the thing measured, with its article: `the gain from huge pages`.
    #[serde(deserialize_with = "sentence::deserialize_name")]
    pub subject: Name,
    /// The value.
    pub quantity: Quantity,
    /// The conditions of the measurement, as they follow "for": `random loads from 128 MiB`.
    pub conditions: String,
}

impl Aspect {
    /// The ratio of the larger value to the smaller one if both measure one subject and their
    /// intervals exclude each other; `None` if they agree, if one has no interval, or if the ratio is
    /// below a tenth.
    pub fn disagreement(&self, other: &Self) -> Option<f64> {
        let (ours, theirs) = (&self.quantity, &other.quantity);
        let (our_range, their_range) = (ours.interval?, theirs.interval?);
        let is_same = self.subject == other.subject && ours.unit == theirs.unit;
        let is_apart = our_range.high < their_range.low || their_range.high < our_range.low;
        let least = ours.value.min(theirs.value);
        let ratio = ours.value.max(theirs.value) / least;
        (is_same && is_apart && least > 0.0 && ratio >= NOTABLE).then_some(ratio)
    }
}

#[cfg(test)]
mod tests {
    use super::{Aspect, Finding, Grade, Sentence, sentence};
    use crate::quantity::{Bytes, Quantity, Unit};
    use crate::statistics::Interval;

    #[test]
    fn a_number_of_which_nothing_is_known_is_not_said() {
        let gain = |low, high| Quantity::new(10.0, Interval::new(low, high), Unit::Ratio);
        let finding = |gain| Finding::new("gain", sentence!("It is {gain} as fast."));
        assert!(!finding(gain(0.69, 270.0)).is_sayable());
        assert!(finding(gain(9.0, 11.0)).is_sayable());
        let said = Finding::new("gain", sentence!("It is fast."));
        assert!(said.with_number("gain", gain(0.69, 270.0)).is_sayable());
    }

    #[test]
    fn a_cost_below_zero_and_what_is_no_number_are_not_said() {
        let sayable = |value, unit| {
            let cost = Quantity::exact(value, unit);
            Finding::new("cost", sentence!("It costs {cost}.")).is_sayable()
        };
        assert!(sayable(12.3, Unit::Nanoseconds) && sayable(-0.1, Unit::Share));
        assert!(!sayable(-12.3, Unit::Nanoseconds));
        assert!(!sayable(f64::NAN, Unit::Ratio));
    }

    #[test]
    fn undecided_findings_come_last_however_weighty() {
        let finding = |key: &str, weight, grade| {
            Finding::new(key, Sentence::default())
                .weighing(weight)
                .graded(grade)
        };
        let mut findings = [
            finding("open", 0.9, Grade::Undecided),
            finding("light", 0.1, Grade::Certain),
            finding("likely", 0.7, Grade::Likely),
            finding("open and light", 0.2, Grade::Undecided),
            finding("heavy", 0.8, Grade::Certain),
        ];
        findings.sort_by(Finding::by_importance);
        let keys = findings.map(|finding| finding.key);
        assert_eq!(keys, ["heavy", "likely", "light", "open", "open and light"]);
    }

    #[test]
    fn numbers_are_found_by_name_said_or_not() {
        let plateau = Bytes(512 << 10);
        let finding = Finding::new("plateau", sentence!("Blocks above {plateau} gain nothing."))
            .with_number("best", Bytes(1 << 20));
        assert_eq!(finding.number("plateau"), Some(Quantity::from(plateau)));
        assert_eq!(finding.number("best"), Some(Quantity::from(Bytes(1 << 20))));
        assert_eq!(finding.number("worst"), None);
    }

    fn aspect(subject: &'static str, value: f64, half_width: f64) -> Aspect {
        let interval = Interval::new(value - half_width, value + half_width);
        Aspect {
            subject,
            quantity: Quantity::new(value, interval, Unit::Ratio),
            conditions: String::new(),
        }
    }

    #[test]
    fn values_of_one_subject_disagree_only_beyond_their_intervals() {
        let one = aspect("the gain", 1.97, 0.1);
        let ratio = one.disagreement(&aspect("the gain", 5.43, 0.2));
        assert!(ratio.is_some_and(|ratio| (ratio - 5.43 / 1.97).abs() < 1e-9));
        assert_eq!(one.disagreement(&aspect("the gain", 5.43, 4.0)), None);
        assert_eq!(one.disagreement(&aspect("the cost", 5.43, 0.2)), None);
        let near = aspect("the gain", 2.1, 0.01);
        assert_eq!(aspect("the gain", 2.0, 0.01).disagreement(&near), None);
    }
}
