//! What the interval of a value says to a reader.

use super::{Quantity, Unit};
use crate::statistics::Interval;

/// A value whose interval reaches further from it than this share of it is vague.
pub(crate) const VAGUE: f64 = 0.5;
/// A bound of a ratio closer to 1 than this says nothing.
const NOTABLE: f64 = 1.1;
/// A range whose end is more than this multiple of its beginning says nothing.
const MOST_TIMES: f64 = 4.0;

/// What is known of a quantity, by its interval alone.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Known {
    /// The value: it was looked up or set, or its interval ends within half of it.
    Value,
    /// A bound: a ratio that is surely above 1, by how much is not known.
    AtLeast(f64),
    /// A bound: a ratio that is surely below 1, or an amount that may be zero.
    AtMost(f64),
    /// A range, too wide for a value.
    Between(Interval),
    /// Nothing that a sentence could say.
    Nothing,
}

impl Quantity {
    /// What a reader can be shown of it.
    pub fn known(&self) -> Known {
        let Some(interval) = self.interval.filter(|_| self.is_vague()) else {
            return Known::Value;
        };
        let Interval { low, high } = interval;
        let may_be_zero = low <= 0.0 && high > 0.0;
        match self.unit {
            Unit::Ratio if low >= NOTABLE => Known::AtLeast(low),
            Unit::Ratio if low > 0.0 && high <= 1.0 / NOTABLE => Known::AtMost(high),
            Unit::Nanoseconds | Unit::Bytes | Unit::Count if may_be_zero => Known::AtMost(high),
            Unit::Share if high > 0.0 && high - low.max(0.0) <= VAGUE => Known::AtMost(high),
            Unit::Ratio | Unit::Share => Known::Nothing,
            _ if low > 0.0 && high <= MOST_TIMES * low => Known::Between(interval),
            _ => Known::Nothing,
        }
    }

    /// True if its interval reaches further from the value than half of it: readers are shown what is
    /// known in place of the value.
    pub fn is_vague(&self) -> bool {
        self.interval.is_some_and(|interval| {
            let reach = (self.value - interval.low).max(interval.high - self.value);
            reach > VAGUE * self.value.abs()
        })
    }
}

#[cfg(test)]
mod tests {
    use super::Known::{self, AtLeast, AtMost, Between, Nothing, Value};
    use crate::quantity::{Quantity, Unit};
    use crate::statistics::Interval;

    fn known(value: f64, low: f64, high: f64, unit: Unit) -> Known {
        let interval = Interval::new(low, high);
        Quantity::new(value, interval, unit).known()
    }

    #[test]
    fn a_wide_ratio_is_a_bound_on_its_side_of_one_and_else_nothing() {
        let ratio = |value, low, high| known(value, low, high, Unit::Ratio);
        assert_eq!(ratio(76.0, 49.0, 120.0), AtLeast(49.0));
        assert_eq!(ratio(0.1, 0.02, 0.3), AtMost(0.3));
        assert_eq!(ratio(0.7, 0.019, 23.0), Nothing);
        assert_eq!(ratio(1.15, 0.781, 1.70), Value);
        assert_eq!(ratio(2.0, 1.0, 3.0), Value);
        assert_eq!(ratio(2.0, 0.99, 2.5), Nothing);
        assert_eq!(ratio(3.0, 1.09, 8.0), Nothing, "hardly more than 1");
        assert_eq!(ratio(2.0, 1.5, 3.01), AtLeast(1.5));
    }

    #[test]
    fn a_wide_cost_is_a_bound_where_it_may_be_zero_and_else_a_range() {
        let cost = |value, low, high| known(value, low, high, Unit::Nanoseconds);
        assert_eq!(cost(4.8, -1.6, 11.2), AtMost(11.2));
        assert_eq!(cost(4.8, 0.0, 11.2), AtMost(11.2));
        let between = Interval::new(2.3, 9.0).expect("in order");
        assert_eq!(cost(4.8, 2.3, 9.0), Between(between));
        assert_eq!(cost(4.8, 1.0, 8.6), Nothing);
        assert_eq!(cost(4.8, 2.5, 7.1), Value);
        let rate = known(4.8, 0.0, 11.2, Unit::BytesPerSecond);
        assert_eq!(rate, Nothing, "a rate is no cost");
    }

    #[test]
    fn a_wide_share_is_a_bound_up_to_half_of_the_whole() {
        let share = |value, low, high| known(value, low, high, Unit::Share);
        assert_eq!(share(0.03, 0.001, 0.1), AtMost(0.1));
        assert_eq!(share(0.1, -0.1, 0.3), AtMost(0.3));
        assert_eq!(share(0.4, 0.1, 0.9), Nothing);
        assert_eq!(share(0.97, 0.9, 1.0), Value);
    }

    #[test]
    fn a_place_is_between_two_others_unless_they_are_far_apart() {
        let place = |value, low, high| known(value, low, high, Unit::Bytes);
        let between = Interval::new(256.0, 1024.0).expect("in order");
        assert_eq!(place(512.0, 256.0, 1024.0), Between(between));
        assert_eq!(place(512.0, 64.0, 1024.0), Nothing);
        assert_eq!(place(512.0, 512.0, 512.0), Value);
    }

    #[test]
    fn what_was_looked_up_is_known() {
        assert_eq!(Quantity::exact(1.0, Unit::Ratio).known(), Value);
        assert_eq!(known(0.0, 0.0, 0.0, Unit::Nanoseconds), Value);
    }
}
