//! The parts of which the figures of several experiments are made.

use crate::prelude::{AxisOf, Metric, Results};
use instrument::figure::{Figure, FigureAxis, FigureKind, FigureScale, Series};
use instrument::point::{Axis, Level, LevelOf};
use instrument::quantity::Unit;

/// A line along `x` for each level that was measured on the axis `by`, through the points that have `levels` too.
pub(crate) fn lines<X, L: LevelOf>(
    results: &Results,
    metric: Metric,
    x: AxisOf<X>,
    by: AxisOf<L>,
    levels: &[(&str, Level)],
) -> Vec<Series> {
    let axis = Axis::from(&by.axis());
    let mut measured: Vec<&Level> = Vec::new();
    for level in results
        .points
        .iter()
        .filter_map(|it| it.point.get(by.name()))
    {
        if !measured.contains(&level) {
            measured.push(level);
        }
    }
    let line = |level: &Level| {
        let levels = [levels, &[(by.name(), level.clone())]].concat();
        results.series(&axis.show(level), metric, x, &levels)
    };
    let lines = measured.into_iter().map(line);
    lines.filter(|line| !line.points.is_empty()).collect()
}

/// A line along `x` for each of these metrics, under its label.
pub(crate) fn lines_of<X>(
    results: &Results,
    x: AxisOf<X>,
    metrics: impl IntoIterator<Item = (Metric, &'static str)>,
) -> Vec<Series> {
    let metrics = metrics.into_iter();
    let lines = metrics.map(|(metric, label)| results.series(label, metric, x, &[]));
    lines.filter(|line| !line.points.is_empty()).collect()
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
        scale: FigureScale::Linear,
        ..logarithmic(title, unit)
    }
}

/// An axis of names.
pub(crate) fn names(title: &str) -> FigureAxis {
    FigureAxis {
        unit: None,
        ..linear(title, Unit::Count)
    }
}

/// Curves along a numeric axis.
pub(crate) fn curves(
    key: impl AsRef<str>,
    title: &str,
    (x, y): (impl Into<FigureAxis>, impl Into<FigureAxis>),
    series: Vec<Series>,
) -> Figure {
    Figure {
        key: key.as_ref().into(),
        title: title.into(),
        kind: FigureKind::Curve,
        x: x.into(),
        y: y.into(),
        series,
        marks: Vec::new(),
    }
}

/// Named things side by side.
pub(crate) fn bars(
    key: impl AsRef<str>,
    title: &str,
    axes: (impl Into<FigureAxis>, impl Into<FigureAxis>),
    series: Vec<Series>,
) -> Figure {
    Figure {
        kind: FigureKind::Bars,
        ..curves(key, title, axes, series)
    }
}
