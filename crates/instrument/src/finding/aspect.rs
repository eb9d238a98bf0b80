//! The subject of a number in a finding, and the conditions under which it was measured.

use super::name::{self, Name};
use crate::quantity::Quantity;
use serde::{Deserialize, Serialize};

/// Below this ratio, two values of one subject agree for a reader.
const NOTABLE: f64 = 1.1;

/// A number of a finding whose subject other findings measure too.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Aspect {
    /// The name of the thing measured, with its article: `the gain from huge pages`.
    #[serde(deserialize_with = "name::deserialize")]
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
    use super::Aspect;
    use crate::quantity::{Quantity, Unit};
    use crate::statistics::Interval;

    fn aspect(subject: &'static str, value: f64, half_width: f64) -> Aspect {
        Aspect {
            subject,
            quantity: Quantity {
                value,
                interval: Interval::new(value - half_width, value + half_width),
                unit: Unit::Ratio,
            },
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
