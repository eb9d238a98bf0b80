//! The line under a chart, with its ticks and their labels.

use super::super::style::Style;
use crate::chart::{Scale, ticks};
use crate::show::Tone;
use instrument::quantity::Unit;

/// Approximate width of a tick label plus the space to the next, in columns.
const COLUMNS_PER_TICK: usize = 12;

/// Two lines, `columns` wide and indented by `before` columns: the axis, which starts with `corner`
/// and has `cross` at its ticks, and the labels below. `column` maps a place to a column.
pub(super) fn axis(
    (scale, unit): (&Scale, Option<Unit>),
    (before, columns): (usize, usize),
    (corner, cross): (&str, &str),
    column: impl Fn(f64) -> usize,
    style: &Style,
) -> String {
    let mut line = vec![style.choose("─", "-"); columns];
    let mut labels = String::new();
    for tick in ticks(scale, unit, columns / COLUMNS_PER_TICK) {
        let column = scale.position(tick.value).map(&column);
        let (Some(column), Some(label)) = (column, tick.label) else {
            continue;
        };
        let length = label.chars().count();
        // Labels are centred below their ticks; the outermost would stick out.
        let start = column
            .saturating_sub(length / 2)
            .min(columns.saturating_sub(length));
        let end = labels.chars().count();
        if end == 0 || start > end {
            line[column] = cross;
            labels.extend([" ".repeat(start - end), label]);
        }
    }
    let indent = " ".repeat(before);
    let labels = style.paint(Tone::Faint, &labels);
    let under = " ".repeat(corner.chars().count());
    format!(
        "{indent}{corner}{}\n{indent}{under}{labels}\n",
        line.concat()
    )
}

/// The same below rows of blocks that begin after `before` columns.
pub(super) fn below_rows(
    scale: (&Scale, Option<Unit>),
    (before, room): (usize, usize),
    style: &Style,
) -> String {
    let ticks = ("", style.choose("┴", "+"));
    axis(scale, (before, room), ticks, |it| cell(it, room), style)
}

/// The column of a place from 0 to 1 among `room` columns.
pub(super) fn cell(place: f64, room: usize) -> usize {
    ((place * room as f64) as usize).min(room - 1)
}
