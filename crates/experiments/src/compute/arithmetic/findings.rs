//! Findings and figures of `compute.arithmetic`.

use super::operations::{self, Number, Operation, Work};
use super::{
    ARRAY, LATENCY, LATENCY_CYCLES, OPERATION, THROUGHPUT, THROUGHPUT_CYCLES, TYPE, VECTORS, at,
    best,
};
use crate::estimates::{by_ratio, found, ratio, ratio_within};
use crate::figures::{bars, linear, lines, logarithmic};
use crate::optimisation::{COMPILER, Compiler, OPTIMISATION, Optimisation};
use crate::prelude::*;
use kernels::levels::Level;

pub(super) fn all(results: &Results) -> Vec<Finding> {
    found([
        against_published(results),
        overlap(results),
        division(results),
        vectors(results),
        widest(results),
        compilers(results),
    ])
}

pub(super) fn figures(results: &Results) -> Vec<Figure> {
    let figure = |key, title, metric: Metric, optimisation| {
        let levels = [OPTIMISATION.at(optimisation), COMPILER.at(Compiler::Rust)];
        let lines = lines(results, metric, OPERATION, TYPE, &levels);
        let scale = match metric.unit {
            Unit::Count => linear("cycles", metric.unit),
            _ => logarithmic("operations", metric.unit),
        };
        bars(key, title, (OPERATION, scale), lines)
    };
    let (none, full) = (Optimisation::NONE, Optimisation::FULL);
    let [unoptimised, throughput, vectors] = [
        "Latency in cycles without optimisation",
        "Throughput of independent operations",
        "Operations in the widest vector registers",
    ];
    vec![
        figure("latency", "Latency in cycles", LATENCY_CYCLES, full),
        figure("unoptimised", unoptimised, LATENCY_CYCLES, none),
        figure("throughput", throughput, THROUGHPUT, full),
        figure("array", "Operations on array elements", ARRAY, full),
        figure("vectors", vectors, VECTORS, full),
    ]
}

// Against what is published.

/// The largest distance of a latency from a published one. Half of it is the rounding of the tables.
const PUBLISHED_TOLERANCE: f64 = 0.15;

/// The latencies that differ from those of the instruction tables.
fn against_published(results: &Results) -> Option<Finding> {
    let core = operations::core(&results.machine.cpu)?;
    let compared = Work::all().filter_map(|work| {
        let [fewest, most] = core.latency_cycles(work)?;
        let measured = best(results, LATENCY_CYCLES, work)?.centre;
        let allowed = fewest * (1.0 - PUBLISHED_TOLERANCE)..=most * (1.0 + PUBLISHED_TOLERANCE);
        Some((work, allowed.contains(&measured)))
    });
    let compared: Vec<_> = compared.collect();
    let apart = compared.iter().filter(|(_, is_near)| !is_near);
    let names: Vec<_> = apart.map(|(work, _)| work.title()).collect();
    if names.is_empty() {
        return None;
    }
    let said = sentence!(
        "More than {tolerance} from the latencies published for {name}: {names}, {apart} of {count} \
         operations.",
        count = Count(compared.len() as u64),
        apart = Count(names.len() as u64),
        tolerance = Quantity::exact(PUBLISHED_TOLERANCE, Unit::Share),
        name = core.name,
        names = names.join(", "),
    );
    let finding = Finding::new("published", said).graded(Grade::Likely);
    Some(finding.weighing(0.5))
}

// The compiler's part: the gain by its vectors, and the difference between two compilers.

/// The gain by the compiler's vectors.
fn vectors(results: &Results) -> Option<Finding> {
    let addition = Work(Operation::Add, Number::Float64);
    let array = |level| {
        at(
            results,
            ARRAY,
            addition,
            Optimisation(level),
            Compiler::Rust,
        )
    };
    let gain = ratio(array(Level::O2)?, array(Level::O1)?)?;
    let said = sentence!(
        "A loop that adds arrays of 64-bit floats runs {gain} as fast at optimisation 2 as at 1: there, \
         rustc vectorises it."
    );
    let gains = gain.extent().low > 1.0;
    gains.then(|| by_ratio("vectors", said, &gain).weighing(0.35))
}

/// The greatest difference between the two compilers.
fn compilers(results: &Results) -> Option<Finding> {
    let metrics = [
        (LATENCY, "one after the other"),
        (THROUGHPUT, "independent"),
        (ARRAY, "in arrays"),
    ];
    let differences = Work::basic(Number::ALL).flat_map(|work| metrics.map(|it| (work, it)));
    let differences = differences.filter_map(|(work, (metric, title))| {
        let c = at(results, metric, work, Optimisation::FULL, Compiler::C)?;
        let rust = best(results, metric, work)?;
        // The speed of C over that of Rust.
        let times = if metric == LATENCY {
            ratio(rust, c)?
        } else {
            ratio(c, rust)?
        };
        times.differs_from(1.0).then_some((work, title, times))
    });
    let size = |times: &Quantity| times.value.ln().abs();
    let (work, title, times) =
        differences.max_by(|(.., a), (.., b)| size(a).total_cmp(&size(b)))?;
    let said = sentence!(
        "At optimisation 3, the C compiler and rustc differ most in {work}, {title}: the C loop runs \
         {times} as fast as the Rust loop.",
        work = work.title(),
    );
    Some(by_ratio("compilers", said, &times).weighing(0.35))
}

// The core's part: the time of operations, how many overlap, and the width of its registers.

/// The number of operations that are under way at once.
fn overlap(results: &Results) -> Option<Finding> {
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
    let (busiest, idlest) = (busiest.title(), idlest.title());
    let said = if least.value > 1.0 && least.differs_from(1.0) {
        sentence!(
            "The core overlaps {most} independent operations of {busiest} and {least} of {idlest}: a \
             chain in which each waits for the last is slower by that factor.",
        )
    } else {
        sentence!(
            "The core overlaps {most} independent operations of {busiest} and none of {idlest}: a chain \
             in which each waits for the last is slower by that factor.",
        )
    };
    Some(by_ratio("overlap", said, &most).weighing(0.45))
}

fn division(results: &Results) -> Option<Finding> {
    let cycles = |operation| best(results, LATENCY_CYCLES, Work(operation, Number::Integer64));
    let division = cycles(Operation::Divide)?;
    let times = ratio(division, cycles(Operation::Multiply)?)?;
    let said = sentence!(
        "A division of 64-bit integers takes {division} cycles, {times} as long as a multiplication."
    );
    Some(by_ratio("division", said, &times).weighing(0.4))
}

/// The gain by the widest registers.
fn widest(results: &Results) -> Option<Finding> {
    let work = Work(Operation::Fused, Number::Float32);
    let rate = best(results, VECTORS, work)?;
    let gain = ratio_within(rate, best(results, THROUGHPUT, work)?)?;
    let said = sentence!(
        "One core does fused multiply-adds of 32-bit floats at {rate} in its widest vector registers, \
         {gain} as fast as one by one."
    );
    Some(by_ratio("widest", said, &gain).weighing(0.4))
}
