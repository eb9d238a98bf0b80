//! `compute.arithmetic`: what integer and floating-point operations cost.

pub(crate) mod claims;
mod cycles;
mod figures;
mod findings;
mod points;
mod published;

use crate::levels;
use instrument::experiment::{Better, Definition, Experiment, Isolation, MeasureError, Metric};
use instrument::figure::Figure;
use instrument::finding::Finding;
use instrument::need::Need;
use instrument::plan::Setting;
use instrument::point::{Axis, Point};
use instrument::quantity::Unit;
use instrument::results::Results;
use instrument::sampler::Sampler;
use kernels::levels::{CHAINS, ELEMENTS_BYTES, OPERATIONS_IN_A_TURN};
use kernels::{VECTORS_IN_A_TURN, Vectors};
use std::hint::black_box;

/// What integer and floating-point operations cost.
pub(crate) struct Arithmetic;

const OPERATION: &str = "operation";
const TYPE: &str = "type";

const LATENCY: &str = "latency";
const THROUGHPUT: &str = "throughput";
const ARRAY: &str = "array";
const LATENCY_CYCLES: &str = "latency_cycles";
const THROUGHPUT_CYCLES: &str = "throughput_cycles";
const VECTORS: &str = "vectors";
const VECTOR_CYCLES: &str = "vector_cycles";

/// No core turns over at more than 10 GHz, and optimised or not, an operation takes a cycle.
const LEAST_LATENCY_NS: f64 = 0.1;
/// Ten operations a cycle at 10 GHz.
const MOST_PER_SECOND: f64 = 10.0 * 10e9;
/// Four registers of 16 elements a cycle at 10 GHz.
const MOST_OF_ELEMENTS_PER_SECOND: f64 = 64.0 * 10e9;

impl Experiment for Arithmetic {
    fn id(&self) -> &'static str {
        "compute.arithmetic"
    }

    fn definition(&self) -> Definition {
        let per_second = |name, title, bound| {
            Metric::new(name, title, Unit::OperationsPerSecond, Better::Higher).bounded(bound)
        };
        let cycles = |name, title| Metric::new(name, title, Unit::Count, Better::Lower);
        Definition {
            id: self.id().into(),
            title: "Arithmetic".into(),
            question: "What do integer and floating-point operations cost, and what does the \
                       compiler's optimisation gain?"
                .into(),
            method: format!(
                "Latency: a chain of operations, each of which needs the outcome of the one before, \
                 {OPERATIONS_IN_A_TURN} in a turn of the loop. Throughput: {CHAINS} such chains side by \
                 side, which do not wait for each other. Array: the operation on each element of two \
                 arrays of {ELEMENTS_BYTES} bytes, the first of which takes the outcome; its loads \
                 and stores are in it, and a compiler may use vectors for it. Vectors: the operation \
                 on all elements of the widest registers that this processor has, written in its \
                 own instructions, {VECTORS_IN_A_TURN} of them in a turn of the loop in chains that do not wait for each \
                 other; beside optimisation 3 in Rust, and not for divisions of integers, which no \
                 vector instruction does. The other loops are one source, compiled at optimisation 0 to 3 by rustc, and a second in C, for AVX2 and \
                 FMA where the processor has them. What an operation makes is hidden from the \
                 compiler in its register, without an instruction, so that no chain can be folded; \
                 the outcomes are used. Without optimisation a variable lives in memory, so that a \
                 store and a load are in each operation, and Rust calls a function for square root \
                 and multiply-add. Integers have no sign. A division is by the outcome of the last, \
                 so that quotients have about half the bits of their type; in Rust the test against \
                 zero is in it. After each {OPERATIONS_IN_A_TURN} square roots of a chain (in the \
                 throughput, after each 2) a multiplication keeps the numbers away from 1; its time \
                 is in theirs. Cycles are told by a chain of 64-bit additions, which take one each, \
                 timed in turn with the loop: they are those of the core's own clock, whatever its \
                 frequency, and the median of a few pairs."
            ),
            source: "Report E, section 6".into(),
            axes: vec![
                Axis::choice(OPERATION, "operation"),
                Axis::choice(TYPE, "type"),
                levels::optimisation_axis(),
                levels::compiler_axis(),
            ],
            metrics: vec![
                Metric::new(LATENCY, "latency", Unit::Nanoseconds, Better::Lower)
                    .bounded(LEAST_LATENCY_NS),
                per_second(THROUGHPUT, "throughput", MOST_PER_SECOND),
                per_second(ARRAY, "in arrays", MOST_OF_ELEMENTS_PER_SECOND),
                cycles(LATENCY_CYCLES, "cycles of latency"),
                cycles(THROUGHPUT_CYCLES, "cycles of independent ones"),
                per_second(VECTORS, "in vectors", MOST_OF_ELEMENTS_PER_SECOND),
                cycles(VECTOR_CYCLES, "cycles of a vector"),
            ],
            isolation: Isolation::FreshProcess,
        }
    }

    fn needs(&self, _setting: &Setting) -> Vec<Need> {
        Vec::new()
    }

    fn points(&self, setting: &Setting) -> Vec<Point> {
        points::all(setting)
    }

    fn measure(&self, point: &Point, sampler: &mut Sampler<'_>) -> Result<(), MeasureError> {
        let optimisation = point.number(levels::OPTIMISATION)?;
        let loops = levels::loops(point.choice(levels::COMPILER)?, optimisation, sampler)?;
        let (operation, number) = (
            point.choice(OPERATION)?,
            points::type_of(point.choice(TYPE)?)?,
        );
        let name = format!("{}_{}", points::kernel_of(operation)?, number.name);
        let run = loops.operation(&name).ok_or_else(|| {
            MeasureError::Unsupported(format!(
                "this processor cannot {operation} {}",
                number.title
            ))
        })?;
        let (x, y) = black_box(number.operands(operation));
        let in_a_turn = OPERATIONS_IN_A_TURN as f64;
        sampler.repeat(LATENCY, in_a_turn, |turns| {
            black_box(run.latency(turns, x, y));
            Ok(())
        })?;
        sampler.repeat(THROUGHPUT, in_a_turn, |turns| {
            black_box(run.throughput(turns, x, y));
            Ok(())
        })?;
        let elements = (ELEMENTS_BYTES / number.bytes) as f64;
        sampler.repeat(ARRAY, elements, |turns| {
            black_box(run.array(turns, x, y));
            Ok(())
        })?;
        if let Some(cycles) = cycles::of(|turns| run.latency(turns, x, y)) {
            sampler.value(LATENCY_CYCLES, cycles)?;
        }
        if let Some(cycles) = cycles::of(|turns| run.throughput(turns, x, y)) {
            sampler.value(THROUGHPUT_CYCLES, cycles)?;
        }
        if points::has_vectors(point) {
            return measure_vectors(sampler, &name, number.bytes, (x, y));
        }
        Ok(())
    }

    fn findings(&self, results: &Results) -> Vec<Finding> {
        findings::all(results)
    }

    fn figures(&self, results: &Results) -> Vec<Figure> {
        figures::all(results)
    }
}

/// Times the operation in the widest registers that have it, if any has.
fn measure_vectors(
    sampler: &mut Sampler<'_>,
    name: &str,
    element_bytes: usize,
    (x, y): (u64, u64),
) -> Result<(), MeasureError> {
    let Some(vectors) = Vectors::available(name).next() else {
        return Ok(());
    };
    let elements = vectors.register_bytes() / element_bytes as u64;
    let run = |turns| vectors.throughput(turns, x, y);
    sampler.repeat(VECTORS, (VECTORS_IN_A_TURN * elements) as f64, |turns| {
        black_box(run(turns));
        Ok(())
    })?;
    match cycles::of(run) {
        Some(cycles) => sampler.value(VECTOR_CYCLES, cycles),
        None => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::points::{ADD, DIVIDE, FLOAT_64, INTEGER_64, point};
    use super::{Arithmetic, VECTOR_CYCLES, VECTORS};
    use crate::levels::RUST;
    use crate::made_up::measure;
    use instrument::experiment::Experiment;
    use kernels::Vectors;
    use std::path::Path;

    #[test]
    fn every_metric_is_measured_here() {
        let has_vectors = Vectors::available("add_f64").count() > 0;
        for (operation, number, level) in [(DIVIDE, INTEGER_64, 0), (ADD, FLOAT_64, 3)] {
            let point = point(operation, number, level, RUST);
            let (samples, _) = measure(&Arithmetic, &point, Path::new("/")).expect("it computes");
            for metric in Arithmetic.definition().metrics {
                let is_of_vectors = [VECTORS, VECTOR_CYCLES].contains(&metric.name.as_str());
                assert_eq!(
                    samples.iter().any(|sample| sample.metric == metric.name),
                    !is_of_vectors || (has_vectors && level == 3),
                    "{metric:?}"
                );
            }
        }
        let unknown = point("modulo", INTEGER_64, 3, RUST);
        let error = measure(&Arithmetic, &unknown, Path::new("/")).expect_err("no such operation");
        assert_eq!(error.to_string(), "there is no operation 'modulo'");
    }
}
