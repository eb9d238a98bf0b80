//! The line under a chart, with its ticks and their labels.

use super::super::style::{Role, Style};
use super::scale::Scale;

/// Approximate width of a tick label plus the space to the next, in columns.
const COLUMNS_PER_TICK: usize = 12;

/// Two lines, `columns` wide and indented by `before` columns: the axis, which starts with `corner`
/// and has `cross` at its ticks, and the labels below. `column` maps a position from 0 to 1 to a
/// column.
pub(super) fn axis(
    scale: &Scale,
    (before, columns): (usize, usize),
    (corner, cross): (&str, &str),
    column: impl Fn(f64) -> usize,
    style: &Style,
) -> String {
    let mut line = vec![style.choose("─", "-"); columns];
    let mut labels = String::new();
    for tick in scale.ticks(columns / COLUMNS_PER_TICK) {
        let Some(column) = scale.place(tick.value).map(&column) else {
            continue;
        };
        let length = tick.label.chars().count();
        // Labels are centred below their ticks; the outermost would stick out.
        let start = column
            .saturating_sub(length / 2)
            .min(columns.saturating_sub(length));
        let end = labels.chars().count();
        if end == 0 || start > end {
            line[column] = cross;
            labels.extend([" ".repeat(start - end), tick.label]);
        }
    }
    let indent = " ".repeat(before);
    let labels = style.paint(Role::Faint, &labels);
    let under = " ".repeat(corner.chars().count());
    format!(
        "{indent}{corner}{}\n{indent}{under}{labels}\n",
        line.concat()
    )
}
