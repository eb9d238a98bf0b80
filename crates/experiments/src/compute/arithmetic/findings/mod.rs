//! Findings of `compute.arithmetic`.

mod compilers;
mod core;
mod published;

use super::{LATENCY_CYCLES, THROUGHPUT_CYCLES};
use crate::prelude::*;
use compilers::{compilers, optimisation, vectors};
use core::{cycle, division, overlap, widest};
use published::against_published;

pub(super) fn all(results: &Results) -> Vec<Finding> {
    let found = [
        against_published(results),
        optimisation(results, LATENCY_CYCLES, "latency"),
        optimisation(results, THROUGHPUT_CYCLES, "throughput"),
        overlap(results),
        division(results),
        vectors(results),
        widest(results),
        compilers(results),
        cycle(results),
    ];
    found.into_iter().flatten().collect()
}

#[cfg(test)]
pub(super) mod tests {
    use super::super::Arithmetic;
    use super::super::operations::{Number, Operation, Work};
    use crate::compute::arithmetic::{
        ARRAY, LATENCY, LATENCY_CYCLES, OPERATION, THROUGHPUT, THROUGHPUT_CYCLES, TYPE,
        VECTOR_CYCLES, VECTORS,
    };
    use crate::compute::arithmetic::{all_points, has_vectors};
    use crate::made_up::{finding, machine, measured, number, results, setting, value};
    use crate::optimisation::{OPTIMISATION, Optimisation};
    use crate::prelude::*;
    use instrument::results::PointResult;
    use platform::machine::{Cpu, Machine};

    /// A machine with Zen 5.
    pub(in super::super) fn zen_5() -> Machine {
        let cpu = Cpu {
            vendor: Some("AuthenticAMD".into()),
            family: Some(26),
            model_number: Some(2),
            ..Cpu::default()
        };
        Machine { cpu, ..machine() }
    }

    /// Every point of the quick profile; an operation takes `cycles`.
    pub(in super::super) fn points(cycles: impl Fn(Work, Optimisation) -> f64) -> Vec<PointResult> {
        let each = |point: Point| {
            let operation = point.level(OPERATION).expect("all have one");
            let number = point.level(TYPE).expect("all have one");
            let level = point.level(OPTIMISATION).expect("all have one");
            let cycles = cycles(Work(operation, number), level);
            let vector = if level.digit() >= 2 { 4.0 } else { 1.0 };
            let mut metrics = vec![
                (LATENCY, cycles / 4.0),
                (THROUGHPUT, 8e9 / cycles),
                (ARRAY, vector * 1e9),
                (LATENCY_CYCLES, cycles),
                (THROUGHPUT_CYCLES, cycles / 2.0),
            ];
            if has_vectors(&point) {
                metrics.extend([
                    (VECTORS, 16.0 * 8e9 / cycles),
                    (VECTOR_CYCLES, cycles / 2.0),
                ]);
            }
            measured(point, &metrics)
        };
        let points = all_points(&setting(Profile::Quick)).into_iter();
        points.map(each).collect()
    }

    /// As Zen 5 does it.
    pub(in super::super) fn as_published(work: Work, level: Optimisation) -> f64 {
        let Work(operation, number) = work;
        let is_integer = [Number::Integer32, Number::Integer64].contains(&number);
        let cycles = match operation {
            Operation::Add | Operation::Subtract if is_integer => 1.0,
            Operation::Add | Operation::Subtract => 2.0,
            Operation::Multiply => 3.0,
            Operation::Fused => 4.0,
            Operation::Root if number == Number::Float64 => 20.2,
            Operation::Root => 14.2,
            Operation::Divide if number == Number::Float64 => 13.0,
            Operation::Divide if is_integer => 14.0,
            Operation::Divide => 10.0,
        };
        let is_gained = !(is_integer && operation == Operation::Divide);
        if level == Optimisation::NONE && is_gained {
            cycles + 4.0
        } else {
            cycles
        }
    }

    fn found(points: Vec<PointResult>) -> Vec<Finding> {
        Arithmetic.findings(&results(&Arithmetic.definition(), &zen_5(), points))
    }

    #[test]
    fn what_operations_cost_is_told() {
        let found = found(points(as_published));
        let published = finding(&found, "published");
        let said = published.sentence.to_string();
        assert!(said.starts_with("All 18"), "{said}");
        // Four integer types and operations less the divisions, and all of the floats.
        assert!((number(published, "count").value - 18.0).abs() < 1e-9);

        let optimisation = finding(&found, "optimisation_latency");
        assert!(
            (number(optimisation, "gaining").value - 14.0).abs() < 1e-9,
            "{optimisation:?}"
        );
        assert!(
            optimisation
                .sentence
                .to_string()
                .contains("divide (integer 32), divide (integer 64)")
        );

        assert!((value(&found, "overlap", "most") - 2.0).abs() < 0.01);
        assert!((value(&found, "vectors", "gain") - 4.0).abs() < 0.01);
        assert_eq!(finding(&found, "vectors").grade, Grade::Certain);
        assert!((value(&found, "widest", "gain") - 16.0).abs() < 0.01);
        assert!((value(&found, "cycle", "cycle") - 0.25).abs() < 0.001);
    }

    #[test]
    fn a_latency_far_from_the_published_one_is_named() {
        let folded = |work, level| match work {
            Work(Operation::Multiply, Number::Integer64) => 0.04,
            _ => as_published(work, level),
        };
        let found = found(points(folded));
        let published = finding(&found, "published");
        assert!(
            published
                .sentence
                .to_string()
                .contains("multiply (integer 64)"),
            "{published:?}"
        );
        assert_eq!(published.grade, Grade::Likely);
    }

    #[test]
    fn nothing_is_gained_most_where_nothing_is_gained() {
        let same = |work, _| as_published(work, Optimisation::FULL);
        let found = found(points(same));
        let optimisation = finding(&found, "optimisation_latency");
        assert!(number(optimisation, "gaining").value.abs() < 1e-9);
        let said = optimisation.sentence.to_string();
        assert!(said.contains("none of 16"), "{said}");
    }

    #[test]
    fn too_little_gives_no_finding() {
        assert_eq!(found(Vec::new()), []);
        let few = points(as_published).into_iter().take(1).collect();
        assert!(found(few).iter().all(|finding| finding.key == "published"));
    }
}
