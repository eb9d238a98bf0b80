//! What the costs of operations mean.

mod compilers;
mod core;
mod published;

use super::points::point;
use super::{LATENCY_CYCLES, THROUGHPUT_CYCLES};
use crate::levels::RUST;
use compilers::{compilers, optimisation, vectors};
use core::{cycle, division, overlap, widest};
use instrument::finding::Finding;
use instrument::results::{Estimate, Results};
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

pub(super) fn at<'r>(
    results: &'r Results,
    metric: &str,
    (operation, number): (&str, &str),
    level: u64,
    compiler: &str,
) -> Option<&'r Estimate> {
    let wanted = point(operation, number, level, compiler);
    let found = results.points.iter().find(|result| result.point == wanted);
    found?
        .estimate(metric)
        .filter(|estimate| estimate.is_sound())
}

/// The estimate of Rust's loop at optimisation 3.
pub(super) fn best<'r>(
    results: &'r Results,
    metric: &str,
    what: (&str, &str),
) -> Option<&'r Estimate> {
    at(results, metric, what, 3, RUST)
}

fn name((operation, number): (&str, &str)) -> String {
    format!("{operation} ({number})")
}

#[cfg(test)]
mod tests {
    use super::super::points::{DIVIDE, FLOAT_64, INTEGER_64, all, has_vectors};
    use super::super::{
        ARRAY, Arithmetic, LATENCY, LATENCY_CYCLES, THROUGHPUT, THROUGHPUT_CYCLES, VECTOR_CYCLES,
        VECTORS,
    };
    use crate::compute::claims;
    use crate::made_up::{finding, machine, number, result, results, setting, value};
    use instrument::claim::{Evidence, Ruling};
    use instrument::experiment::Experiment;
    use instrument::finding::{Finding, Grade};
    use instrument::plan::Profile;
    use instrument::point::Point;
    use instrument::results::PointResult;
    use platform::machine::{Cpu, Machine};

    /// A machine with Zen 5.
    fn zen_5() -> Machine {
        let cpu = Cpu {
            vendor: Some("AuthenticAMD".into()),
            family: Some(26),
            model_number: Some(2),
            ..Cpu::default()
        };
        Machine { cpu, ..machine() }
    }

    /// Every point of the quick profile; an operation takes `cycles`.
    fn points(cycles: impl Fn(&str, &str, u64) -> f64) -> Vec<PointResult> {
        let each = |point: Point| {
            let choice = |axis| point.choice(axis).expect("all have one");
            let level = point.number("optimisation").expect("all have one");
            let cycles = cycles(choice("operation"), choice("type"), level);
            let vector = if level >= 2 { 4.0 } else { 1.0 };
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
            result(point.clone(), &metrics)
        };
        all(&setting(Profile::Quick))
            .into_iter()
            .map(each)
            .collect()
    }

    /// As Zen 5 does it.
    fn as_published(operation: &str, number: &str, level: u64) -> f64 {
        let is_integer = number.starts_with("integer");
        let cycles = match operation {
            "add" | "subtract" if is_integer => 1.0,
            "add" | "subtract" => 2.0,
            "multiply" => 3.0,
            "multiply and add" => 4.0,
            "square root" if number == FLOAT_64 => 20.2,
            "square root" => 14.2,
            _ if number == FLOAT_64 => 13.0,
            _ if is_integer => 14.0,
            _ => 10.0,
        };
        let is_gained = !(is_integer && operation == DIVIDE);
        if level == 0 && is_gained {
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
        assert!(
            published.template.starts_with("All {count}"),
            "{published:?}"
        );
        // Four integer types and operations less the divisions, and all of the floats.
        assert!((number(published, "count").value - 18.0).abs() < 1e-9);

        let optimisation = finding(&found, "optimisation_latency");
        assert!(
            (number(optimisation, "gaining").value - 14.0).abs() < 1e-9,
            "{optimisation:?}"
        );
        assert!(
            optimisation
                .template
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
        let folded = |operation: &str, number: &str, level| match (operation, number) {
            ("multiply", INTEGER_64) => 0.04,
            _ => as_published(operation, number, level),
        };
        let found = found(points(folded));
        let published = finding(&found, "published");
        assert!(
            published.template.contains("multiply (integer 64)"),
            "{published:?}"
        );
        assert_eq!(published.grade, Grade::Likely);
    }

    #[test]
    fn the_claims_are_judged() {
        let ruling = |key: &str, points: Vec<PointResult>| {
            let (definition, machine) = (Arithmetic.definition(), zen_5());
            let results = [results(&definition, &machine, points)];
            let claim = claims::ALL.iter().find(|claim| claim.key == key);
            claim.expect(key).judge(&Evidence::new(&results)).ruling
        };
        let (integers, optimisation) = (
            "integers_are_faster_than_floats",
            "all_but_integer_division_gain_from_optimisation",
        );
        assert_eq!(ruling(integers, points(as_published)), Ruling::DoesNotHold);
        assert_eq!(ruling(optimisation, points(as_published)), Ruling::Holds);

        let slow_floats = |_: &str, number: &str, _| if number == FLOAT_64 { 4.0 } else { 1.0 };
        assert_eq!(ruling(integers, points(slow_floats)), Ruling::Holds);
        assert_eq!(
            ruling(optimisation, points(slow_floats)),
            Ruling::DoesNotHold
        );
        assert_eq!(ruling(integers, Vec::new()), Ruling::CannotBeTold);
    }

    #[test]
    fn too_little_gives_no_finding() {
        assert_eq!(found(Vec::new()), []);
        let few = points(as_published).into_iter().take(1).collect();
        assert!(found(few).iter().all(|finding| finding.key == "published"));
    }
}
