//! The words and numbers of a reproduction.

use super::{JudgedFigure, Outcome, ShapeKind};
use crate::show::words::{AS_REPORTED, DIFFERS, UNDECIDED};
use crate::show::{self, Word};
use instrument::quantity::{Quantity, Unit};

impl Outcome {
    /// The word for it.
    pub fn word(self) -> Word {
        match self {
            Self::AsReported => AS_REPORTED,
            Self::Differs => DIFFERS,
            Self::Undecided => UNDECIDED,
        }
    }
}

/// The word for a shape.
pub(crate) fn shape_word(kind: ShapeKind) -> &'static str {
    match kind {
        ShapeKind::Ratio => "ratio",
        ShapeKind::Order => "order",
        ShapeKind::Growth => "growth",
        ShapeKind::Crossover => "crossover",
        ShapeKind::Plateau => "plateau",
    }
}

/// A wider interval than this is shown by its ends.
const WIDE: f64 = 0.3;

/// A value with half the width of its interval in per cent, or with its ends if it is wide.
pub(crate) fn brief(quantity: &Quantity) -> String {
    let value = show::value(quantity.unit, quantity.value, quantity.interval);
    match quantity.relative_half_width() {
        Some(width) if width > WIDE => show::quantity(quantity),
        Some(width) if width >= 0.0005 => format!("{value} ±{}", Unit::Share.show(width, 2)),
        _ => value,
    }
}

/// A figure as it was printed.
pub(crate) fn printed(figure: &JudgedFigure) -> String {
    format!("{} {}", figure.figure.printed, figure.figure.unit.name())
        .trim_end()
        .to_owned()
}

/// The number of a shape: places and counts are no units.
pub(crate) fn number(quantity: Option<&Quantity>) -> String {
    match quantity {
        Some(quantity) if quantity.unit == Unit::Count && quantity.interval.is_none() => {
            show::round(Unit::Count, quantity.value)
        }
        Some(quantity) => brief(quantity),
        None => "-".to_owned(),
    }
}
