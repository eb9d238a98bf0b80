//! Named items as horizontal bars.

use super::super::style::{Role, Style};
use super::axis::{axis, cell};
use crate::chart::{Domain, Scale, levels, show_level};
use crate::show;
use instrument::figure::{Figure, FigurePoint, FigureScale};
use instrument::quantity::Unit;
use instrument::results::Verdict;

/// Block characters in eighths.
const PARTS: [&str; 8] = ["", "▏", "▎", "▍", "▌", "▋", "▊", "▉"];

/// One bar.
struct Bar<'a> {
    label: String,
    point: &'a FigurePoint,
    role: Role,
}

/// The bars of `figure`, each with its value, and with whiskers for the interval; `None` if it has
/// no bars.
pub(super) fn draw(figure: &Figure, style: &Style) -> Option<String> {
    let unit = figure.y.unit.unwrap_or(Unit::Count);
    let bars = bars(figure);
    let sound = bars.iter().filter(|bar| bar.point.estimate.is_sound());
    let ends = sound.flat_map(|bar| {
        let estimate = &bar.point.estimate;
        let whiskers = estimate
            .interval
            .map(|interval| [interval.low, interval.high]);
        whiskers.into_iter().flatten().chain([estimate.centre])
    });
    let kind = figure.y.scale;
    let scale = Domain::of(ends, kind)?.between(kind, 0.0, 1.0);
    let values: Vec<String> = bars.iter().map(|bar| value(unit, bar, style)).collect();
    let longest = |texts: &mut dyn Iterator<Item = usize>| texts.max().unwrap_or(0);
    let names = longest(&mut bars.iter().map(|bar| bar.label.chars().count()));
    let numbers = longest(&mut values.iter().map(|value| value.chars().count()));
    let room = style.width.saturating_sub(names + numbers + 4).max(10);

    let mut text = String::new();
    for (bar, value) in bars.iter().zip(&values) {
        let drawn = match figure.y.scale {
            FigureScale::Linear => block(bar, &scale, room, style),
            FigureScale::Logarithmic => dot(bar, &scale, room, style),
        };
        let fill = " ".repeat(room.saturating_sub(drawn.chars().count()));
        let drawn = style.paint(bar.role, &drawn);
        let value = match bar.role {
            Role::Series(_) => value.clone(),
            role => style.paint(role, value),
        };
        text.extend([format!("{:<names$}  {drawn}{fill}  {value}\n", bar.label)]);
    }
    let cross = style.choose("┴", "+");
    text += &axis(
        (&scale, figure.y.unit),
        (names + 2, room),
        ("", cross),
        |place| cell(place, room),
        style,
    );
    Some(text)
}

/// All bars from top to bottom: by level, and within a level by series.
fn bars(figure: &Figure) -> Vec<Bar<'_>> {
    let mut bars = Vec::new();
    for level in levels(figure) {
        let thing = show_level(&figure.x, level);
        for (index, series) in figure.series.iter().enumerate() {
            let points = series.points.iter().filter(|point| point.x == *level);
            bars.extend(points.map(|point| Bar {
                label: match figure.series.len() {
                    1 => thing.clone(),
                    _ => format!("{thing}, {}", series.label),
                },
                point,
                role: role(point, index),
            }));
        }
    }
    bars
}

fn role(point: &FigurePoint, series: usize) -> Role {
    match point.estimate.verdict {
        Verdict::Broken(_) => Role::Broken,
        _ if point.doubtful => Role::Doubtful,
        _ => Role::Series(series),
    }
}

/// The value beside a bar, with a question mark if doubtful.
fn value(unit: Unit, bar: &Bar, style: &Style) -> String {
    let estimate = &bar.point.estimate;
    let value = match estimate.verdict {
        Verdict::Broken(_) => show::verdict(&estimate.verdict).text.into(),
        _ => show::estimate(unit, estimate),
    };
    let doubt = if bar.point.doubtful && estimate.is_sound() {
        " ?"
    } else {
        ""
    };
    style.text(&value) + doubt
}

/// A bar from zero, exact to an eighth of a character; with whiskers if the interval is wider than
/// a character.
fn block(bar: &Bar, scale: &Scale, room: usize, style: &Style) -> String {
    let estimate = &bar.point.estimate;
    if !estimate.is_sound() {
        return String::new();
    }
    let Some(end) = scale.position(estimate.centre) else {
        return String::new();
    };
    let eighths = (end * room as f64 * 8.0).round() as usize;
    let full = eighths / 8;
    let mut cells: Vec<char> = vec![if style.unicode { '█' } else { '#' }; full];
    if style.unicode {
        cells.extend(PARTS[eighths % 8].chars());
    }
    whiskers(&mut cells, bar, scale, room, style);
    cells.into_iter().collect()
}

/// A dot on a dotted line, for logarithmic axes: the length of a bar has no meaning there.
fn dot(bar: &Bar, scale: &Scale, room: usize, style: &Style) -> String {
    let estimate = &bar.point.estimate;
    if !estimate.is_sound() {
        return String::new();
    }
    let Some(place) = scale.position(estimate.centre) else {
        return String::new();
    };
    let column = cell(place, room);
    let mut cells = vec![if style.unicode { '┈' } else { '.' }; column + 1];
    whiskers(&mut cells, bar, scale, room, style);
    cells[column] = match (style.unicode, bar.point.doubtful) {
        (true, false) => '●',
        (true, true) => '○',
        (false, false) => 'O',
        (false, true) => 'o',
    };
    cells.into_iter().collect()
}

fn whiskers(cells: &mut Vec<char>, bar: &Bar, scale: &Scale, room: usize, style: &Style) {
    let ends = bar.point.estimate.interval.and_then(|interval| {
        // On a logarithmic scale an interval that includes zero extends to the edge.
        let low = scale.position(interval.low).unwrap_or(0.0);
        Some((low, scale.position(interval.high)?))
    });
    let Some((low, high)) = ends else { return };
    if (high - low) * (room as f64) < 1.5 {
        return;
    }
    let (low, high) = (cell(low, room), cell(high, room));
    let (left, line, right) = if style.unicode {
        ('├', '─', '┤')
    } else {
        ('[', '-', ']')
    };
    cells.resize(cells.len().max(high + 1), ' ');
    cells[low..=high].fill(line);
    cells[low] = left;
    cells[high] = right;
}
