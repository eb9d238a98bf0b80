//! The evidence for a finding's grade: the passes in which its sentence holds, and the warnings that
//! touch its numbers.

use super::{Finding, Grade, Number, Piece};
use crate::estimate::{Estimate, FEWEST_PASSES};
use crate::quantity::{Quantity, Unit};
use crate::statistics::Interval;
use serde::{Deserialize, Serialize};
use std::borrow::Cow;

/// A finding that rests on a value with a larger share of disturbed legs is not certain.
const MOST_DISTURBED: f64 = 0.2;
/// A larger relative difference between two numbers is a change, not rounding.
const ROUNDING: f64 = 1e-9;

/// The evidence for a finding's grade, in a run with passes.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Trust {
    /// The passes whose values, taken alone, give the same sentence.
    pub held: usize,
    /// The passes that measured what the sentence rests on.
    pub of: usize,
    /// Labels of the warnings that touch its numbers, and of the conditions under which they were
    /// measured, where these leave a doubt.
    pub doubts: Vec<Cow<'static, str>>,
}

/// The labels of [`doubt_of`].
pub(crate) const DOUBTS_OF_CONDITIONS: [&str; 2] = [DISTURBED, UNKNOWN];
const DISTURBED: &str = "disturbed";
const UNKNOWN: &str = "clock unknown";

/// The doubt that the conditions of its legs cast on a value: too many were disturbed, or nothing is known
/// of any.
pub(crate) fn doubt_of(estimate: &Estimate) -> Option<&'static str> {
    match estimate.disturbed {
        None => Some(UNKNOWN),
        Some(share) => (share > MOST_DISTURBED).then_some(DISTURBED),
    }
}

impl Trust {
    /// The grade of a finding, where the intervals of the whole run say `whole`. It is certain only
    /// if the sentence holds in each pass, in at least [`FEWEST_PASSES`], and no warning touches its
    /// numbers. A sentence that at most half of the passes give by themselves stays undecided: a
    /// reader of *likely* expects the next run to say it more often than not.
    pub fn grade(&self, whole: Grade) -> Grade {
        let in_each = self.held == self.of && self.of >= FEWEST_PASSES;
        let in_few = self.of > 0 && 2 * self.held <= self.of;
        match whole {
            Grade::Certain | Grade::Likely if in_few => Grade::Undecided,
            Grade::Certain if !in_each || !self.doubts.is_empty() => Grade::Likely,
            whole => whole,
        }
    }
}

impl Finding {
    /// The number of the sentence that is known least well: that with the widest interval as a
    /// share of its value. `None` if none has an interval.
    pub fn weakest(&self) -> Option<&Number> {
        let estimated = self.sentence.numbers().filter(|number| has_error(number));
        let widths =
            estimated.filter_map(|number| Some((number, number.quantity.relative_half_width()?)));
        let widest = widths.max_by(|(_, one), (_, other)| one.total_cmp(other));
        widest.map(|(number, _)| number)
    }

    /// True if `again`, the same finding from other values, says the same: the same words, ratios
    /// on the same side of 1, differences with the same sign, and places on an axis no further than
    /// a doubling from the stated range.
    pub(crate) fn agrees_with(&self, again: &Self) -> bool {
        let (ours, theirs) = (self.sentence.pieces(), again.sentence.pieces());
        let agrees = |pair: (&Piece, &Piece)| match pair {
            (Piece::Text(ours), Piece::Text(theirs)) => ours == theirs,
            (Piece::Number(ours), Piece::Number(theirs)) => {
                agree(&ours.quantity, theirs.quantity.value)
            }
            _ => false,
        };
        ours.len() == theirs.len() && ours.iter().zip(theirs).all(agrees)
    }

    /// True if `again`, the same finding from other values, has other words or numbers.
    pub(crate) fn differs_from(&self, again: &Self) -> bool {
        let numbers = |finding: &Self| -> Vec<f64> {
            let numbers = finding.numbers();
            numbers.map(|number| number.quantity.value).collect()
        };
        let (ours, theirs) = (numbers(self), numbers(again));
        let moved = |(ours, theirs): (&f64, &f64)| (ours - theirs).abs() > ROUNDING * ours.abs();
        !self.agrees_with(again)
            || ours.len() != theirs.len()
            || ours.iter().zip(&theirs).any(moved)
    }

    /// True if one of its numbers was estimated from samples that differ.
    pub(crate) fn has_estimates(&self) -> bool {
        self.numbers().any(has_error)
    }
}

fn has_error(number: &Number) -> bool {
    let interval = number.quantity.interval;
    interval.is_some_and(|interval| interval.low < interval.high)
}

/// True if `value` means the same as `stated` to a reader.
fn agree(stated: &Quantity, value: f64) -> bool {
    let is_place = matches!(stated.unit, Unit::Bytes | Unit::Count);
    match stated.interval {
        Some(interval) if is_place => {
            let near = Interval::new(interval.low / 2.0, interval.high * 2.0);
            near.is_some_and(|near| near.contains(value))
        }
        None if is_place => (stated.value - value).abs() <= ROUNDING * stated.value.abs(),
        _ => {
            let neutral = match stated.unit {
                Unit::Ratio => 1.0,
                _ => 0.0,
            };
            !stated.differs_from(neutral) || (stated.value > neutral) == (value > neutral)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Trust;
    use crate::finding::{Finding, Grade, sentence};
    use crate::quantity::{Bytes, Quantity, Unit};
    use crate::statistics::Interval;

    fn about(value: f64, unit: Unit) -> Quantity {
        Quantity::new(value, Interval::new(0.9 * value, 1.1 * value), unit)
    }

    #[test]
    fn only_what_holds_in_each_pass_without_a_doubt_is_certain() {
        let trust = |held, of| Trust {
            held,
            of,
            doubts: Vec::new(),
        };
        assert_eq!(trust(5, 5).grade(Grade::Certain), Grade::Certain);
        assert_eq!(trust(5, 5).grade(Grade::Likely), Grade::Likely);
        assert_eq!(trust(4, 5).grade(Grade::Certain), Grade::Likely);
        assert_eq!(trust(6, 10).grade(Grade::Likely), Grade::Likely);
        for (held, of) in [(5, 10), (4, 10), (2, 10), (1, 5), (1, 2)] {
            let grades = [Grade::Certain, Grade::Likely].map(|whole| trust(held, of).grade(whole));
            assert_eq!(grades, [Grade::Undecided; 2], "{held} of {of}");
        }
        assert_eq!(trust(0, 5).grade(Grade::Certain), Grade::Undecided);
        assert_eq!(trust(2, 2).grade(Grade::Certain), Grade::Likely);
        assert_eq!(trust(0, 0).grade(Grade::Certain), Grade::Likely);
        assert_eq!(trust(5, 5).grade(Grade::Undecided), Grade::Undecided);
        let doubted = Trust {
            doubts: vec!["drift".into()],
            ..trust(5, 5)
        };
        assert_eq!(doubted.grade(Grade::Certain), Grade::Likely);
    }

    #[test]
    fn a_ratio_on_the_other_side_and_a_place_out_of_range_do_not_agree() {
        let said = |times: f64, size: Bytes, word: &str| {
            let times = about(times, Unit::Ratio);
            Finding::new("it", sentence!("{word} is {times} as fast from {size} on."))
        };
        let whole = said(1.5, Bytes(4096), "read");
        assert!(whole.agrees_with(&said(1.01, Bytes(4096), "read")));
        assert!(!whole.agrees_with(&said(0.99, Bytes(4096), "read")));
        assert!(!whole.agrees_with(&said(1.5, Bytes(8192), "read")));
        assert!(!whole.agrees_with(&said(1.5, Bytes(4096), "mmap")));
        let open = said(1.05, Bytes(4096), "read");
        assert!(open.agrees_with(&said(0.9, Bytes(4096), "read")));
        assert!(open.differs_from(&said(0.9, Bytes(4096), "read")));
        assert!(!open.differs_from(&open));
    }

    #[test]
    fn a_difference_keeps_its_sign_and_a_place_its_range() {
        let said = |cost: f64, size: f64| {
            let (cost, size) = (about(cost, Unit::Nanoseconds), about(size, Unit::Bytes));
            Finding::new("it", sentence!("{cost} more beyond {size}."))
        };
        let whole = said(3.0, 1000.0);
        assert!(whole.agrees_with(&said(0.1, 1090.0)));
        assert!(!whole.agrees_with(&said(-0.1, 1000.0)));
        assert!(!whole.agrees_with(&said(3.0, 2300.0)));
    }

    #[test]
    fn the_weakest_number_has_the_widest_interval() {
        let (wide, size) = (about(5.0, Unit::Ratio), Bytes(4096));
        let narrow = Quantity {
            interval: Interval::new(6.9, 7.1),
            ..Quantity::nanoseconds(7.0)
        };
        let finding = Finding::new("it", sentence!("{narrow} at {size} is {wide}."));
        assert_eq!(finding.weakest().map(|number| number.name), Some("wide"));
        assert_eq!(Finding::new("it", sentence!("{size}.")).weakest(), None);
    }
}
