//! The figures of `threads.lock`.

use super::{BODY, Body, ENTRY, LENGTHS, LOCK, LockType, MIDDLE, PAIR, RUN, THREADS, at};
use crate::figures::{axis_of, bars, curves, logarithmic};
use crate::prelude::*;
use instrument::figure::{FigurePoint, Series};

pub(super) fn all(results: &Results) -> Vec<Figure> {
    vec![
        by_threads(results, "run_simple", Body::Simple),
        by_threads(results, "run_simple_yield", Body::SimpleYield),
        by_threads(results, "run_complex", Body::COMPLEX),
        by_length(results),
        by_lock(results),
    ]
}

/// The report's table, as curves.
fn by_threads(results: &Results, key: &str, body: Body) -> Figure {
    let series =
        |lock: LockType| results.series(lock.name(), RUN, THREADS, &[BODY.at(body), LOCK.at(lock)]);
    curves(
        key,
        &format!("A run of the body {body}, on one worker"),
        (axis_of(THREADS), logarithmic("run", RUN.unit)),
        [LockType::Lock, LockType::SpinLock].map(series).into(),
        Vec::new(),
    )
}

fn by_length(results: &Results) -> Figure {
    let point = |lock, steps: u64| -> Option<FigurePoint> {
        let levels = at(Body::complex(steps), lock, PAIR);
        let point = results.series("", ENTRY, BODY, &levels).points.pop()?;
        Some(FigurePoint {
            x: steps.into(),
            ..point
        })
    };
    let series = |lock: LockType| Series {
        label: lock.name().into(),
        points: LENGTHS
            .iter()
            .filter_map(|steps| point(lock, *steps))
            .collect(),
    };
    curves(
        "length",
        &format!("{PAIR} kernel threads by the length of the section"),
        (
            logarithmic("steps inside", Unit::Count),
            logarithmic("entry", ENTRY.unit),
        ),
        [LockType::PthreadMutex, LockType::PthreadSpin]
            .map(series)
            .into(),
        Vec::new(),
    )
}

/// All locks side by side.
fn by_lock(results: &Results) -> Figure {
    let series = |body: Body| {
        let levels = [BODY.at(body), THREADS.at(MIDDLE)];
        results.series(&body.to_string(), ENTRY, LOCK, &levels)
    };
    bars(
        "locks",
        &format!("{MIDDLE} threads, an entry in a long run"),
        (axis_of(LOCK), logarithmic("entry", ENTRY.unit)),
        [Body::Simple, Body::COMPLEX].map(series).into(),
    )
}
