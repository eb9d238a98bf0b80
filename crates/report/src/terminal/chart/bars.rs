//! Named items as horizontal bars.

use super::super::style::{Role, Style};
use super::axis::{below_rows, cell};
use crate::chart::{Bar, Bars, Spot};
use crate::show::{self, Tone};
use instrument::figure::{Figure, FigurePoint, FigureScale};
use instrument::quantity::Unit;
use instrument::results::Verdict;

/// Block characters in eighths.
const PARTS: [&str; 8] = ["", "▏", "▎", "▍", "▌", "▋", "▊", "▉"];

/// The bars of `figure`, each with its value, and with whiskers for the interval; `None` if it has
/// no bars.
pub(super) fn draw(figure: &Figure, style: &Style) -> Option<String> {
    let unit = figure.y.unit.unwrap_or(Unit::Count);
    let layout = Bars::of(figure, figure.y.scale);
    layout.rows.iter().find_map(sound)?;
    let rows: Vec<(String, String)> = layout
        .rows
        .iter()
        .map(|bar| {
            let group = &layout.groups[bar.group];
            let name = match figure.series.len() {
                1 => group.clone(),
                _ => format!("{group}, {}", figure.series[bar.series].label),
            };
            (name, value(unit, bar.point, style))
        })
        .collect();
    let length = |text: &String| text.chars().count();
    let names = rows.iter().map(|(name, _)| length(name)).max()?;
    let numbers = rows.iter().map(|(_, value)| length(value)).max()?;
    let room = style.width.saturating_sub(names + numbers + 4).max(10);

    let mut text = String::new();
    for (bar, (name, value)) in layout.rows.iter().zip(&rows) {
        let drawn = sound(bar).map_or_else(String::new, |spot| match layout.scale.kind {
            FigureScale::Linear => block(spot, room, style),
            FigureScale::Logarithmic => dot(spot, room, style),
        });
        let fill = " ".repeat(room.saturating_sub(drawn.chars().count()));
        let role = role(bar.point, bar.series);
        let drawn = style.paint(role, &drawn);
        let value = match role {
            Role::Series(_) => value.clone(),
            role => style.paint(role, value),
        };
        text.extend([format!("{name:<names$}  {drawn}{fill}  {value}\n")]);
    }
    text += &below_rows((&layout.scale, figure.y.unit), (names + 2, room), style);
    Some(text)
}

/// The place of a sound value.
fn sound<'b>(bar: &'b Bar<'_>) -> Option<&'b Spot> {
    let is_sound = bar.point.estimate.is_sound();
    bar.spot.as_ref().filter(|_| is_sound)
}

fn role(point: &FigurePoint, series: usize) -> Role {
    match point.estimate.verdict {
        Verdict::Broken(_) => Role::Toned(Tone::Bad),
        _ if point.doubtful => Role::Toned(Tone::Doubtful),
        _ => Role::Series(series),
    }
}

/// The value next to a bar, with a question mark if doubtful.
fn value(unit: Unit, point: &FigurePoint, style: &Style) -> String {
    let estimate = &point.estimate;
    let value = match estimate.verdict {
        Verdict::Broken(_) => show::verdict(&estimate.verdict).text.into(),
        _ => show::estimate(unit, estimate),
    };
    let is_doubtful = point.doubtful && estimate.is_sound();
    style.text(&value) + if is_doubtful { " ?" } else { "" }
}

/// A bar from zero, exact to an eighth of a character; with whiskers if the interval is wider than
/// a character.
fn block(spot: &Spot, room: usize, style: &Style) -> String {
    let eighths = (spot.at.1 * room as f64 * 8.0).round() as usize;
    let mut cells: Vec<char> = vec![style.choose('█', '#'); eighths / 8];
    if style.unicode {
        cells.extend(PARTS[eighths % 8].chars());
    }
    whiskers(&mut cells, spot, room, style);
    cells.into_iter().collect()
}

/// A dot on a dotted line, for logarithmic axes: the length of a bar has no meaning there.
fn dot(spot: &Spot, room: usize, style: &Style) -> String {
    let column = cell(spot.at.1, room);
    let mut cells = vec![style.choose('┈', '.'); column + 1];
    whiskers(&mut cells, spot, room, style);
    cells[column] = if spot.doubtful {
        style.choose('○', 'o')
    } else {
        style.choose('●', 'O')
    };
    cells.into_iter().collect()
}

fn whiskers(cells: &mut Vec<char>, spot: &Spot, room: usize, style: &Style) {
    let Some([low, high]) = spot.reach else {
        return;
    };
    if (high - low) * (room as f64) < 1.5 {
        return;
    }
    let (low, high) = (cell(low, room), cell(high, room));
    let (left, line, right) = style.choose(('├', '─', '┤'), ('[', '-', ']'));
    cells.resize(cells.len().max(high + 1), ' ');
    cells[low..=high].fill(line);
    cells[low] = left;
    cells[high] = right;
}
