//! Curves along a numeric axis.

use super::super::style::{Role, Style};
use super::super::text::paragraph;
use super::canvas::Canvas;
use super::marks;
use super::scale::{Scale, Tick};
use instrument::figure::{Figure, FigureAxis, FigurePoint, Series};
use instrument::quantity::Unit;
use instrument::results::Verdict;

/// The marks of sound points, series by series, and those of doubtful points.
const SHAPES: [(char, char); 4] = [('●', '○'), ('■', '□'), ('▲', '△'), ('◆', '◇')];

/// The curves of `figure` above their axis; `None` where no point can be drawn.
pub(super) fn draw(figure: &Figure, style: &Style) -> Option<String> {
    let points = || figure.series.iter().flat_map(|series| &series.points);
    // A broken value may be beyond all measure: it is drawn at the edge, and decides no scale.
    let usable = || points().filter(|point| !matches!(point.estimate.verdict, Verdict::Broken(_)));
    let x = scale(&figure.x, points().filter_map(|point| Some(point.x.number()? as f64)))?;
    let y = scale(&figure.y, usable().map(|point| point.estimate.centre))?;

    let rows = (style.width / 6).clamp(8, 16);
    let (unit, y_ticks) = y_ticks(&y, rows / 2);
    let gutter = y_ticks.iter().map(|tick| tick.label.chars().count()).max().unwrap_or(0) + 1;
    let columns = style.width.saturating_sub(gutter + 2).max(20);
    let mut canvas = Canvas::new(columns, rows);
    for (index, series) in figure.series.iter().enumerate() {
        draw_series(&mut canvas, series, (&x, &y), index, style);
    }
    for (index, series) in figure.series.iter().enumerate() {
        mark_points(&mut canvas, series, (&x, &y), index, figure.series.len(), style);
    }
    let shown_marks = || figure.marks.iter().filter(|mark| x.contains(mark.at));
    for place in shown_marks().filter_map(|mark| x.place(mark.at)) {
        canvas.vertical(place, if style.unicode { '┊' } else { ':' });
    }

    let mut text = heading(figure, &unit, gutter, style);
    let labels = labels_by_row(&canvas, &y, y_ticks);
    for (row, drawn) in canvas.rows(style).enumerate() {
        let label = labels.get(&row).map_or("", String::as_str);
        let edge = match label {
            "" => style.choose("│", "|"),
            _ => style.choose("┤", "+"),
        };
        text += format!("{label:>gutter$} {edge}{drawn}").trim_end();
        text.push('\n');
    }
    text += &x_axis(&canvas, &x, gutter, columns, style);
    let unit = figure.x.unit.unwrap_or(Unit::Count);
    let located: Vec<_> = shown_marks()
        .filter_map(|mark| Some((canvas.column(x.place(mark.at)?), mark)))
        .collect();
    text += &marks::labels(&located, unit, gutter + 2, style);
    text += &legend(figure, style);
    Some(text)
}

fn scale(axis: &FigureAxis, values: impl Iterator<Item = f64>) -> Option<Scale> {
    Scale::over(axis.scale, axis.unit.unwrap_or(Unit::Count), values)
}

/// The ticks of the y axis; their unit on its own where all have the same.
fn y_ticks(y: &Scale, most: usize) -> (String, Vec<Tick>) {
    y.ticks_in_one_unit(most).unwrap_or_else(|| (String::new(), y.ticks(most)))
}

fn draw_series(
    canvas: &mut Canvas,
    series: &Series,
    (x, y): (&Scale, &Scale),
    index: usize,
    _style: &Style,
) {
    let places: Vec<_> = series.points.iter().filter_map(|point| place(point, x, y)).collect();
    for pair in places.windows(2) {
        canvas.line(pair[0], pair[1], Role::Series(index));
    }
}

fn mark_points(
    canvas: &mut Canvas,
    series: &Series,
    (x, y): (&Scale, &Scale),
    index: usize,
    count: usize,
    style: &Style,
) {
    let (sound, doubtful) = shapes(index, count, style);
    for point in &series.points {
        if let Some(place) = place(point, x, y) {
            match point.doubtful {
                true if style.colour => canvas.mark(place, doubtful, Role::Doubtful),
                true => canvas.mark(place, doubtful, Role::Series(index)),
                false => canvas.mark(place, sound, Role::Series(index)),
            }
        }
    }
}

fn place(point: &FigurePoint, x: &Scale, y: &Scale) -> Option<(f64, f64)> {
    Some((x.place(point.x.number()? as f64)?, y.place(point.estimate.centre)?))
}

/// The marks of a series: shapes, or letters where there are too many series for shapes.
fn shapes(index: usize, count: usize, style: &Style) -> (char, char) {
    match SHAPES.get(index) {
        Some(shapes) if style.unicode && count <= SHAPES.len() => *shapes,
        _ => {
            let letter = char::from(b'A' + (index % 26) as u8);
            (letter, letter.to_ascii_lowercase())
        }
    }
}

/// What runs upwards.
fn heading(figure: &Figure, unit: &str, gutter: usize, style: &Style) -> String {
    let heading = match unit {
        "" => figure.y.title.clone(),
        unit => format!("{unit}  {}", figure.y.title),
    };
    let before = gutter.saturating_sub(unit.chars().count());
    style.paint(Role::Faint, &format!("{}{}", " ".repeat(before), style.text(&heading))) + "\n"
}

fn labels_by_row(
    canvas: &Canvas,
    y: &Scale,
    ticks: Vec<Tick>,
) -> std::collections::BTreeMap<usize, String> {
    let row = |tick: Tick| Some((canvas.row(y.place(tick.value)?), tick.label));
    ticks.into_iter().filter_map(row).collect()
}

/// The line under the curves and the labels of its ticks.
fn x_axis(canvas: &Canvas, x: &Scale, gutter: usize, columns: usize, style: &Style) -> String {
    let (corner, line, cross) = if style.unicode { ('└', '─', '┬') } else { ('+', '-', '+') };
    let mut axis = vec![line; columns];
    let mut labels = String::new();
    for tick in x.ticks(columns / 12) {
        let Some(place) = x.place(tick.value) else { continue };
        let column = canvas.column(place);
        let length = tick.label.chars().count();
        // Centred under its tick, but for the outermost, which would stick out.
        let start = column.saturating_sub(length / 2).min(columns.saturating_sub(length));
        let end = labels.chars().count();
        if end == 0 || start > end {
            axis[column] = cross;
            labels += &format!("{}{}", " ".repeat(start - end), style.text(&tick.label));
        }
    }
    let axis: String = axis.into_iter().collect();
    let before = " ".repeat(gutter + 1);
    format!("{before}{corner}{axis}\n{before} {}\n", style.paint(Role::Faint, &labels))
}

/// What each series is drawn with.
fn legend(figure: &Figure, style: &Style) -> String {
    let count = figure.series.len();
    let entry = |(index, series): (usize, &Series)| {
        let (sound, _) = shapes(index, count, style);
        let shape = style.paint(Role::Series(index), &sound.to_string());
        format!("{shape}\u{a0}{}", series.label.replace(' ', "\u{a0}"))
    };
    let mut entries: Vec<String> = figure.series.iter().enumerate().map(entry).collect();
    if figure.series.iter().flat_map(|series| &series.points).any(|point| point.doubtful) {
        let (_, doubtful) = shapes(0, count, style);
        entries.push(format!("{}\u{a0}doubtful", style.paint(Role::Doubtful, &doubtful.to_string())));
    }
    paragraph(&format!("{}: ", figure.x.title), &entries.join("   "), style)
}
