//! Curves along a numeric axis.

use super::super::style::{Role, Style};
use super::super::text::{paragraph, unbroken};
use super::axis::axis;
use super::canvas::Canvas;
use super::marks;
use crate::chart::{Curves, Scale, Tick, in_one_unit, ticks};
use crate::lists::joined;
use crate::show::Tone;
use crate::show::words::DOUBTFUL;
use instrument::figure::{Figure, Series};
use instrument::quantity::Unit;
use std::collections::BTreeMap;

/// The marks of each series: for sound and for doubtful points.
const SHAPES: [(char, char); 4] = [('●', '○'), ('■', '□'), ('▲', '△'), ('◆', '◇')];

/// The curves of `figure` above their axis; `None` if no point can be drawn.
pub(super) fn draw(figure: &Figure, style: &Style) -> Option<String> {
    let chart = Curves::of(figure, figure.y.scale);
    chart.spots().next()?;
    let rows = (style.width / 6).clamp(8, 16);
    let (unit, y_ticks) = y_ticks(&chart.y, figure.y.unit, rows / 2);
    let lengths = y_ticks
        .iter()
        .filter_map(|tick| Some(tick.label.as_ref()?.chars().count()));
    let gutter = lengths.max().unwrap_or(0) + 1;
    let columns = style.width.saturating_sub(gutter + 2).max(20);
    let mut canvas = Canvas::new(columns, rows);
    for (index, curve) in chart.series.iter().enumerate() {
        let joined = curve.runs.iter().flat_map(|run| run.windows(2));
        let joined = joined.map(|pair| [pair[0].at, pair[1].at]);
        for [from, to] in joined.chain(curve.cliffs.iter().copied()) {
            canvas.line(from, to, Role::Series(index));
        }
    }
    // Doubtful points come last, so that no other series hides them.
    for doubtful in [false, true] {
        for (index, curve) in chart.series.iter().enumerate() {
            let (mark, role) = mark(index, figure.series.len(), doubtful, style);
            for spot in curve.spots().filter(|spot| spot.doubtful == doubtful) {
                canvas.mark(spot.at, mark, role);
            }
        }
    }
    for mark in &chart.marks {
        canvas.vertical(mark.at, style.choose('┊', ':'));
    }

    let mut text = heading(figure, &unit, gutter, style);
    let labels = labels_by_row(&canvas, &chart.y, y_ticks);
    for (row, drawn) in canvas.rows(style).enumerate() {
        let label = labels.get(&row).map_or("", String::as_str);
        let edge = match label {
            "" => style.choose("│", "|"),
            _ => style.choose("┤", "+"),
        };
        text += format!("{label:>gutter$} {edge}{drawn}").trim_end();
        text.push('\n');
    }
    let (corner, cross) = (style.choose("└", "+"), style.choose("┬", "+"));
    let column = |place| canvas.column(place);
    text += &axis(
        (&chart.x, figure.x.unit),
        (gutter + 1, columns),
        (corner, cross),
        column,
        style,
    );
    let unit = figure.x.unit.unwrap_or(Unit::Count);
    let marks = chart.marks.iter();
    let located: Vec<_> = marks
        .map(|mark| (canvas.column(mark.at), mark.mark))
        .collect();
    text += &marks::labels(&located, unit, gutter + 2, style);
    text += &legend(figure, style);
    Some(text)
}

/// The ticks of the y axis; if all have the same unit, the unit is returned separately.
fn y_ticks(y: &Scale, unit: Option<Unit>, most: usize) -> (String, Vec<Tick>) {
    let ticks = ticks(y, unit, most);
    in_one_unit(&ticks, unit).unwrap_or_else(|| (String::new(), ticks))
}

/// The mark of a series: a shape, or a letter if there are more series than shapes.
fn mark(index: usize, count: usize, doubtful: bool, style: &Style) -> (char, Role) {
    let letter = char::from(b'A' + (index % 26) as u8);
    let (sound_mark, doubtful_mark) = match SHAPES.get(index) {
        Some(shapes) if has_shapes(count, style) => *shapes,
        _ => (letter, letter.to_ascii_lowercase()),
    };
    match doubtful {
        false => (sound_mark, Role::Series(index)),
        true if style.colour => (doubtful_mark, Tone::Doubtful.into()),
        true => (doubtful_mark, Role::Series(index)),
    }
}

fn has_shapes(count: usize, style: &Style) -> bool {
    style.unicode && count <= SHAPES.len()
}

fn heading(figure: &Figure, unit: &str, gutter: usize, style: &Style) -> String {
    let axes = format!("{} against {}", figure.y.title, figure.x.title);
    let heading = if unit.is_empty() {
        axes
    } else {
        format!("{unit}  {axes}")
    };
    let before = gutter.saturating_sub(unit.chars().count());
    style.paint(Tone::Faint, &format!("{}{}", " ".repeat(before), heading)) + "\n"
}

fn labels_by_row(canvas: &Canvas, y: &Scale, ticks: Vec<Tick>) -> BTreeMap<usize, String> {
    let row = |tick: Tick| Some((canvas.row(y.position(tick.value)?), tick.label?));
    ticks.into_iter().filter_map(row).collect()
}

fn legend(figure: &Figure, style: &Style) -> String {
    let count = figure.series.len();
    let entry = |(index, series): (usize, &Series)| {
        let (mark, role) = mark(index, count, false, style);
        format!("{} {}", style.paint(role, &mark.to_string()), series.label)
    };
    let mut entries: Vec<String> = figure.series.iter().enumerate().map(entry).collect();
    if figure.points().any(|point| point.doubtful) {
        let how = if has_shapes(count, style) {
            "hollow"
        } else {
            "lower case"
        };
        entries.push(style.paint(Tone::Doubtful, &format!("{how}: {}", DOUBTFUL.text)));
    }
    let entries = joined("   ", entries.iter().map(|entry| unbroken(entry)));
    paragraph("  ", &entries, style)
}
