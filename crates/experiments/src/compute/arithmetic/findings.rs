//! What the costs of operations mean.

use super::points::{
    ADD, BASIC, DIVIDE, FLOAT_32, FLOAT_64, FUSED, INTEGER_64, MULTIPLY, TYPES, point,
};
use super::published;
use super::{
    ARRAY, LATENCY, LATENCY_CYCLES, OPERATION, THROUGHPUT, THROUGHPUT_CYCLES, TYPE, VECTOR_CYCLES,
    VECTORS,
};
use crate::estimates::{WithEstimate, differs_from, estimated, grade, ratio, ratio_within};
use crate::figures::{bars, linear, logarithmic, names};
use crate::levels::{C, COMPILER, OPTIMISATION, RUST};
use instrument::figure::{Figure, FigureAxis};
use instrument::finding::{Finding, Grade};
use instrument::quantity::Unit;
use instrument::results::{Estimate, Results};
use instrument::statistics::Estimated;

/// How far a latency may be from a published one: half of this is the rounding of the tables.
const PUBLISHED_TOLERANCE: f64 = 0.15;
/// What is gained or lost by less is no gain or loss.
const NEGLIGIBLE: f64 = 0.03;

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

pub(super) fn figures(results: &Results) -> Vec<Figure> {
    let figure = |key: &str, title: &str, metric: &str, level: u64, y: FigureAxis| {
        let series = TYPES.iter().map(|number| {
            let levels = [
                (TYPE, number.title.into()),
                (OPTIMISATION, level.into()),
                (COMPILER, RUST.into()),
            ];
            results.series(number.title, metric, OPERATION, &levels)
        });
        bars(key, title, (names("operation"), y), series.collect())
    };
    let cycles = || linear("cycles", Unit::Count);
    let per_second = || logarithmic("operations", Unit::OperationsPerSecond);
    vec![
        figure(
            "latency",
            "Cycles until the outcome is there",
            LATENCY_CYCLES,
            3,
            cycles(),
        ),
        figure(
            "unoptimised",
            "The same without optimisation",
            LATENCY_CYCLES,
            0,
            cycles(),
        ),
        figure(
            "throughput",
            "Independent operations",
            THROUGHPUT,
            3,
            per_second(),
        ),
        figure(
            "array",
            "Operations on the elements of arrays",
            ARRAY,
            3,
            per_second(),
        ),
        figure(
            "vectors",
            "Operations in the widest vector registers",
            VECTORS,
            3,
            per_second(),
        ),
    ]
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

/// The latencies beside those of the instruction tables.
fn against_published(results: &Results) -> Option<Finding> {
    let core = published::core(&results.machine.cpu)?;
    let mut count = 0;
    let mut apart = Vec::new();
    for result in &results.points {
        let (Ok(operation), Ok(number)) =
            (result.point.choice(OPERATION), result.point.choice(TYPE))
        else {
            continue;
        };
        let is_best = result.point == point(operation, number, 3, RUST);
        let published = core.latency_cycles(operation, number);
        let (true, Some([fewest, most]), Some(measured)) = (
            is_best,
            published,
            best(results, LATENCY_CYCLES, (operation, number)),
        ) else {
            continue;
        };
        count += 1;
        let allowed = fewest * (1.0 - PUBLISHED_TOLERANCE)..=most * (1.0 + PUBLISHED_TOLERANCE);
        if !allowed.contains(&measured.centre) {
            apart.push(name((operation, number)));
        }
    }
    let (key, name) = ("published", core.name);
    let finding = match (count, apart.is_empty()) {
        (0, _) => return None,
        (_, true) => Finding::new(
            key,
            &format!(
                "All {{count}} latencies are within {{tolerance}} of those published for {name}."
            ),
        ),
        (_, false) => Finding::new(
            key,
            &format!(
                "Of {{count}} latencies, {{apart}} are not within {{tolerance}} of those published \
                 for {name}: {}.",
                apart.join(", ")
            ),
        )
        .given("apart", apart.len() as f64, Unit::Count)
        .graded(Grade::Likely),
    };
    let finding = finding.given("count", f64::from(count), Unit::Count);
    Some(
        finding
            .given("tolerance", PUBLISHED_TOLERANCE, Unit::Share)
            .weighing(0.5),
    )
}

/// What optimisation gains.
fn optimisation(results: &Results, metric: &str, title: &str) -> Option<Finding> {
    let operations = TYPES
        .iter()
        .flat_map(|number| BASIC.map(|operation| (operation, number.title)));
    let gains: Vec<(_, Estimated)> = operations
        .filter_map(|what| {
            let unoptimised = at(results, metric, what, 0, RUST)?;
            Some((what, ratio(unoptimised, best(results, metric, what)?)?))
        })
        .collect();
    let gaining = |gain: &Estimated| gain.extent().low > 1.0 + NEGLIGIBLE;
    let (most, greatest) = gains
        .iter()
        .max_by(|(_, a), (_, b)| a.centre.total_cmp(&b.centre))?;
    let without: Vec<String> = gains
        .iter()
        .filter(|(_, gain)| !gaining(gain))
        .map(|(what, _)| name(*what))
        .collect();
    let rest = if without.is_empty() {
        "none gains nothing".to_owned()
    } else {
        format!("nothing is gained for {}", without.join(", "))
    };
    let template = format!(
        "Optimisation 3 over 0 gains in {title} for {{gaining}} of {{count}} operations, most for {}, \
         {{greatest}}; {rest}.",
        name(*most)
    );
    let finding = Finding::new(&format!("optimisation_{title}"), &template)
        .given("gaining", (gains.len() - without.len()) as f64, Unit::Count)
        .given("count", gains.len() as f64, Unit::Count)
        .with("greatest", greatest, Unit::Ratio);
    Some(finding.graded(grade(greatest, 1.0)).weighing(0.6))
}

/// How many operations are under way at once.
fn overlap(results: &Results) -> Option<Finding> {
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
    let ((least, fewest), (most, greatest)) = (overlaps.first()?, overlaps.last()?);
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

fn division(results: &Results) -> Option<Finding> {
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

/// What the compiler's vectors bring.
fn vectors(results: &Results) -> Option<Finding> {
    let array = |level| at(results, ARRAY, (ADD, FLOAT_64), level, RUST);
    let gain = ratio(array(2)?, array(1)?)?;
    let what = if gain.extent().low > 1.0 {
        "from optimisation 2 on, Rust adds several elements at a time"
    } else {
        "it gains nothing from optimisation 2 over 1"
    };
    let template = format!(
        "On arrays of 64-bit floats, additions run {{gain}} as fast at optimisation 2 as at 1: {what}."
    );
    let finding = Finding::new("vectors", &template).with("gain", &gain, Unit::Ratio);
    Some(finding.graded(grade(&gain, 1.0)).weighing(0.5))
}

/// What the widest registers bring.
fn widest(results: &Results) -> Option<Finding> {
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

/// Where the two compilers differ most.
fn compilers(results: &Results) -> Option<Finding> {
    let metrics = [
        (LATENCY, "one after the other"),
        (THROUGHPUT, "independent"),
        (ARRAY, "in arrays"),
    ];
    let differences = TYPES.iter().flat_map(|number| {
        let operations = BASIC.map(|operation| (operation, number.title));
        operations
            .into_iter()
            .flat_map(|what| metrics.map(|metric| (what, metric)))
    });
    let differences = differences.filter_map(|(what, (metric, title))| {
        let c = at(results, metric, what, 3, C)?;
        let rust = best(results, metric, what)?;
        // How many times as fast C is.
        let times = if metric == LATENCY {
            ratio(rust, c)?
        } else {
            ratio(c, rust)?
        };
        differs_from(&times, 1.0).then_some((what, title, times))
    });
    let size = |times: &Estimated| times.centre.ln().abs();
    let (what, title, times) =
        differences.max_by(|(.., a), (.., b)| size(a).total_cmp(&size(b)))?;
    let template = format!(
        "Between the compilers, at optimisation 3 the greatest difference is in {}, {title}: the C \
         loop runs {{times}} as fast as Rust's.",
        name(what)
    );
    let finding = Finding::new("compilers", &template).with("times", &times, Unit::Ratio);
    Some(finding.graded(grade(&times, 1.0)).weighing(0.35))
}

fn cycle(results: &Results) -> Option<Finding> {
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

#[cfg(test)]
mod tests {
    use super::super::points::{ADD, DIVIDE, FLOAT_64, INTEGER_64, all, has_vectors, point};
    use super::super::{
        ARRAY, Arithmetic, LATENCY, LATENCY_CYCLES, THROUGHPUT, THROUGHPUT_CYCLES, VECTOR_CYCLES,
        VECTORS,
    };
    use crate::compute::claims;
    use crate::levels::RUST;
    use crate::made_up::{finding, machine, measure, number, result, results, setting, value};
    use instrument::claim::{Evidence, Ruling};
    use instrument::experiment::Experiment;
    use instrument::finding::{Finding, Grade};
    use instrument::plan::Profile;
    use instrument::point::Point;
    use instrument::results::PointResult;
    use kernels::Vectors;
    use platform::machine::{Cpu, Machine};
    use std::path::Path;

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
