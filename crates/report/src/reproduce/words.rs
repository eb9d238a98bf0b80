//! The words and numbers of a reproduction, for the terminal and as Markdown.

use super::{JudgedFigure, Outcome, Reproduction, ShapeKind, Tally};
use crate::show;
use crate::show::words::{AS_REPORTED, CANNOT_BE_TOLD, DIFFERS};
use instrument::quantity::{Quantity, Unit, counted};
use std::fmt::Write as _;

/// The counts, a line for each.
pub(crate) fn counts(reproduction: &Reproduction) -> String {
    let line = |name: &str, tally: Tally| {
        format!(
            "{}: {} as reported, {} differ, {} cannot be told\n",
            counted(tally.all(), name),
            tally.as_reported,
            tally.differs,
            tally.cannot_be_told
        )
    };
    let mut text = line("figure", reproduction.figures());
    text += &line("shape", reproduction.shapes());
    if !reproduction.claims.is_empty() {
        let [holds, in_part, does_not, open] = reproduction.claims();
        let all = counted(reproduction.claims.len(), "claim");
        let _ = writeln!(
            text,
            "{all}: {holds} hold, {in_part} hold in part, {does_not} do not hold, {open} cannot be told"
        );
    }
    text
}

/// A command line whose words a shell takes as they are.
pub(crate) fn quoted(words: &[String]) -> String {
    let quote = |word: &String| {
        if word.contains([' ', ',']) {
            format!("'{word}'")
        } else {
            word.clone()
        }
    };
    words.iter().map(quote).collect::<Vec<_>>().join(" ")
}

/// The word for an outcome.
pub(crate) fn word(outcome: Outcome) -> &'static str {
    match outcome {
        Outcome::AsReported => AS_REPORTED.text,
        Outcome::Differs => DIFFERS.text,
        Outcome::CannotBeTold => CANNOT_BE_TOLD.text,
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

/// A value with its interval.
pub(crate) fn value(quantity: &Quantity) -> String {
    let said = said(quantity);
    match range(quantity) {
        Some(range) => format!("{said} [{range}]"),
        None => said,
    }
}

fn said(quantity: &Quantity) -> String {
    show::value(quantity.unit, quantity.value, quantity.interval)
}

/// The ends of its interval.
fn range(quantity: &Quantity) -> Option<String> {
    let interval = quantity.interval?;
    Some(show::range(quantity.unit, interval, quantity.value))
}

/// A wider interval than this is told by its ends.
const WIDE: f64 = 0.3;

/// A value with half the width of its interval in per cent, or with its ends if it is wide.
pub(crate) fn brief(quantity: &Quantity) -> String {
    let said = said(quantity);
    match (range(quantity), quantity.relative_half_width()) {
        (Some(range), Some(width)) if width > WIDE => format!("{said} ({range})"),
        (_, Some(width)) if width >= 0.0005 => format!("{said} ±{}", Unit::Share.show(width, 2)),
        _ => said,
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
