//! The levels of a figure.

use crate::lists::distinct;
use instrument::figure::{Figure, FigureAxis};
use instrument::point::Level;
use instrument::quantity::{Bytes, Unit};

/// The distinct levels of a figure: numbers in ascending order, names in order of first appearance.
/// The figure's table rows and hover positions use the same order.
pub(crate) fn levels(figure: &Figure) -> Vec<&Level> {
    let mut levels = distinct(figure.points().map(|point| &point.x));
    if levels.iter().all(|level| level.number().is_some()) {
        levels.sort_unstable();
    }
    levels
}

/// A level of a figure's x axis as text: sizes and counts exactly, since they were set, and what was
/// measured rounded.
pub(crate) fn show_level(axis: &FigureAxis, level: &Level) -> String {
    match (axis.unit, level) {
        (Some(Unit::Bytes), Level::Number(bytes)) => Bytes(*bytes).to_string(),
        (Some(Unit::Count) | None, _) | (_, Level::Choice(_)) => level.to_string(),
        (Some(unit), Level::Number(number)) => unit.show(*number as f64, 3),
    }
}

#[cfg(test)]
mod tests {
    use super::show_level;
    use instrument::figure::{FigureAxis, FigureScale};
    use instrument::point::Level;
    use instrument::quantity::Unit;

    #[test]
    fn a_measured_place_is_rounded_and_a_setting_is_exact() {
        for (unit, number, shown) in [
            (Some(Unit::BytesPerSecond), 12_884_901_877, "12.0 GiB/s"),
            (Some(Unit::Bytes), 1_234_567, "1234567 B"),
            (Some(Unit::Count), 1_234_567, "1234567"),
            (None, 1_234_567, "1234567"),
        ] {
            let axis = FigureAxis::new("x", unit, FigureScale::Linear);
            assert_eq!(show_level(&axis, &Level::Number(number)), shown);
        }
    }
}
