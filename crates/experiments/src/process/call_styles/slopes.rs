//! How the time grows with the number of rows.

use super::{ROWS, STYLE};
use crate::levels::COMPILER;
use instrument::results::Results;
use instrument::statistics::linear::weighted_line;
use instrument::statistics::{Confidence, Estimated};

/// How one style's time grows with the rows, at one level, by one compiler.
pub(super) struct Growth {
    /// ns for a row more.
    pub slope_ns: Estimated,
    /// The power of the number of rows to which the time grows: 1 where it is linear.
    pub power: Estimated,
}

/// The growth of `metric` in `style`: lines through what every process gave at every number of rows,
/// with errors that are a share of the time; of the logarithms of both for the power.
pub(super) fn growth(
    results: &Results,
    metric: &str,
    style: &str,
    compiler: &str,
) -> Option<Growth> {
    let levels = [(STYLE, style.into()), (COMPILER, compiler.into())];
    let curve = results.curve(metric, ROWS, &levels);
    let times: Vec<(f64, f64)> = curve
        .iter()
        .flat_map(|(rows, estimate)| {
            let rows = *rows as f64;
            estimate
                .by_process
                .iter()
                .map(move |time_ns| (rows, *time_ns))
        })
        .collect();
    let line = |of: fn((f64, f64)) -> (f64, f64), weight: fn(f64) -> f64| {
        let (x, y): (Vec<f64>, Vec<f64>) = times.iter().copied().map(of).unzip();
        let weights: Vec<f64> = y.iter().copied().map(weight).collect();
        weighted_line(&x, &y, &weights, Confidence::NINETY_FIVE)
    };
    Some(Growth {
        slope_ns: line(|time| time, |time_ns| time_ns.powi(-2))?.slope,
        power: line(|(rows, time_ns)| (rows.ln(), time_ns.ln()), |_| 1.0)?.slope,
    })
}
