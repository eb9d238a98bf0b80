//! The findings that a reader of a whole run sees first.

use crate::{Analysis, ExperimentAnalysis};
use instrument::finding::{Finding, Grade, Number};

/// At most this many findings stand together on a page or a terminal. All others stand with their
/// experiment.
pub const MOST_FINDINGS: usize = 40;

/// Each further finding of the same experiment weighs this much of the one before it: a tenth sentence
/// on one matter changes less for a reader than the first on another.
const FURTHER: f64 = 0.85;
/// Weight of a likely finding, relative to a certain one.
const LIKELY: f64 = 0.8;
/// Weight of a finding with a number whose interval spans more than [`VAGUE`]: of it, not even the
/// order of magnitude is known.
const HARDLY_KNOWN: f64 = 0.5;
/// The end of such an interval over its beginning.
const VAGUE: f64 = 10.0;

/// The findings of a run that change most for a reader, at most `most`, the most important first.
/// A finding that cannot be told changes nothing and is left to its experiment.
pub fn foremost<'r, 'a>(
    analysis: &'r Analysis<'a>,
    most: usize,
) -> Vec<(&'r ExperimentAnalysis<'a>, &'r Finding)> {
    let mut weighed: Vec<_> = analysis.experiments.iter().flat_map(by_weight).collect();
    weighed.sort_by(|(one, ..), (other, ..)| other.total_cmp(one));
    weighed
        .into_iter()
        .take(most)
        .map(|(_, experiment, finding)| (experiment, finding))
        .collect()
}

/// The findings of an experiment with what each adds to those before it.
fn by_weight<'r, 'a>(
    experiment: &'r ExperimentAnalysis<'a>,
) -> impl Iterator<Item = (f64, &'r ExperimentAnalysis<'a>, &'r Finding)> {
    let told = experiment
        .findings
        .iter()
        .filter(|finding| finding.grade != Grade::CannotBeTold);
    let further = std::iter::successors(Some(1.0), |share| Some(share * FURTHER));
    told.zip(further).map(move |(finding, share)| {
        let mut surety = 1.0;
        if finding.grade == Grade::Likely {
            surety *= LIKELY;
        }
        if finding.sentence.numbers().any(is_vague) {
            surety *= HARDLY_KNOWN;
        }
        (finding.weight * surety * share, experiment, finding)
    })
}

fn is_vague(number: &Number) -> bool {
    let interval = number.quantity.interval;
    interval.is_some_and(|interval| interval.low <= 0.0 || interval.high > VAGUE * interval.low)
}

#[cfg(test)]
mod tests {
    use super::is_vague;
    use instrument::finding::Number;
    use instrument::quantity::{Quantity, Unit};
    use instrument::statistics::Interval;

    #[test]
    fn a_number_of_which_the_magnitude_is_unknown_is_vague() {
        let number = |low, high| Number {
            name: "late",
            quantity: Quantity {
                value: 72.0,
                interval: Interval::new(low, high),
                unit: Unit::Nanoseconds,
            },
        };
        assert!(!is_vague(&number(60.0, 80.0)));
        assert!(is_vague(&number(1.1, 4833.0)) && is_vague(&number(0.0, 80.0)));
    }
}
