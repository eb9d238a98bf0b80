//! The growth of the time with the number of rows.

use super::definition::{ROWS, STYLE, Style};
use crate::optimisation::{COMPILER, Compiler};
use crate::prelude::*;
use instrument::statistics::Confidence;
use instrument::statistics::linear::weighted_line;

/// The time of a row more.
pub(super) fn slope(
    results: &Results,
    metric: Metric<&'static str>,
    style: Style,
) -> Option<Quantity> {
    let line = line(
        &times(results, metric, style)?,
        |time| time,
        |time_ns| time_ns.powi(-2),
    )?;
    Some(line.in_unit(Unit::Nanoseconds))
}

/// The power of the number of rows to which the time grows: 1 where it is linear.
pub(super) fn power(
    results: &Results,
    metric: Metric<&'static str>,
    style: Style,
) -> Option<Quantity> {
    let logarithms = |(rows, time_ns): (f64, f64)| (rows.ln(), time_ns.ln());
    line(&times(results, metric, style)?, logarithms, |_| 1.0)
}

/// The number of rows and the time in ns of every process of Rust's loops. `None` if noise took a time
/// below zero: the errors are a share of the time, and the power is fitted to logarithms.
fn times(results: &Results, metric: Metric<&'static str>, style: Style) -> Option<Vec<(f64, f64)>> {
    let levels = [STYLE.at(style), COMPILER.at(Compiler::Rust)];
    let curve = results.along(ROWS, metric, &levels).into_iter();
    let times = curve.flat_map(|(Count(rows), estimate)| {
        let times = estimate.by_process.iter();
        times.map(move |time_ns| (rows as f64, *time_ns))
    });
    let times: Vec<_> = times.collect();
    let all_positive = times.iter().all(|(_, time_ns)| *time_ns > 0.0);
    all_positive.then_some(times)
}

/// The slope of a line through `times`, seen as `of` does and weighted by the time.
fn line(
    times: &[(f64, f64)],
    of: fn((f64, f64)) -> (f64, f64),
    weight: fn(f64) -> f64,
) -> Option<Quantity> {
    let (x, y): (Vec<f64>, Vec<f64>) = times.iter().copied().map(of).unzip();
    let weights: Vec<f64> = y.iter().copied().map(weight).collect();
    let line = weighted_line(&x, &y, &weights, Confidence::NINETY_FIVE)?;
    Some(Quantity::estimated(&line.slope, Unit::Count))
}
