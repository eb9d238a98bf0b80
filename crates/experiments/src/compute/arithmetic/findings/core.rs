//! The core's part: the time of operations, how many overlap, and the width of its registers.

use crate::compute::arithmetic::operations::{Number, Operation, Work};
use crate::compute::arithmetic::{
    LATENCY, LATENCY_CYCLES, THROUGHPUT, THROUGHPUT_CYCLES, VECTOR_CYCLES, VECTORS, best,
};
use crate::estimates::{grade, ratio, ratio_within};
use crate::prelude::*;

/// The number of operations that are under way at once.
pub(super) fn overlap(results: &Results) -> Option<Finding> {
    let overlap = |work| {
        let latency = best(results, LATENCY_CYCLES, work)?;
        let times = ratio(latency, best(results, THROUGHPUT_CYCLES, work)?)?;
        Some((work, times.in_unit(Unit::Count)))
    };
    let operations = Operation::BASIC.iter().flat_map(|operation| {
        [Number::Integer64, Number::Float64].map(|number| Work(*operation, number))
    });
    let mut overlaps: Vec<_> = operations.filter_map(overlap).collect();
    overlaps.sort_by(|(_, a), (_, b)| a.value.total_cmp(&b.value));
    let &[(idlest, least), .., (busiest, most)] = overlaps.as_slice() else {
        return None;
    };
    let said = sentence!(
        "Of independent operations, the core overlaps {most} at a time for {busiest} and {least} for \
         {idlest}: a chain of dependent operations leaves the rest of the core idle.",
        busiest = busiest.title(),
        idlest = idlest.title(),
    );
    let finding = Finding::new("overlap", said);
    Some(finding.graded(grade(&most, 1.0)).weighing(0.55))
}

pub(super) fn division(results: &Results) -> Option<Finding> {
    let cycles = |operation| best(results, LATENCY_CYCLES, Work(operation, Number::Integer64));
    let division = cycles(Operation::Divide)?;
    let times = ratio(division, cycles(Operation::Multiply)?)?;
    let said = sentence!(
        "A division of 64-bit integers takes {cycles} cycles, {times} as long as a multiplication.",
        cycles = division,
    );
    let finding = Finding::new("division", said);
    Some(finding.graded(grade(&times, 1.0)).weighing(0.4))
}

/// The gain by the widest registers.
pub(super) fn widest(results: &Results) -> Option<Finding> {
    let work = Work(Operation::Fused, Number::Float32);
    let rate = best(results, VECTORS, work)?;
    let gain = ratio_within(rate, best(results, THROUGHPUT, work)?)?;
    let said = sentence!(
        "In the widest vector registers, one core multiplies and adds 32-bit floats at {rate}, {gain} \
         as fast as one by one: {cycles} cycles for each register.",
        cycles = best(results, VECTOR_CYCLES, work)?,
    );
    let finding = Finding::new("widest", said);
    Some(finding.graded(grade(&gain, 1.0)).weighing(0.55))
}

pub(super) fn cycle(results: &Results) -> Option<Finding> {
    let cycle = best(results, LATENCY, Work(Operation::Add, Number::Integer64))?;
    let said =
        sentence!("A cycle of the core's clock lasts {cycle}: the latency of a 64-bit addition.");
    Some(Finding::new("cycle", said).weighing(0.3))
}
