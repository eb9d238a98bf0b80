//! `compute.arithmetic`: the cost of integer and floating-point operations.

pub(crate) mod claims;
mod cycles;
mod definition;
mod figures;
mod findings;
mod operations;
mod points;
mod published;

use crate::optimisation::{COMPILER, OPTIMISATION, loops};
use crate::prelude::*;
use definition::{
    ARRAY, DESIGN, LATENCY, LATENCY_CYCLES, OPERATION, THROUGHPUT, THROUGHPUT_CYCLES, TYPE,
    VECTOR_CYCLES, VECTORS,
};
use kernels::levels::{ELEMENTS_BYTES, OPERATIONS_IN_A_TURN};
use kernels::{VECTORS_IN_A_TURN, Vectors};
use operations::Work;
use std::hint::black_box;

/// The cost of integer and floating-point operations.
pub(crate) struct Arithmetic;

impl Experiment for Arithmetic {
    fn design(&self) -> &'static Design {
        &DESIGN
    }

    fn points(&self, setting: &Setting) -> Vec<Point> {
        points::all(setting)
    }

    fn shares_process(&self, _point: &Point) -> bool {
        true
    }

    fn measure(&self, point: &Point, sampler: &mut Sampler<'_>) -> Result<(), MeasureError> {
        let loops = loops(point.level(COMPILER)?, point.level(OPTIMISATION)?, sampler);
        let (operation, number) = (point.level(OPERATION)?, point.level(TYPE)?);
        let name = Work(operation, number).kernel();
        let run = loops.operation(&name).ok_or_else(|| {
            MeasureError::Unsupported(format!("this processor cannot {operation} {number}"))
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
        let elements = (ELEMENTS_BYTES / number.bytes()) as f64;
        sampler.repeat(ARRAY, elements, |turns| {
            black_box(run.array(turns, x, y));
            Ok(())
        })?;
        if let Some(cycles) = cycles::of(|turns| run.latency(turns, x, y)) {
            sampler.value(LATENCY_CYCLES, cycles);
        }
        if let Some(cycles) = cycles::of(|turns| run.throughput(turns, x, y)) {
            sampler.value(THROUGHPUT_CYCLES, cycles);
        }
        if points::has_vectors(point) {
            return measure_vectors(sampler, &name, number.bytes(), (x, y));
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
    if let Some(cycles) = cycles::of(run) {
        sampler.value(VECTOR_CYCLES, cycles);
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::operations::{Number, Operation};
    use super::points::point;
    use super::{Arithmetic, DESIGN, OPERATION, VECTOR_CYCLES, VECTORS, Work};
    use crate::made_up::measure;
    use crate::optimisation::{Compiler, Optimisation};
    use crate::prelude::*;
    use kernels::Vectors;
    use std::path::Path;

    #[test]
    fn every_metric_is_measured_here() {
        let has_vectors = Vectors::available("add_f64").count() > 0;
        for (work, level) in [
            (
                Work(Operation::Divide, Number::Integer64),
                Optimisation::NONE,
            ),
            (Work(Operation::Add, Number::Float64), Optimisation::FULL),
        ] {
            let point = point(work, level, Compiler::Rust);
            let (samples, _) = measure(&Arithmetic, &point, Path::new("/")).expect("it computes");
            for metric in DESIGN.metrics {
                let is_of_vectors = [VECTORS, VECTOR_CYCLES].contains(metric);
                assert_eq!(
                    samples.iter().any(|sample| sample.metric == metric.name),
                    !is_of_vectors || (has_vectors && level == Optimisation::FULL),
                    "{metric:?}"
                );
            }
        }
    }

    #[test]
    fn an_operation_of_another_version_is_refused() {
        #[derive(Choice, Clone, Copy, PartialEq)]
        enum Other {
            Modulo,
        }
        let work = Work(Operation::Add, Number::Integer64);
        let unknown = point(work, Optimisation::FULL, Compiler::Rust)
            .at(AxisOf::new(OPERATION.name(), "operation"), Other::Modulo);
        let error = measure(&Arithmetic, &unknown, Path::new("/")).expect_err("no such operation");
        assert!(error.to_string().contains("operation=modulo"), "{error}");
    }
}
