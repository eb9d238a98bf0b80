//! Made-up figures and clocks for tests.

use instrument::figure::{Figure, FigureAxis, FigureKind, FigurePoint, FigureScale, Series};
use instrument::point::Level;
use instrument::quantity::Unit;
use instrument::results::{Estimate, Verdict};
use instrument::run_clock::{ClockLevel, CoreClock, RunClock};
use instrument::statistics::Interval;

/// A sound estimate of a time, with an interval of one per cent.
pub(crate) fn estimate(ns: f64) -> Estimate {
    Estimate {
        unit: Unit::Nanoseconds,
        metric: "time".into(),
        centre: ns,
        interval: Interval::new(ns * 0.99, ns * 1.01),
        raw: None,
        as_met: None,
        by_process: vec![ns; 5],
        pass_of: Vec::new(),
        processes: 5,
        passes: 5,
        samples: 50,
        impossible: 0,
        disturbed: Some(0.0),
        by_next_clock: 0.0,
        clock_slope: None,
        cpu_share: None,
        system_share: None,
        percentiles: None,
        verdict: Verdict::Sound,
    }
}

/// The clock of a core with these levels: over 4 GHz, and their shares of the time.
pub(crate) fn clock(levels: &[(f64, f64)]) -> RunClock {
    let level = |&(relative, share): &(f64, f64)| ClockLevel {
        hz: Some(4e9 * relative),
        relative,
        share,
    };
    let core = CoreClock {
        core_type: None,
        levels: levels.iter().map(level).collect(),
        shared: 0.0,
        unknown: 0.0,
    };
    RunClock { cores: vec![core] }
}

/// A matrix of times with `size` rows and columns.
pub(crate) fn matrix(size: usize, cell: impl Fn(usize, usize) -> Option<Estimate>) -> Figure {
    let axis = |title: &str, unit, scale| FigureAxis {
        title: title.into(),
        unit,
        scale,
    };
    let point = |row: usize, column: usize| {
        Some(FigurePoint {
            x: Level::Number(row as u64),
            estimate: cell(row, column)?,
            doubtful: false,
        })
    };
    let column = |column: usize| Series {
        label: column.to_string(),
        points: (0..size).filter_map(|row| point(row, column)).collect(),
    };
    Figure {
        key: "matrix".into(),
        title: "A matrix".into(),
        kind: FigureKind::Matrix,
        x: axis("processor", None, FigureScale::Linear),
        y: axis("time", Some(Unit::Nanoseconds), FigureScale::Logarithmic),
        series: (0..size).map(column).collect(),
        marks: Vec::new(),
    }
}
