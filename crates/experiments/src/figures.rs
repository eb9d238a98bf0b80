//! The parts of which the figures of several experiments are made.

use instrument::figure::{Figure, FigureAxis, FigureKind, FigureScale, Mark, Series};
use instrument::quantity::Unit;

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
    key: &str,
    title: &str,
    (x, y): (FigureAxis, FigureAxis),
    series: Vec<Series>,
    marks: Vec<Mark>,
) -> Figure {
    Figure {
        key: key.into(),
        title: title.into(),
        kind: FigureKind::Curve,
        x,
        y,
        series,
        marks,
    }
}

/// Named things side by side.
pub(crate) fn bars(
    key: &str,
    title: &str,
    (x, y): (FigureAxis, FigureAxis),
    series: Vec<Series>,
) -> Figure {
    Figure {
        key: key.into(),
        title: title.into(),
        kind: FigureKind::Bars,
        x,
        y,
        series,
        marks: Vec::new(),
    }
}
