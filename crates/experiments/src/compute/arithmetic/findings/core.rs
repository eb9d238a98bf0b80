//! What the core can do: how long operations take it, how many at once, and how wide.

use super::{best, name};
use crate::compute::arithmetic::points::{
    ADD, BASIC, DIVIDE, FLOAT_32, FLOAT_64, FUSED, INTEGER_64, MULTIPLY,
};
use crate::compute::arithmetic::{
    LATENCY, LATENCY_CYCLES, THROUGHPUT, THROUGHPUT_CYCLES, VECTOR_CYCLES, VECTORS,
};
use crate::estimates::{WithEstimate, estimated, grade, ratio, ratio_within};
use instrument::finding::Finding;
use instrument::quantity::Unit;
use instrument::results::Results;

/// How many operations are under way at once.
pub(super) fn overlap(results: &Results) -> Option<Finding> {
    let times = |what| {
        let throughput = best(results, THROUGHPUT_CYCLES, what)?;
        Some((
            what,
            ratio(best(results, LATENCY_CYCLES, what)?, throughput)?,
        ))
    };
    let types = [INTEGER_64, FLOAT_64];
    let mut overlaps: Vec<_> = BASIC
        .iter()
        .flat_map(|operation| types.map(|number| (*operation, number)))
        .filter_map(times)
        .collect();
    overlaps.sort_by(|(_, a), (_, b)| a.centre.total_cmp(&b.centre));
    let [(least, fewest), .., (most, greatest)] = overlaps.as_slice() else {
        return None;
    };
    let template = format!(
        "Where operations need not wait for each other, {{most}} are under way at once for {}, and \
         {{least}} for {}: a chain of dependent ones leaves the rest of the core idle.",
        name(*most),
        name(*least)
    );
    let finding = Finding::new("overlap", &template)
        .with("most", greatest, Unit::Count)
        .with("least", fewest, Unit::Count);
    Some(finding.graded(grade(greatest, 1.0)).weighing(0.55))
}

pub(super) fn division(results: &Results) -> Option<Finding> {
    let division = best(results, LATENCY_CYCLES, (DIVIDE, INTEGER_64))?;
    let times = ratio(
        division,
        best(results, LATENCY_CYCLES, (MULTIPLY, INTEGER_64))?,
    )?;
    let template = "A division of 64-bit integers takes {cycles} cycles, {times} as long as a \
                    multiplication.";
    let finding = Finding::new("division", template)
        .with("cycles", &estimated(division), Unit::Count)
        .with("times", &times, Unit::Ratio);
    Some(finding.graded(grade(&times, 1.0)).weighing(0.4))
}

/// What the widest registers bring.
pub(super) fn widest(results: &Results) -> Option<Finding> {
    let what = (FUSED, FLOAT_32);
    let widest = best(results, VECTORS, what)?;
    let cycles = best(results, VECTOR_CYCLES, what)?;
    let gain = ratio_within(widest, best(results, THROUGHPUT, what)?)?;
    let template = "In the widest vector registers one core multiplies and adds 32-bit floats at \
                    {rate}, {gain} as fast as single ones: one register each {cycles} cycles.";
    let finding = Finding::new("widest", template)
        .with("rate", &estimated(widest), Unit::OperationsPerSecond)
        .with("gain", &gain, Unit::Ratio)
        .with("cycles", &estimated(cycles), Unit::Count);
    Some(finding.graded(grade(&gain, 1.0)).weighing(0.55))
}

pub(super) fn cycle(results: &Results) -> Option<Finding> {
    let addition = best(results, LATENCY, (ADD, INTEGER_64))?;
    let template = "A cycle of the core's clock lasts {cycle}: so long a 64-bit addition takes that \
                    waits for another.";
    let finding = Finding::new("cycle", template);
    Some(
        finding
            .with("cycle", &estimated(addition), Unit::Nanoseconds)
            .weighing(0.3),
    )
}
