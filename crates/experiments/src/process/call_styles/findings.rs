//! What the four styles cost.

use super::slopes::growth;
use super::{
    DEEPEST, FORK, FUNCTION, INLINE, OPTIMISED, RECURSION, ROWS, STEPS, STYLE, STYLES, UNOPTIMISED,
};
use crate::estimates::{WithEstimate, difference, estimated, grade, quotient};
use crate::figures::{curves, logarithmic};
use crate::levels::{COMPILER, RUST};
use instrument::figure::Figure;
use instrument::finding::Finding;
use instrument::quantity::Unit;
use instrument::results::Results;
use instrument::statistics::Estimated;

pub(super) fn all(results: &Results) -> Vec<Finding> {
    let found = [
        rows(results, OPTIMISED, 3),
        rows(results, UNOPTIMISED, 0),
        calls(results, OPTIMISED, 3),
        calls(results, UNOPTIMISED, 0),
        child(results),
        deepest(results),
    ];
    found.into_iter().flatten().collect()
}

pub(super) fn figures(results: &Results) -> Vec<Figure> {
    let figure = |metric: &str, title: &str| {
        let series = STYLES.map(|style| {
            let levels = [(STYLE, style.into()), (COMPILER, RUST.into())];
            results.series(style, metric, ROWS, &levels)
        });
        let axes = (
            logarithmic("rows", Unit::Count),
            logarithmic("time", Unit::Nanoseconds),
        );
        curves(metric, title, axes, series.into(), Vec::new())
    };
    vec![
        figure(OPTIMISED, "Four ways to call, optimised"),
        figure(UNOPTIMISED, "Four ways to call, without optimisation"),
    ]
}

/// ns for a row in `style`.
pub(super) fn slope(results: &Results, metric: &str, style: &str) -> Option<Estimated> {
    growth(results, metric, style, RUST).map(|growth| growth.slope_ns)
}

fn rows(results: &Results, metric: &str, level: u64) -> Option<Finding> {
    let slope = |style| slope(results, metric, style);
    let template = format!(
        "At optimisation {level}, a row of {STEPS} steps takes {{inline}} inline, {{function}} by a \
         function and {{recursion}} by recursion."
    );
    let finding = Finding::new(&format!("rows_{metric}"), &template)
        .with("inline", &slope(INLINE)?, Unit::Nanoseconds)
        .with("function", &slope(FUNCTION)?, Unit::Nanoseconds)
        .with("recursion", &slope(RECURSION)?, Unit::Nanoseconds);
    Some(finding.weighing(0.5))
}

/// What a call costs over the same loop inline.
fn calls(results: &Results, metric: &str, level: u64) -> Option<Finding> {
    let inline = slope(results, metric, INLINE)?;
    let extra = |style| Some(difference(&slope(results, metric, style)?, &inline));
    let (function, recursion) = (extra(FUNCTION)?, extra(RECURSION)?);
    let why_negative = if function.centre < 0.0 || recursion.centre < 0.0 {
        "; a negative cost is a loop that the compiler made better where it stands alone"
    } else {
        ""
    };
    let template = format!(
        "At optimisation {level}, a call of a function adds {{function}} to the work of a row, and a \
         call of a recursion {{recursion}}{why_negative}."
    );
    let finding = Finding::new(&format!("calls_{metric}"), &template)
        .with("function", &function, Unit::Nanoseconds)
        .with("recursion", &recursion, Unit::Nanoseconds);
    let sure = grade(&function, 0.0).max(grade(&recursion, 0.0));
    Some(finding.graded(sure).weighing(0.55))
}

fn child(results: &Results) -> Option<Finding> {
    let fork = slope(results, OPTIMISED, FORK)?;
    let times = quotient(&fork, &slope(results, OPTIMISED, FUNCTION)?)?;
    let template = "Handing a row to a child process costs {fork}, {times} the time of a function's \
                    call with its row: work must be long to be worth a process.";
    let finding = Finding::new("child", template)
        .with("fork", &fork, Unit::Nanoseconds)
        .with("times", &times, Unit::Ratio);
    Some(finding.graded(grade(&times, 1.0)).weighing(0.55))
}

fn deepest(results: &Results) -> Option<Finding> {
    let curve = results.curve(
        DEEPEST,
        ROWS,
        &[(STYLE, RECURSION.into()), (COMPILER, RUST.into())],
    );
    let (_, deepest) = curve.last()?;
    let template = "The stack that a process gets here ends an unoptimised recursion after {deepest} \
                    calls.";
    let finding = Finding::new("deepest", template);
    Some(
        finding
            .with("deepest", &estimated(deepest), Unit::Count)
            .weighing(0.45),
    )
}

#[cfg(test)]
mod tests {
    use super::super::points::all;
    use super::super::{
        CallStyles, FORK, FUNCTION, INLINE, OPTIMISED, RECURSION, ROWS, STYLE, UNOPTIMISED, claims,
    };
    use crate::made_up::{machine, result, results, setting, value};
    use instrument::claim::{Evidence, Ruling};
    use instrument::experiment::Experiment;
    use instrument::plan::Profile;
    use instrument::results::{PointResult, Results};
    use platform::machine::Machine;

    /// Every point of the quick profile; ns for a row by style and level.
    fn points(cost_ns: impl Fn(&str, u64) -> f64, power: f64) -> Vec<PointResult> {
        let points = all(&setting(Profile::Quick)).into_iter();
        let each = points.map(|point| {
            let style = point.choice(STYLE).expect("all have one").to_owned();
            let rows = point.number(ROWS).expect("all have one") as f64;
            let time = |level| cost_ns(&style, level) * rows.powf(power);
            result(point, &[(UNOPTIMISED, time(0)), (OPTIMISED, time(3))])
        });
        each.collect()
    }

    /// As the report found them.
    fn reported(style: &str, level: u64) -> f64 {
        match (style, level) {
            (INLINE, 0) => 50.0,
            (FUNCTION, 0) => 55.0,
            (RECURSION, 0) => 60.0,
            (INLINE, _) => 12.0,
            (FUNCTION, _) => 10.0,
            (RECURSION, _) => 15.0,
            (FORK, _) => 1e5,
            other => panic!("{other:?}"),
        }
    }

    fn on<T>(points: Vec<PointResult>, look: impl Fn(&Results) -> T) -> T {
        let machine: Machine = machine();
        look(&results(&CallStyles.definition(), &machine, points))
    }

    fn rulings(points: Vec<PointResult>) -> Vec<Ruling> {
        on(points, |results| {
            let results = [results.clone()];
            let evidence = Evidence::new(&results);
            claims::ALL
                .iter()
                .map(|claim| claim.judge(&evidence).ruling)
                .collect()
        })
    }

    #[test]
    fn a_row_costs_the_slope_of_its_line() {
        let found = on(points(reported, 1.0), |results| {
            CallStyles.findings(results)
        });
        assert!((value(&found, "rows_unoptimised", "inline") - 50.0).abs() < 0.2);
        assert!((value(&found, "calls_unoptimised", "recursion") - 10.0).abs() < 0.5);
        assert!((value(&found, "calls_optimised", "function") + 2.0).abs() < 0.2);
        assert!((value(&found, "child", "times") / 1e4 - 1.0).abs() < 0.01);
    }

    #[test]
    fn the_claims_of_the_report_hold_on_its_own_numbers() {
        assert_eq!(rulings(points(reported, 1.0)), [Ruling::Holds; 4]);
    }

    #[test]
    fn the_claims_do_not_hold_on_other_numbers() {
        let cheap_recursion = |style: &str, level| match (style, level) {
            (RECURSION, _) => 5.0,
            (FUNCTION, 0) => 45.0,
            (FUNCTION, _) => 13.0,
            (FORK, 0) => 2e5,
            _ => reported(style, level),
        };
        let linear = rulings(points(cheap_recursion, 1.0));
        assert_eq!(linear[1..], [Ruling::DoesNotHold; 3]);
        assert_eq!(rulings(points(reported, 1.5))[0], Ruling::DoesNotHold);
    }

    #[test]
    fn too_little_gives_no_finding() {
        assert_eq!(on(Vec::new(), |results| CallStyles.findings(results)), []);
    }
}
