//! Claims about arithmetic.

use super::operations::{Number, Operation, Work};
use super::{DESIGN, LATENCY_CYCLES, THROUGHPUT_CYCLES, at, best};
use crate::estimates::ratio;
use crate::judging::{MARGIN, decided, exceeds};
use crate::optimisation::{Compiler, Optimisation};
use crate::prelude::*;
use instrument::claim::{Claim, Evidence, Judgement, Ruling};

pub(crate) const ALL: &[Claim] = &[
    Claim {
        key: "integers_are_faster_than_floats",
        says: "It is faster to add, subtract, multiply and divide integers than floats.",
        source: "Report E, section 6",
        experiments: &[DESIGN.id],
        test: integers_are_faster,
    },
    Claim {
        key: "all_but_integer_division_gain_from_optimisation",
        says: "All operations but the division of integers gain if the compiler optimises.",
        source: "Report E, section 6",
        experiments: &[DESIGN.id],
        test: all_but_division_gain,
    },
];

/// The latencies of 64-bit floats over those of integers.
fn integers_are_faster(evidence: &Evidence<'_>) -> Option<Judgement> {
    let results = evidence.of(DESIGN.id)?;
    let latency = |operation, number| best(results, LATENCY_CYCLES, Work(operation, number));
    let over = |operation| {
        let float = latency(operation, Number::Float64)?;
        ratio(float, latency(operation, Number::Integer64)?)
    };
    let (add, subtract) = (over(Operation::Add)?, over(Operation::Subtract)?);
    let (multiply, divide) = (over(Operation::Multiply)?, over(Operation::Divide)?);
    let said = sentence!(
        "At optimisation 3, 64-bit floats take {add} as long as integers to add, {subtract} to \
         subtract, {multiply} to multiply and {divide} to divide."
    );
    let ruling = throughout(&[add, subtract, multiply, divide]);
    Some(decided(ruling, Finding::new("because", said)))
}

/// The time between independent operations without optimisation over that with it, for 64 bits.
fn all_but_division_gain(evidence: &Evidence<'_>) -> Option<Judgement> {
    let results = evidence.of(DESIGN.id)?;
    let gain = |work| {
        let (metric, none) = (THROUGHPUT_CYCLES, Optimisation::NONE);
        let unoptimised = at(results, metric, work, none, Compiler::Rust)?;
        ratio(unoptimised, best(results, metric, work)?)
    };
    let integer_division = Work(Operation::Divide, Number::Integer64);
    let division = gain(integer_division)?;
    let others = Work::basic(&[Number::Integer64, Number::Float64]);
    let others = others.filter(|work| *work != integer_division);
    let others: Vec<Quantity> = others.map(gain).collect::<Option<_>>()?;
    let least = others.iter().min_by(|a, b| a.value.total_cmp(&b.value))?;
    let said = sentence!(
        "Independent integer divisions run {division} as fast at optimisation 3 as at 0; the 64-bit \
         operation that gains least of the others, {least}."
    );
    let ruling = match (throughout(&others), exceeds(&division, 1.0 + MARGIN)) {
        (Ruling::Holds, Ruling::DoesNotHold) => Ruling::Holds,
        (Ruling::DoesNotHold, _) | (_, Ruling::Holds) => Ruling::DoesNotHold,
        _ => Ruling::Undecided,
    };
    Some(decided(ruling, Finding::new("because", said)))
}

/// The ruling that all of the ratios are above 1.
fn throughout(ratios: &[Quantity]) -> Ruling {
    let rulings = || ratios.iter().map(|ratio| exceeds(ratio, 1.0 + MARGIN));
    if rulings().all(|ruling| ruling == Ruling::Holds) {
        Ruling::Holds
    } else if rulings().any(|ruling| ruling == Ruling::DoesNotHold) {
        Ruling::DoesNotHold
    } else {
        Ruling::Undecided
    }
}

#[cfg(test)]
mod tests {
    use super::super::Arithmetic;
    use super::super::findings::tests::{as_published, points, zen_5};
    use super::*;
    use crate::made_up::results;

    #[test]
    fn the_claims_are_judged() {
        let slow_floats = |Work(_, number): Work, _| {
            if number == Number::Float64 { 4.0 } else { 1.0 }
        };
        for (points, expected) in [
            (points(as_published), [Ruling::DoesNotHold, Ruling::Holds]),
            (points(slow_floats), [Ruling::Holds, Ruling::DoesNotHold]),
        ] {
            let (definition, machine) = (Arithmetic.definition(), zen_5());
            let results = [results(&definition, &machine, points)];
            let evidence = Evidence::new(&results);
            let rulings = ALL.iter().map(|claim| claim.judge(&evidence).ruling);
            assert_eq!(rulings.collect::<Vec<_>>(), expected);
        }
    }
}
