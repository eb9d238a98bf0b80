//! Findings and figures of `process.call_styles`.

use super::{DEEPEST, OPTIMISED, ROWS, STEPS, STYLE, Style, TIMES, Time, UNOPTIMISED, slope};
use crate::estimates::{by_ratio, grade};
use crate::figures::{axis_of, curves, logarithmic};
use crate::optimisation::{COMPILER, Compiler};
use crate::prelude::*;

pub(super) fn all(results: &Results) -> Vec<Finding> {
    let [unoptimised, optimised] = TIMES;
    let found = [
        rows(results, optimised),
        rows(results, unoptimised),
        calls(results, optimised),
        calls(results, unoptimised),
        child(results),
        program(results),
        deepest(results),
    ];
    found.into_iter().flatten().collect()
}

pub(super) fn figures(results: &Results) -> Vec<Figure> {
    let figure = |metric, title: &str| {
        let series = Style::ALL.iter().map(|style| {
            let levels = [STYLE.at(*style), COMPILER.at(Compiler::Rust)];
            results.series(style.name(), metric, ROWS, &levels)
        });
        let axes = (axis_of(ROWS), logarithmic("time", Unit::Nanoseconds));
        curves(metric, title, axes, series.collect(), Vec::new())
    };
    vec![
        figure(OPTIMISED, "Ways to call, optimised"),
        figure(UNOPTIMISED, "Ways to call, without optimisation"),
    ]
}

fn rows(results: &Results, (metric, optimisation): Time) -> Option<Finding> {
    let slope = |style| slope(results, metric, style);
    let said = sentence!(
        "At optimisation {level}, a row of {steps} steps takes {inline} inline, {function} in a \
         function and {recursion} by recursion.",
        level = optimisation.digit().to_string(),
        steps = STEPS.to_string(),
        inline = slope(Style::Inline)?,
        function = slope(Style::Function)?,
        recursion = slope(Style::Recursion)?,
    );
    let finding = Finding::new(&format!("rows_{}", metric.name), said);
    Some(finding.weighing(0.5))
}

/// The cost of a call over the same loop inline.
fn calls(results: &Results, (metric, optimisation): Time) -> Option<Finding> {
    let inline = slope(results, metric, Style::Inline)?;
    let extra = |style| Some(slope(results, metric, style)?.minus(inline));
    let (function, recursion) = (extra(Style::Function)?, extra(Style::Recursion)?);
    let level = optimisation.digit().to_string();
    // A call that is faster than none is a loop that was compiled in another way, and no cost of calls.
    let (said, sure) = match (function.value >= 0.0, recursion.value >= 0.0) {
        (true, true) => (
            sentence!(
                "At optimisation {level}, a function call adds {function} to the work of a row, and a \
                 recursive call {recursion}."
            ),
            grade(&function, 0.0).max(grade(&recursion, 0.0)),
        ),
        (true, false) => (
            sentence!(
                "At optimisation {level}, a function call adds {function} to the work of a row."
            ),
            grade(&function, 0.0),
        ),
        (false, true) => (
            sentence!(
                "At optimisation {level}, a recursive call adds {recursion} to the work of a row."
            ),
            grade(&recursion, 0.0),
        ),
        (false, false) => return None,
    };
    let finding = Finding::new(&format!("calls_{}", metric.name), said);
    Some(finding.graded(sure).weighing(0.55))
}

fn child(results: &Results) -> Option<Finding> {
    let fork = slope(results, OPTIMISED, Style::Fork)?;
    let times = fork.over(slope(results, OPTIMISED, Style::Function)?)?;
    let said = sentence!(
        "A row in a child process takes {fork}, {times} the time of a row in a function: only long \
         work is worth a process."
    );
    Some(by_ratio("child", said, &times).weighing(0.55))
}

fn program(results: &Results) -> Option<Finding> {
    let program = slope(results, OPTIMISED, Style::Program)?;
    let times = program.over(slope(results, OPTIMISED, Style::Function)?)?;
    let said = sentence!(
        "Starting a program that does nothing takes {program}, {times} the time of a row in a function."
    );
    Some(by_ratio("program", said, &times).weighing(0.5))
}

fn deepest(results: &Results) -> Option<Finding> {
    let levels = [STYLE.at(Style::Recursion), COMPILER.at(Compiler::Rust)];
    let by_rows = results.along(ROWS, DEEPEST, &levels);
    let (_, deepest) = by_rows.last()?;
    let said =
        sentence!("The stack of a process here holds {deepest} calls of an unoptimised recursion.");
    Some(Finding::new("deepest", said).weighing(0.45))
}

#[cfg(test)]
mod tests {
    use super::super::CallStyles;
    use super::super::claims::tests::{points, reported};
    use crate::made_up::{findings, value};

    #[test]
    fn a_row_costs_the_slope_of_its_line() {
        let found = findings(&CallStyles, points(reported, 1.0));
        assert!((value(&found, "rows_unoptimised", "inline") - 50.0).abs() < 0.2);
        assert!((value(&found, "calls_unoptimised", "recursion") - 10.0).abs() < 0.5);
        // Optimised, the function is faster than the loop inline, so its cost is not stated.
        let optimised = found.iter().find(|found| found.key == "calls_optimised");
        assert!(optimised.is_none_or(|found| found.number("function").is_none()));
        assert!((value(&found, "child", "times") / 1e4 - 1.0).abs() < 0.01);
        assert!((value(&found, "program", "program") / 4e5 - 1.0).abs() < 0.01);
    }

    #[test]
    fn too_little_gives_no_finding() {
        assert_eq!(findings(&CallStyles, Vec::new()), []);
    }
}
