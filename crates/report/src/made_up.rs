//! Made-up values for tests.

use crate::advice::{Guide, Guides, Tried};
use crate::terminal::Style;
use crate::{Analysis, ExperimentAnalysis, Surroundings};
use advice::{Advice, Setting, Value};
use instrument::advice::Action;
use instrument::experiment::{Definition, Metric};
use instrument::figure::{Figure, FigureAxis, FigureKind, FigurePoint, FigureScale, Series};
use instrument::point::{Level, Point};
use instrument::quantity::{Quantity, Unit};
use instrument::results::{Estimate, PointResult};
use instrument::run_clock::{ClockLevel, CoreClock, RunClock};
use instrument::statistics::Interval;
use record::Run;

/// A sound estimate of a time, with an interval of one per cent.
pub(crate) fn estimate(ns: f64) -> Estimate {
    let time = Quantity::new(ns, Interval::new(ns * 0.99, ns * 1.01), Unit::Nanoseconds);
    Estimate {
        metric: "time".into(),
        by_process: vec![ns; 5],
        processes: 5,
        passes: 5,
        samples: 50,
        ..time.into()
    }
}

/// An experiment that measures a time alone.
pub(crate) fn definition(id: &str) -> Definition {
    Definition {
        id: id.into(),
        metrics: vec![Metric::from(&Metric::time("time", "time"))],
        ..Definition::default()
    }
}

/// The result of a point without warnings.
pub(crate) fn result(point: Point, estimates: Vec<Estimate>) -> PointResult {
    PointResult {
        point,
        estimates,
        warnings: Vec::new(),
        remarks: Vec::new(),
    }
}

/// An analysis of `run` that found only what these experiments have.
pub(crate) fn analysis<'a>(run: &'a Run, experiments: Vec<ExperimentAnalysis<'a>>) -> Analysis<'a> {
    Analysis {
        run,
        experiments,
        claims: Vec::new(),
        advice: Advice::default(),
        guides: Guides::new(),
        surroundings: Surroundings::default(),
        samples: 0,
        machines: Vec::new(),
    }
}

/// A setting whose usual value is 1.
pub(crate) fn setting(value: Value) -> Setting {
    Setting {
        title: "what it sets".into(),
        value,
        unit: None,
        usual: Value::Number(1),
        gain: None,
        because: "It follows.".into(),
        experiments: Vec::new(),
    }
}

/// A guide to a setting that was tried so far.
pub(crate) fn guide(tried: Tried) -> Guide {
    Guide {
        action: Action::Command("set it".into()),
        tried,
        trial: None,
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

/// A terminal of this width without colours.
pub(crate) const fn terminal(width: usize) -> Style {
    Style {
        width,
        colour: false,
        unicode: true,
    }
}

/// A matrix of times with `size` rows and columns.
pub(crate) fn matrix(size: usize, cell: impl Fn(usize, usize) -> Option<Estimate>) -> Figure {
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
        x: FigureAxis::new("processor", None, FigureScale::Linear),
        y: FigureAxis::new("time", Some(Unit::Nanoseconds), FigureScale::Logarithmic),
        series: (0..size).map(column).collect(),
        marks: Vec::new(),
    }
}
