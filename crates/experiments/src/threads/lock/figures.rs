//! How the locks are best seen.

use super::points::{LENGTHS, MIDDLE, PAIR};
use super::{
    BODY, COMPLEX_STEPS, ENTRY, LOCK, LOCK_ONE, PTHREAD_MUTEX, PTHREAD_SPIN, RUN, SIMPLE,
    SIMPLE_YIELD, SPIN_ONE, THREADS, complex,
};
use crate::figures::{logarithmic, names};
use instrument::figure::{Figure, FigureKind, FigurePoint, Series};
use instrument::quantity::Unit;
use instrument::results::Results;

pub(super) fn all(results: &Results) -> Vec<Figure> {
    let usual = complex(COMPLEX_STEPS);
    let by_threads = [
        by_threads(results, "run_simple", SIMPLE),
        by_threads(results, "run_simple_yield", SIMPLE_YIELD),
        by_threads(results, "run_complex", &usual),
    ];
    let others = [by_length(results), by_lock(results, &usual)];
    by_threads.into_iter().chain(others).collect()
}

/// The report's table, as curves.
fn by_threads(results: &Results, key: &str, body: &str) -> Figure {
    let series = |lock: &str| {
        let levels = [(BODY, body.into()), (LOCK, lock.into())];
        results.series(lock, RUN, THREADS, &levels)
    };
    Figure {
        key: key.into(),
        title: format!("A run of the body {body}, on one worker"),
        kind: FigureKind::Curve,
        x: logarithmic("threads", Unit::Count),
        y: logarithmic("run", Unit::Nanoseconds),
        series: [LOCK_ONE, SPIN_ONE].map(series).into(),
        marks: Vec::new(),
    }
}

fn by_length(results: &Results) -> Figure {
    let point = |lock: &str, steps: u64| -> Option<FigurePoint> {
        let body = complex(steps);
        let levels = [
            (BODY, body.as_str().into()),
            (LOCK, lock.into()),
            (THREADS, PAIR.into()),
        ];
        let point = results.series("", ENTRY, BODY, &levels).points.pop()?;
        Some(FigurePoint {
            x: steps.into(),
            ..point
        })
    };
    let series = |lock: &str| Series {
        label: lock.into(),
        points: LENGTHS
            .iter()
            .filter_map(|steps| point(lock, *steps))
            .collect(),
    };
    Figure {
        key: "length".into(),
        title: format!("{PAIR} kernel threads by the length of the section"),
        kind: FigureKind::Curve,
        x: logarithmic("steps inside", Unit::Count),
        y: logarithmic("entry", Unit::Nanoseconds),
        series: [PTHREAD_MUTEX, PTHREAD_SPIN].map(series).into(),
        marks: Vec::new(),
    }
}

/// All locks side by side.
fn by_lock(results: &Results, usual: &str) -> Figure {
    let series = |body: &str| {
        let levels = [(BODY, body.into()), (THREADS, MIDDLE.into())];
        results.series(body, ENTRY, LOCK, &levels)
    };
    Figure {
        key: "locks".into(),
        title: format!("{MIDDLE} threads, an entry in a long run"),
        kind: FigureKind::Bars,
        x: names("lock"),
        y: logarithmic("entry", Unit::Nanoseconds),
        series: [SIMPLE, usual].map(series).into(),
        marks: Vec::new(),
    }
}
