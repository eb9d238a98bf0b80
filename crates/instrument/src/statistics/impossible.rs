//! Costs that no work can have: a timing below zero, or a thousand times its neighbours.

use super::summary::{median, median_absolute_deviation};

/// No timing differs by as much from the others of its point, whatever interrupts it.
const MOST: f64 = 1000.0;

/// If half of the costs lie within this share of the median, noise does not reach zero. Else a
/// negative cost is one of many around zero, and leaving it out would make the others seem dear.
const STEADY: f64 = 0.5;

/// The costs of a point that are possible, from the least to the greatest.
///
/// A cost at or below zero is impossible where the others are steady: the fixed cost of its process
/// was taken for larger than a whole leg.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Possible {
    /// Exclusive.
    above: f64,
    at_most: f64,
}

impl Possible {
    /// From all costs of the point.
    pub(crate) fn among(costs: &[f64]) -> Self {
        let usual = median(costs).filter(|usual| *usual > 0.0);
        let spread = median_absolute_deviation(costs);
        let is_steady = |usual: f64| spread.is_some_and(|spread| spread <= STEADY * usual);
        Self {
            above: match usual {
                Some(usual) if is_steady(usual) => 0.0,
                _ => f64::NEG_INFINITY,
            },
            at_most: usual.map_or(f64::INFINITY, |usual| MOST * usual),
        }
    }

    /// True also for what is not a number, which is no matter of size.
    pub(crate) fn contains(&self, cost: f64) -> bool {
        !(cost <= self.above || cost > self.at_most)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn left_out(costs: &[f64]) -> Vec<f64> {
        let possible = Possible::among(costs);
        let costs = costs.iter().copied();
        costs.filter(|cost| !possible.contains(*cost)).collect()
    }

    #[test]
    fn one_negative_cost_among_steady_ones_is_impossible() {
        assert_eq!(left_out(&[52.0, 55.0, -11.9, 60.0, 48.0, 53.0]), [-11.9]);
        assert_eq!(left_out(&[52.0, 55.0, 0.0, 60.0]), [0.0]);
    }

    #[test]
    fn costs_around_zero_are_noise() {
        assert_eq!(left_out(&[0.5, -0.4, 0.9, 0.1, -0.2, 1.2]), [0.0; 0]);
        assert_eq!(left_out(&[-3.0, -2.0, 1.0]), [0.0; 0]);
    }

    #[test]
    fn a_thousand_times_the_others_is_impossible_and_a_hundred_times_is_not() {
        assert_eq!(left_out(&[10.0, 11.0, 12.0, 11e3 + 5.0, 900.0]), [0.0; 0]);
        assert_eq!(left_out(&[10.0, 11.0, 12.0, 11e4, 900.0]), [11e4]);
    }
}
