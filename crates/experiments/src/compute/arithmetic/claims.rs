//! Claims about arithmetic.

use super::findings::{at, best};
use super::points::{BASIC, DIVIDE, FLOAT_64, INTEGER_64};
use super::{LATENCY_CYCLES, THROUGHPUT_CYCLES};
use crate::estimates::{WithEstimate, ratio};
use crate::judging::{MARGIN, decided, exceeds};
use crate::levels::RUST;
use instrument::claim::{Claim, Evidence, Judgement, Ruling};
use instrument::finding::Finding;
use instrument::quantity::Unit;
use instrument::statistics::Estimated;

const ARITHMETIC: &str = "compute.arithmetic";

pub(crate) const ALL: &[Claim] = &[
    Claim {
        key: "integers_are_faster_than_floats",
        says: "Integers are added, subtracted, multiplied and divided faster than floats.",
        source: "Report E, section 6",
        experiments: &[ARITHMETIC],
        test: integers_are_faster,
    },
    Claim {
        key: "all_but_integer_division_gain_from_optimisation",
        says: "Every operation but the division of integers gains from the compiler's optimisation.",
        source: "Report E, section 6",
        experiments: &[ARITHMETIC],
        test: all_but_division_gain,
    },
];

/// The latencies of 64-bit floats over those of integers.
fn integers_are_faster(evidence: &Evidence<'_>) -> Option<Judgement> {
    let results = evidence.of(ARITHMETIC)?;
    let ratios: Vec<Estimated> = BASIC
        .iter()
        .map(|operation| {
            let float = best(results, LATENCY_CYCLES, (operation, FLOAT_64))?;
            ratio(
                float,
                best(results, LATENCY_CYCLES, (operation, INTEGER_64))?,
            )
        })
        .collect::<Option<_>>()?;
    let sentence = "Each waiting for the one before, at optimisation 3, floats of 64 bits take {add} \
                    as long to add as integers, {subtract} to subtract, {multiply} to multiply and \
                    {divide} to divide.";
    let because = BASIC.iter().zip(&ratios).fold(
        Finding::new("because", sentence),
        |because, (operation, ratio)| because.with(operation, ratio, Unit::Ratio),
    );
    Some(decided(throughout(&ratios), because))
}

/// The time between independent operations without optimisation over that with it, for 64 bits.
fn all_but_division_gain(evidence: &Evidence<'_>) -> Option<Judgement> {
    let results = evidence.of(ARITHMETIC)?;
    let gain = |what| {
        let unoptimised = at(results, THROUGHPUT_CYCLES, what, 0, RUST)?;
        ratio(unoptimised, best(results, THROUGHPUT_CYCLES, what)?)
    };
    let division = gain((DIVIDE, INTEGER_64))?;
    let all = [INTEGER_64, FLOAT_64]
        .into_iter()
        .flat_map(|number| BASIC.map(|operation| (operation, number)));
    let others: Vec<Estimated> = all
        .filter(|what| *what != (DIVIDE, INTEGER_64))
        .map(gain)
        .collect::<Option<_>>()?;
    let least = others.iter().min_by(|a, b| a.centre.total_cmp(&b.centre))?;
    let sentence = "Independent integer divisions run {division} as fast at optimisation 3 as at 0; \
                    of the other operations on 64 bits, the one that gains least {least}.";
    let because = Finding::new("because", sentence)
        .with("division", &division, Unit::Ratio)
        .with("least", least, Unit::Ratio);
    let ruling = match (throughout(&others), exceeds(&division, 1.0 + MARGIN)) {
        (Ruling::Holds, Ruling::DoesNotHold) => Ruling::Holds,
        (Ruling::DoesNotHold, _) | (_, Ruling::Holds) => Ruling::DoesNotHold,
        _ => Ruling::CannotBeTold,
    };
    Some(decided(ruling, because))
}

/// Whether all of the ratios are above 1.
fn throughout(ratios: &[Estimated]) -> Ruling {
    let rulings = || ratios.iter().map(|ratio| exceeds(ratio, 1.0 + MARGIN));
    if rulings().all(|ruling| ruling == Ruling::Holds) {
        Ruling::Holds
    } else if rulings().any(|ruling| ruling == Ruling::DoesNotHold) {
        Ruling::DoesNotHold
    } else {
        Ruling::CannotBeTold
    }
}
