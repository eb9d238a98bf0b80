//! The compiler's part: the gain by its optimisation, and the difference between two compilers.

use crate::compute::arithmetic::operations::{Number, Operation, Work};
use crate::compute::arithmetic::{ARRAY, LATENCY, THROUGHPUT, at, best};
use crate::estimates::{grade, ratio};
use crate::optimisation::{Compiler, Optimisation};
use crate::prelude::*;
use kernels::levels::Level;

/// A smaller gain or loss counts as none.
const NEGLIGIBLE: f64 = 0.03;

/// The gain by optimisation.
pub(super) fn optimisation(
    results: &Results,
    metric: Metric<&'static str>,
    title: &str,
) -> Option<Finding> {
    let gains = Work::basic(Number::ALL).filter_map(|work| {
        let unoptimised = at(results, metric, work, Optimisation::NONE, Compiler::Rust)?;
        Some((work, ratio(unoptimised, best(results, metric, work)?)?))
    });
    let gains: Vec<(Work, Quantity)> = gains.collect();
    let by_gain =
        |(_, a): &&(Work, Quantity), (_, b): &&(Work, Quantity)| a.value.total_cmp(&b.value);
    let &(most, greatest) = gains.iter().max_by(by_gain)?;
    let is_gaining = |gain: &Quantity| gain.extent().low > 1.0 + NEGLIGIBLE;
    let without = gains.iter().filter(|(_, gain)| !is_gaining(gain));
    let without: Vec<String> = without.map(|(work, _)| work.title()).collect();
    let count = Count(gains.len() as u64);
    let gaining = Count(count.0 - without.len() as u64);
    let most = most.title();
    let said = if gaining == Count(0) {
        sentence!(
            "Optimisation 3 improves the {title} of none of {count} operations over optimisation 0; at \
             most {greatest}, for {most}."
        )
    } else if without.is_empty() {
        sentence!(
            "Optimisation 3 improves the {title} of all {count} operations over optimisation 0, most \
             for {most}, {greatest}."
        )
    } else {
        sentence!(
            "Optimisation 3 improves the {title} of {gaining} of {count} operations over optimisation \
             0, most for {most}, {greatest}; no gain for {without}.",
            without = without.join(", "),
        )
    };
    let finding = Finding::new(&format!("optimisation_{title}"), said).beside("gaining", gaining);
    Some(finding.graded(grade(&greatest, 1.0)).weighing(0.6))
}

/// The gain by the compiler's vectors.
pub(super) fn vectors(results: &Results) -> Option<Finding> {
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
    let consequence = if gain.extent().low > 1.0 {
        "from optimisation 2 on, Rust vectorises the loop"
    } else {
        "optimisation 2 gains nothing over 1"
    };
    let said = sentence!(
        "On arrays of 64-bit floats, additions run {gain} as fast at optimisation 2 as at 1: \
         {consequence}."
    );
    let finding = Finding::new("vectors", said);
    Some(finding.graded(grade(&gain, 1.0)).weighing(0.5))
}

/// The greatest difference between the two compilers.
pub(super) fn compilers(results: &Results) -> Option<Finding> {
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
        "At optimisation 3, the two compilers differ most in {work}, {title}: the C loop runs {times} as \
         fast as the Rust loop.",
        work = work.title(),
    );
    let finding = Finding::new("compilers", said);
    Some(finding.graded(grade(&times, 1.0)).weighing(0.35))
}
