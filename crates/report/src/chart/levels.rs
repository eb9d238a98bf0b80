//! The levels of a figure.

use instrument::figure::{Figure, FigureAxis};
use instrument::point::Level;
use instrument::quantity::{Bytes, Unit};

/// The distinct levels of a figure: numbers in ascending order, names in order of first appearance.
/// The figure's table rows and hover positions use the same order.
pub(crate) fn levels(figure: &Figure) -> Vec<&Level> {
    let all = figure
        .series
        .iter()
        .flat_map(|series| &series.points)
        .map(|point| &point.x);
    let mut levels: Vec<&Level> = Vec::new();
    for level in all {
        if !levels.contains(&level) {
            levels.push(level);
        }
    }
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
