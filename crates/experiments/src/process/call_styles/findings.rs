//! Findings and figures of `process.call_styles`.

use super::{DEEPEST, OPTIMISED, ROWS, STEPS, STYLE, Style, UNOPTIMISED, in_rust, slope};
use crate::estimates::{found, grade};
use crate::figures::{curves, logarithmic};
use crate::listing::listed;
use crate::prelude::*;

pub(super) fn all(results: &Results) -> Vec<Finding> {
    let results = &in_rust(results);
    found([calls(results), deepest(results)])
}

pub(super) fn figures(results: &Results) -> Vec<Figure> {
    let figure = |results: &Results, key: &str, metric: Metric, title: &str| {
        let series = Style::ALL
            .iter()
            .map(|style| results.series(style.name(), metric, ROWS, &[STYLE.at(*style)]));
        let axes = (ROWS, logarithmic("time", Unit::Nanoseconds));
        curves(key, title, axes, series.collect())
    };
    let ways = [
        (OPTIMISED, "Ways to call, optimised"),
        (UNOPTIMISED, "Ways to call, without optimisation"),
    ];
    let (usual, listed) = (in_rust(results), listed(results));
    let mut figures: Vec<Figure> = (ways.iter())
        .map(|(metric, title)| figure(&usual, metric.name, *metric, title))
        .collect();
    if !listed.points.is_empty() {
        figures.extend(ways.map(|(metric, title)| {
            let title = format!("{title}, by the report's listing");
            figure(&listed, &format!("listed_{}", metric.name), metric, &title)
        }));
    }
    figures
}

/// The cost of a call over the same loop inline. A call that is faster than none is a loop that was compiled
/// in another way, and no cost of calls.
fn calls(results: &Results) -> Option<Finding> {
    let inline = slope(results, OPTIMISED, Style::Inline)?;
    let extra = |style| Some(slope(results, OPTIMISED, style)?.minus(inline));
    let (function, recursion) = (extra(Style::Function)?, extra(Style::Recursion)?);
    let said = sentence!(
        "A function call adds {function} to a loop of {steps} steps, a recursive call {recursion} \
         (optimisation 3).",
        steps = STEPS.to_string(),
    );
    let grade = grade(&function, 0.0).max(grade(&recursion, 0.0));
    let finding = Finding::new("calls", said).graded(grade);
    let costs = function.value > 0.0 && recursion.value > 0.0;
    costs.then(|| finding.weighing(0.3))
}

fn deepest(results: &Results) -> Option<Finding> {
    let by_rows = results.along(ROWS, DEEPEST, &[STYLE.at(Style::Recursion)]);
    let (_, deepest) = by_rows.last()?;
    let said = sentence!(
        "The stack of a process holds {deepest} nested calls of an unoptimised function."
    );
    Some(Finding::new("deepest", said).weighing(0.35))
}
