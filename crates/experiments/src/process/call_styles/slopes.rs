//! The growth of the time with the number of rows.

use super::definition::{ROWS, STYLE, Style};
use crate::lines::{line_through, power_through, values};
use crate::optimisation::{COMPILER, Compiler};
use crate::prelude::*;

/// The time of a row more.
pub(super) fn slope(
    results: &Results,
    metric: Metric<&'static str>,
    style: Style,
) -> Option<Quantity> {
    let line = line_through(&times(results, metric, style))?;
    Some(Quantity::estimated(&line.slope, Unit::Nanoseconds))
}

/// The power of the number of rows to which the time grows: 1 where it is linear.
pub(super) fn power(
    results: &Results,
    metric: Metric<&'static str>,
    style: Style,
) -> Option<Quantity> {
    let power = power_through(&times(results, metric, style))?;
    Some(Quantity::estimated(&power, Unit::Count))
}

/// The time by the number of rows of Rust's loops.
fn times(results: &Results, metric: Metric<&'static str>, style: Style) -> Vec<(Count, Quantity)> {
    let levels = [STYLE.at(style), COMPILER.at(Compiler::Rust)];
    values(&results.along(ROWS, metric, &levels))
}

/// The style that starts a process for each row: forks, or programs where a system has no fork.
pub(super) fn process_style(results: &Results) -> Style {
    let styles = results.points.iter().map(|it| it.point.level(STYLE));
    if styles.into_iter().any(|style| style == Ok(Style::Fork)) {
        Style::Fork
    } else {
        Style::Program
    }
}
