//! Figures of `compute.arithmetic`.

use super::operations::Number;
use super::{ARRAY, LATENCY_CYCLES, OPERATION, THROUGHPUT, TYPE, VECTORS};
use crate::figures::{axis_of, bars, linear, logarithmic};
use crate::optimisation::{COMPILER, Compiler, OPTIMISATION, Optimisation};
use crate::prelude::*;
use instrument::figure::FigureAxis;

pub(super) fn all(results: &Results) -> Vec<Figure> {
    let figure = |key: &str, title: &str, metric: Metric<&'static str>, level, y: FigureAxis| {
        let series = Number::ALL.iter().map(|number| {
            let levels = [
                TYPE.at(*number),
                OPTIMISATION.at(level),
                COMPILER.at(Compiler::Rust),
            ];
            results.series(number.name(), metric, OPERATION, &levels)
        });
        bars(key, title, (axis_of(OPERATION), y), series.collect())
    };
    let cycles = || linear("cycles", Unit::Count);
    let per_second = || logarithmic("operations", Unit::OperationsPerSecond);
    let (none, full) = (Optimisation::NONE, Optimisation::FULL);
    vec![
        figure(
            "latency",
            "Latency in cycles",
            LATENCY_CYCLES,
            full,
            cycles(),
        ),
        figure(
            "unoptimised",
            "Latency in cycles without optimisation",
            LATENCY_CYCLES,
            none,
            cycles(),
        ),
        figure(
            "throughput",
            "Throughput of independent operations",
            THROUGHPUT,
            full,
            per_second(),
        ),
        figure(
            "array",
            "Operations on array elements",
            ARRAY,
            full,
            per_second(),
        ),
        figure(
            "vectors",
            "Operations in the widest vector registers",
            VECTORS,
            full,
            per_second(),
        ),
    ]
}
