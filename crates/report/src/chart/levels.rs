//! The axes of a figure, and its levels.

use crate::lists::distinct;
use instrument::figure::{Figure, FigureAxis, FigureScale};
use instrument::point::Level;
use instrument::quantity::{Bytes, Unit};

/// An axis of a figure.
pub(crate) fn axis(title: &str, unit: Option<Unit>, scale: FigureScale) -> FigureAxis {
    FigureAxis {
        title: title.to_owned(),
        unit,
        scale,
    }
}

/// The distinct levels of a figure: numbers in ascending order, names in order of first appearance.
/// The figure's table rows and hover positions use the same order.
pub(crate) fn levels(figure: &Figure) -> Vec<&Level> {
    let points = figure.series.iter().flat_map(|series| &series.points);
    let mut levels = distinct(points.map(|point| &point.x));
    if levels.iter().all(|level| level.number().is_some()) {
        levels.sort_unstable();
    }
    levels
}

/// A level of a figure's x axis as text.
pub(crate) fn show_level(axis: &FigureAxis, level: &Level) -> String {
    match (axis.unit, level) {
        (Some(Unit::Bytes), Level::Number(bytes)) => Bytes(*bytes).to_string(),
        (_, level) => level.to_string(),
    }
}
