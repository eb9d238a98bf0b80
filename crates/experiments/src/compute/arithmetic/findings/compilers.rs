//! What a compiler makes of an operation: what its optimisation gains, and where two of them differ.

use super::{at, best, name};
use crate::compute::arithmetic::points::{ADD, BASIC, FLOAT_64, TYPES};
use crate::compute::arithmetic::{ARRAY, LATENCY, THROUGHPUT};
use crate::estimates::{WithEstimate, differs_from, grade, ratio};
use crate::levels::{C, RUST};
use instrument::finding::Finding;
use instrument::quantity::Unit;
use instrument::results::Results;
use instrument::statistics::Estimated;

/// What is gained or lost by less is no gain or loss.
const NEGLIGIBLE: f64 = 0.03;

/// What optimisation gains.
pub(super) fn optimisation(results: &Results, metric: &str, title: &str) -> Option<Finding> {
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

/// What the compiler's vectors bring.
pub(super) fn vectors(results: &Results) -> Option<Finding> {
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

/// Where the two compilers differ most.
pub(super) fn compilers(results: &Results) -> Option<Finding> {
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
