//! Claims about arithmetic.

use super::operations::{Number, Operation, Work};
use super::{DESIGN, THROUGHPUT_CYCLES, at, best};
use crate::estimates::ratio;
use crate::judging::{MARGIN, decided, exceeds, extremes, throughout};
use crate::optimisation::{Compiler, Optimisation};
use crate::prelude::*;
use instrument::statistics::Interval;

pub(crate) const ALL: &[Claim] = &[
    Claim {
        key: "integers_are_faster_than_floats",
        says: "Overall, operations on integers are faster than on floats.",
        source: "Report E, section 6",
        basis: Basis::One(DESIGN.id, integers_are_faster),
    },
    Claim {
        key: "all_but_integer_division_gain_from_optimisation",
        says: "All operations but the division of integers gain if the compiler optimises.",
        source: "Report E, section 6",
        basis: Basis::One(DESIGN.id, all_but_division_gain),
    },
];

/// The time of floats over that of integers. Report E does independent operations on `int` and `float`; overall is
/// the mean of the four operations.
fn integers_are_faster(results: &Results<'_>) -> Option<Judgement> {
    let over = |operation| {
        let time = |number| best(results, THROUGHPUT_CYCLES, Work(operation, number));
        ratio(time(Number::Float32)?, time(Number::Integer32)?)
    };
    let [add, subtract, multiply, divide] = Operation::BASIC.map(over);
    let (add, subtract, multiply, divide) = (add?, subtract?, multiply?, divide?);
    let overall = mean(&[add, subtract, multiply, divide]);
    let said = sentence!(
        "At optimisation 3, independent operations on 32-bit floats take {overall} as long as on integers \
         on average: {add} to add, {subtract} to subtract, {multiply} to multiply and {divide} to divide."
    );
    Some(decided(exceeds(&overall, 1.0 + MARGIN), said).with_number("overall", overall))
}

/// The geometric mean of ratios. Its interval is as wide as theirs allow at most.
fn mean(ratios: &[Quantity]) -> Quantity {
    let of = |end: fn(&Quantity) -> f64| {
        let logarithms: f64 = ratios.iter().map(|ratio| end(ratio).ln()).sum();
        (logarithms / ratios.len() as f64).exp()
    };
    let is_known = ratios.iter().all(|ratio| ratio.interval.is_some());
    let ends = Interval::new(of(|it| it.extent().low), of(|it| it.extent().high));
    Quantity {
        value: of(|it| it.value),
        interval: ends.filter(|_| is_known),
        unit: Unit::Ratio,
    }
}

/// The time between independent operations without optimisation over that with it, for all types.
fn all_but_division_gain(results: &Results<'_>) -> Option<Judgement> {
    let gain = |work| {
        let (metric, none) = (THROUGHPUT_CYCLES, Optimisation::NONE);
        let unoptimised = at(results, metric, work, none, Compiler::Rust)?;
        Some((work, ratio(unoptimised, best(results, metric, work)?)?))
    };
    let is_division = |work: &Work| {
        let integers = [Number::Integer32, Number::Integer64];
        integers
            .map(|number| Work(Operation::Divide, number))
            .contains(work)
    };
    let (divisions, others): (Vec<_>, Vec<_>) = Work::basic(Number::ALL)
        .filter_map(gain)
        .partition(|(work, _)| is_division(work));
    let [_, (_, division)] = extremes(&divisions)?;
    let [(work, least), _] = extremes(&others)?;
    let said = sentence!(
        "Independent integer divisions run at most {division} as fast at optimisation 3 as at 0; of the \
         others, {work} gains least, {least}.",
        work = work.title(),
    );
    let gains = |gains: &[(Work, Quantity)]| {
        throughout(gains.iter().map(|(_, gain)| exceeds(gain, 1.0 + MARGIN)))
    };
    let ruling = match (gains(&others), gains(&divisions)) {
        (Ruling::DoesNotHold, _) => Ruling::DoesNotHold,
        (Ruling::Undecided, _) | (_, Ruling::Undecided) => Ruling::Undecided,
        // Divisions that all gain are like the others, and the exception is none.
        (_, Ruling::Holds) => Ruling::DoesNotHold,
        (Ruling::Holds, Ruling::DoesNotHold) => Ruling::Holds,
        _ => Ruling::HoldsInPart,
    };
    Some(decided(ruling, said))
}
