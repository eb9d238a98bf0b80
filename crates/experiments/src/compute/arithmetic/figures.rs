//! What is drawn of the costs of operations.

use super::points::TYPES;
use super::{ARRAY, LATENCY_CYCLES, OPERATION, THROUGHPUT, TYPE, VECTORS};
use crate::figures::{bars, linear, logarithmic, names};
use crate::levels::{COMPILER, OPTIMISATION, RUST};
use instrument::figure::{Figure, FigureAxis};
use instrument::quantity::Unit;
use instrument::results::Results;

pub(super) fn all(results: &Results) -> Vec<Figure> {
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
