//! The parts of which the figures of several experiments are made.

use instrument::experiment::Metric;
use instrument::figure::{Figure, FigureAxis, FigureKind, FigureScale, Mark, Series};
use instrument::point::{Axis, AxisOf, LevelOf};
use instrument::quantity::Unit;

/// The axis of a figure along what an experiment varies: names, or numbers in equal ratios.
pub(crate) fn axis_of<L: LevelOf>(axis: AxisOf<L>) -> FigureAxis {
    let axis = Axis::from(&axis.axis());
    match axis.unit() {
        Some(unit) => logarithmic(&axis.title, unit),
        None => names(&axis.title),
    }
}

/// The axis of a figure along the values of a metric, in equal ratios.
pub(crate) fn scale_of(metric: Metric<&'static str>) -> FigureAxis {
    logarithmic(metric.title, metric.unit)
}

/// An axis on which equal steps are equal ratios.
pub(crate) fn logarithmic(title: &str, unit: Unit) -> FigureAxis {
    FigureAxis {
        title: title.into(),
        unit: Some(unit),
        scale: FigureScale::Logarithmic,
    }
}

/// An axis on which equal steps are equal differences.
pub(crate) fn linear(title: &str, unit: Unit) -> FigureAxis {
    FigureAxis {
        title: title.into(),
        unit: Some(unit),
        scale: FigureScale::Linear,
    }
}

/// An axis of names.
pub(crate) fn names(title: &str) -> FigureAxis {
    FigureAxis {
        title: title.into(),
        unit: None,
        scale: FigureScale::Linear,
    }
}

/// Curves along a numeric axis.
pub(crate) fn curves(
    key: impl AsRef<str>,
    title: &str,
    (x, y): (FigureAxis, FigureAxis),
    series: Vec<Series>,
    marks: Vec<Mark>,
) -> Figure {
    Figure {
        key: key.as_ref().into(),
        title: title.into(),
        kind: FigureKind::Curve,
        x,
        y,
        series,
        marks,
    }
}

/// A cell for each level of x, the rows, and each series, the columns; y are the colours.
pub(crate) fn matrix(
    key: impl AsRef<str>,
    title: &str,
    (x, y): (FigureAxis, FigureAxis),
    columns: Vec<Series>,
) -> Figure {
    Figure {
        kind: FigureKind::Matrix,
        ..bars(key, title, (x, y), columns)
    }
}

/// Named things side by side.
pub(crate) fn bars(
    key: impl AsRef<str>,
    title: &str,
    (x, y): (FigureAxis, FigureAxis),
    series: Vec<Series>,
) -> Figure {
    Figure {
        key: key.as_ref().into(),
        title: title.into(),
        kind: FigureKind::Bars,
        x,
        y,
        series,
        marks: Vec::new(),
    }
}
