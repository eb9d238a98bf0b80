//! Labels below an axis for marked positions.

use super::super::style::Style;
use crate::show::{self, Tone};
use instrument::figure::{Mark, MarkOrigin};
use instrument::quantity::{Quantity, Unit};

/// Lines with a label at the column of each mark: as few lines as possible without overlap.
/// `indent` is the first column of the axis.
pub(super) fn labels(marks: &[(usize, &Mark)], unit: Unit, indent: usize, style: &Style) -> String {
    // Each with its first free column.
    let mut lines: Vec<(String, usize)> = Vec::new();
    let mut marks = marks.to_vec();
    marks.sort_by_key(|(column, _)| *column);
    for (column, mark) in marks {
        let label = Label::new(indent + column, mark, unit, style);
        let free = lines.iter().position(|(_, end)| *end < label.start);
        let index = free.unwrap_or_else(|| {
            lines.push((String::new(), 0));
            lines.len() - 1
        });
        let (line, end) = &mut lines[index];
        *line += &" ".repeat(label.start - *end);
        *line += &style.paint(label.tone, &label.text);
        *end = label.start + label.text.chars().count();
    }
    lines.into_iter().map(|(line, _)| line + "\n").collect()
}

struct Label {
    start: usize,
    text: String,
    tone: Tone,
}

impl Label {
    /// A label to the right of its column, else to the left; shortened if neither side has enough
    /// room.
    fn new(column: usize, mark: &Mark, unit: Unit, style: &Style) -> Self {
        let (arrow, tone) = match mark.origin {
            MarkOrigin::Found => (style.choose("▲", "^"), Tone::Good),
            MarkOrigin::Documented => (style.choose("△", "'"), Tone::Faint),
        };
        let place = Quantity::new(mark.at, mark.interval, unit);
        let [short, full] = [show::parts(&place).0, show::quantity(&place)]
            .map(|place| style.text(&format!("{}: {place}", mark.label)));
        let right = style.width.saturating_sub(column + 2);
        let left = column.saturating_sub(1);
        let length = |text: &str| text.chars().count();
        let fitting = [full, short.clone()].into_iter().find_map(|text| {
            let is_right = length(&text) <= right;
            (is_right || length(&text) <= left).then_some((text, is_right))
        });
        let (text, is_right) = fitting.unwrap_or_else(|| {
            let cut = short.chars().take(right.max(left)).collect();
            (cut, right >= left)
        });
        let (start, text) = if is_right {
            (column, format!("{arrow} {text}"))
        } else {
            (column - 1 - length(&text), format!("{text} {arrow}"))
        };
        Self { start, text, tone }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::made_up;

    #[test]
    fn a_label_that_fits_nowhere_is_cut() {
        let style = Style {
            unicode: false,
            ..made_up::terminal(40)
        };
        let place = Quantity::exact(32_768.0, Unit::Bytes);
        let long = Mark::found(&"long ".repeat(20), place);
        for column in 0..40 {
            let text = labels(&[(column, &long)], Unit::Bytes, 0, &style);
            assert!(text.trim_end().chars().count() <= 40, "{text}");
            assert_eq!(text.chars().nth(column), Some('^'));
        }
    }
}
