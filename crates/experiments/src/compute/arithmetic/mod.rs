//! `compute.arithmetic`: the cost of integer and floating-point operations.

pub(crate) mod claims;
mod findings;
mod operations;

use crate::optimisation::{COMPILER, Compiler, OPTIMISATION, Optimisation, loops};
use crate::prelude::*;
use kernels::levels::{CHAINS, ELEMENTS_BYTES, Level, Loops, OPERATIONS_IN_A_TURN};
use kernels::{VECTORS_IN_A_TURN, Vectors};
use operations::{Number, Operation, Work};
use platform::clock;
use std::hint::black_box;

const OPERATION: AxisOf<Operation> = AxisOf::new("operation", "operation");
const TYPE: AxisOf<Number> = AxisOf::new("type", "type");

const LATENCY: Metric = Metric::time("latency", "latency").bounded(LEAST_LATENCY_NS);
const THROUGHPUT: Metric = Metric::rate("throughput", "throughput").bounded(MOST_PER_SECOND);
const ARRAY: Metric = Metric::rate("array", "in arrays").bounded(MOST_OF_ELEMENTS_PER_SECOND);
const LATENCY_CYCLES: Metric = Metric::cost("latency_cycles", "cycles of latency", Unit::Count);
const THROUGHPUT_CYCLES: Metric = Metric::cost(
    "throughput_cycles",
    "cycles of independent operations",
    Unit::Count,
);
const VECTORS: Metric = Metric::rate("vectors", "in vectors").bounded(MOST_OF_ELEMENTS_PER_SECOND);
const VECTOR_CYCLES: Metric = Metric::cost("vector_cycles", "cycles of a vector", Unit::Count);

/// No core runs at more than 10 GHz, and an operation takes at least a cycle, optimised or not.
const LEAST_LATENCY_NS: f64 = 0.1;
/// Ten operations a cycle at 10 GHz.
const MOST_PER_SECOND: f64 = 10.0 * 10e9;
/// Four registers of 16 elements a cycle at 10 GHz.
const MOST_OF_ELEMENTS_PER_SECOND: f64 = 64.0 * 10e9;

const DESIGN: Design = Design {
    id: "compute.arithmetic",
    title: "Arithmetic",
    question: "What do integer and floating-point operations cost, and what does the compiler's \
               optimisation gain?",
    method: formatcp!(
        "Latency: a chain of operations, each of which needs the result of the previous one; \
         {OPERATIONS_IN_A_TURN} in one iteration of the loop. Throughput: {CHAINS} independent \
         chains side by side. Array: the operation on each element of two arrays of \
         {ELEMENTS_BYTES} bytes; the first array takes the result. Its loads and stores are \
         included, and the compiler may vectorise it. Vectors: the operation on all elements of \
         the widest registers of this processor, in its own instructions, {VECTORS_IN_A_TURN} of \
         them in one iteration, in independent chains. Vectors are measured once, next to \
         optimisation 3 in Rust, and not for integer division, which has no vector instruction. \
         The other loops are one source, compiled at optimisation 0 to 3 by rustc, and a second \
         source in C, for AVX2 and FMA if the processor has them. Each result is hidden from the \
         compiler in its register, without an instruction, so that it cannot fold a chain; the \
         final results are used. Without optimisation a variable lives in memory, so each \
         operation contains a store and a load, and Rust calls a function for square root and \
         multiply-add. Integers are unsigned. Each division is by the previous result, so that \
         quotients have about half the bits of their type; in Rust it includes the test against \
         zero. After each {OPERATIONS_IN_A_TURN} square roots of a chain (each 2 in the \
         throughput), a multiplication keeps the numbers away from 1; its time is included. \
         Cycles: a chain of 64-bit additions, which take one cycle each, is timed alternately \
         with the loop. The value is the median of a few pairs, in cycles of the core's own clock \
         at any frequency."
    ),
    source: "Report E, section 6",
    axes: &[
        OPERATION.axis(),
        TYPE.axis(),
        OPTIMISATION.axis(),
        COMPILER.axis(),
    ],
    metrics: &[
        LATENCY,
        THROUGHPUT,
        ARRAY,
        LATENCY_CYCLES,
        THROUGHPUT_CYCLES,
        VECTORS,
        VECTOR_CYCLES,
    ],
};

pub(crate) struct Arithmetic;

impl Experiment for Arithmetic {
    fn design(&self) -> &'static Design {
        &DESIGN
    }

    /// Every operation on every type. The shorter profiles have the middle levels and C only where they
    /// show most.
    fn points(&self, setting: &Setting) -> Vec<Point> {
        let mut points = Vec::new();
        for work in Work::all() {
            for &compiler in Compiler::ALL {
                let levels = Level::ALL.map(Optimisation).into_iter();
                let wanted =
                    levels.filter(|level| is_wanted(setting.profile, work, *level, compiler));
                points.extend(wanted.map(|level| point(work, level, compiler)));
            }
        }
        points
    }

    fn shares_process(&self, _point: &Point) -> bool {
        true
    }

    fn measure(&self, point: &Point, sampler: &mut Sampler<'_>) -> Result<(), MeasureError> {
        let loops = loops(point.level(COMPILER)?, point.level(OPTIMISATION)?, sampler);
        let (operation, number) = (point.level(OPERATION)?, point.level(TYPE)?);
        let name = Work(operation, number).kernel();
        let run = loops
            .operation(&name)
            .ok_or_else(|| unsupported(format!("this processor cannot {operation} {number}")))?;
        let (x, y) = black_box(number.operands(operation));
        let in_a_turn = OPERATIONS_IN_A_TURN as f64;
        let latency = |turns| run.latency(turns, x, y);
        let throughput = |turns| run.throughput(turns, x, y);
        let elements = (ELEMENTS_BYTES / number.bytes()) as f64;
        time(sampler, LATENCY, in_a_turn, latency)?;
        time(sampler, THROUGHPUT, in_a_turn, throughput)?;
        time(sampler, ARRAY, elements, |turns| run.array(turns, x, y))?;
        count_cycles(sampler, LATENCY_CYCLES, latency);
        count_cycles(sampler, THROUGHPUT_CYCLES, throughput);
        // The operation in the widest registers that have it, if any has.
        let vectors = Vectors::available(&name).next();
        if let Some(vectors) = vectors.filter(|_| has_vectors(point)) {
            let elements = vectors.register_bytes / number.bytes() as u64;
            let run = |turns| vectors.throughput(turns, x, y);
            time(sampler, VECTORS, (VECTORS_IN_A_TURN * elements) as f64, run)?;
            count_cycles(sampler, VECTOR_CYCLES, run);
        }
        Ok(())
    }

    fn findings(&self, results: &Results) -> Vec<Finding> {
        findings::all(results)
    }

    fn figures(&self, results: &Results) -> Vec<Figure> {
        findings::figures(results)
    }
}

/// Times turns of a loop with this number of operations each.
fn time(
    sampler: &mut Sampler<'_>,
    metric: Metric,
    operations: f64,
    run: impl Fn(u64) -> u64,
) -> Result<(), MeasureError> {
    sampler.repeat(metric, operations, |turns| {
        black_box(run(turns));
        Ok(())
    })
}

fn point(Work(operation, number): Work, optimisation: Optimisation, compiler: Compiler) -> Point {
    Point::new()
        .at(OPERATION, operation)
        .at(TYPE, number)
        .at(OPTIMISATION, optimisation)
        .at(COMPILER, compiler)
}

/// True if vectors are measured next to the loops of `point`. They depend on neither the level nor the
/// compiler, so the best loops have them.
fn has_vectors(point: &Point) -> bool {
    point.level(OPTIMISATION) == Ok(Optimisation::FULL)
        && point.level(COMPILER) == Ok(Compiler::Rust)
}

fn at<'r>(
    results: &'r Results,
    metric: Metric,
    work: Work,
    optimisation: Optimisation,
    compiler: Compiler,
) -> Option<&'r Estimate> {
    let wanted = point(work, optimisation, compiler);
    let mut points = results.points.iter();
    points.find(|result| result.point == wanted)?.sound(metric)
}

/// The estimate of Rust's loop at optimisation 3.
fn best<'r>(results: &'r Results, metric: Metric, work: Work) -> Option<&'r Estimate> {
    at(results, metric, work, Optimisation::FULL, Compiler::Rust)
}

fn is_wanted(
    profile: Profile,
    Work(operation, number): Work,
    level: Optimisation,
    compiler: Compiler,
) -> bool {
    let is_extreme = level == Optimisation::NONE || level == Optimisation::FULL;
    let is_wide = number.bytes() == 8;
    match (profile, compiler) {
        (Profile::Thorough, _) => true,
        (Profile::Standard, Compiler::Rust) => is_extreme || is_wide,
        (Profile::Standard, Compiler::C) => is_extreme && is_wide,
        (Profile::Quick, Compiler::Rust) => match level {
            Optimisation::FULL => true,
            Optimisation::NONE => Operation::BASIC.contains(&operation),
            _ => is_wide && operation == Operation::Add,
        },
        (Profile::Quick, Compiler::C) => {
            is_extreme && is_wide && [Operation::Add, Operation::Divide].contains(&operation)
        }
    }
}

/// Pairs of a loop and the chain that counts cycles; the result is their median.
const PAIRS: usize = 9;
/// Long against the cost of the clock, short against a change of the frequency.
const LEG_NS: u64 = 50_000;
// Each turn of a loop has as many operations as one of the chain, vectors included.
const _: () = assert!(VECTORS_IN_A_TURN == OPERATIONS_IN_A_TURN);

/// The number of turns at which the search for a leg starts.
const FIRST_TURNS: u64 = 64;

/// Counts the core's cycles that an operation takes, which `run` does for a number of turns, unless this
/// processor has no chain that counts cycles.
fn count_cycles(sampler: &mut Sampler<'_>, metric: Metric, run: impl Fn(u64) -> u64) {
    // A chain of additions of two registers takes one cycle each on every processor since the 1990s.
    let Some(addition) = Loops::rust(Level::O3).operation("add_u64") else {
        return;
    };
    let chain = |turns| addition.latency(turns, 1, black_box(3));
    let (turns, chain_turns) = (leg(&run), leg(&chain));
    let mut ratios: Vec<f64> = (0..PAIRS)
        .map(|_| {
            let per_turn = time_ns(&run, turns) as f64 / turns as f64;
            let chain_per_turn = time_ns(&chain, chain_turns) as f64 / chain_turns as f64;
            // A turn of either has as many operations.
            per_turn / chain_per_turn
        })
        .collect();
    ratios.sort_unstable_by(f64::total_cmp);
    sampler.value(metric, ratios[PAIRS / 2]);
}

/// The number of turns that takes at least a leg.
fn leg(run: &impl Fn(u64) -> u64) -> u64 {
    let mut turns = FIRST_TURNS;
    while time_ns(run, turns) < LEG_NS {
        turns *= 2;
    }
    turns
}

fn time_ns(run: &impl Fn(u64) -> u64, turns: u64) -> u64 {
    let begin_ns = clock::now_ns();
    black_box(run(turns));
    clock::now_ns().saturating_sub(begin_ns)
}
