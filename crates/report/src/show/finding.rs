//! A finding as a sentence.

use super::value::{parts, quantity};
use crate::lists::joined;
use instrument::finding::{Finding, Trust};
use instrument::quantity::{Known, significant};

/// The sentence of a finding, each number with its unit and its interval.
pub fn sentence(finding: &Finding) -> String {
    finding.sentence.text(quantity)
}

/// The evidence for the grade of a finding: `holds in 9 of 10 passes; the next run within ±4 %;
/// weakest number: 35.4 ns`.
pub fn trust(finding: &Finding, trust: &Trust) -> String {
    let passes = match (trust.held, trust.of) {
        (_, 0) => "no pass measured it by itself".into(),
        (held, of) => format!("holds in {held} of {of} passes"),
    };
    let weakest = finding.weakest().map(|number| {
        let value = parts(&number.quantity).0;
        match number.quantity.relative_half_width() {
            Some(share) if number.quantity.known() == Known::Value => {
                let percent = significant(100.0 * share, 2);
                format!("the next run within ±{percent} %; weakest number: {value}")
            }
            _ => format!("weakest number: {value}"),
        }
    });
    let doubts = match trust.doubts.as_slice() {
        [] => None,
        doubts => Some(format!("warned of: {}", doubts.join(", "))),
    };
    joined("; ", [Some(passes), weakest, doubts].into_iter().flatten())
}

#[cfg(test)]
mod tests {
    use super::{sentence, trust};
    use instrument::finding::{Finding, Trust, sentence};
    use instrument::quantity::{Quantity, Unit};
    use instrument::statistics::Interval;

    #[test]
    fn a_cost_that_may_be_zero_is_shown_as_its_bound() {
        let extra = Quantity::new(4.8, Interval::new(-1.6, 11.2), Unit::Nanoseconds);
        let finding = Finding::new("extra", sentence!("It takes {extra} longer."));
        assert_eq!(sentence(&finding), "It takes at most 12 ns longer.");
        let evidence = Trust {
            held: 8,
            of: 10,
            doubts: Vec::new(),
        };
        assert_eq!(
            trust(&finding, &evidence),
            "holds in 8 of 10 passes; weakest number: at most 12 ns"
        );
    }
}
