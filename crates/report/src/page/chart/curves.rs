//! Curves along an axis: one plot for a few series, small multiples with shared axes for many.

use super::axes::{Frame, Panels, Room, X_LABELS, X_TITLE, y_room};
use super::labels::{PlacedLabel, rows};
use super::marker::STYLES;
use super::staircase::stairs;
use super::svg::{Anchor, Dots, FONT, Path, Svg, px, text_width};
use crate::chart::{Curve, Curves, PlacedMark, Spot};
use instrument::figure::{Figure, FigureScale, MarkOrigin};

/// Height of a plot that may be as high as it likes.
const HEIGHT: f64 = 260.0;
/// Height of a row of the names of marks.
const MARK_ROW: f64 = FONT + 3.0;

/// Draws `figure` with its y axis scaled by `kind`; in the same plot the first curve of `second`, whose values
/// are at the right; returns the height of the chart.
pub(super) fn draw(
    svg: &mut Svg,
    figure: &Figure,
    kind: FigureScale,
    second: Option<&Figure>,
    room: Room,
) -> f64 {
    if figure.series.len() > STYLES {
        return multiples(svg, figure, kind, room);
    }
    let x = Curves::x_scale(figure, second);
    let chart = Curves::along(figure, kind, x);
    let second = second.map(|figure| (figure, Curves::along(figure, kind, x)));

    let has_title = !figure.y.title.is_empty();
    let top = if has_title { FONT + 12.0 } else { 8.0 };
    let has_x_title = !figure.x.title.is_empty();
    let below = X_LABELS + if has_x_title { X_TITLE } else { 0.0 };
    let height = (room.height - top - below).min(HEIGHT);
    let left = y_room(&chart.y, figure.y.unit, height);
    let right = second.as_ref().map_or(12.0, |(figure, chart)| {
        y_room(&chart.y, figure.y.unit, height)
    });
    let mut frame = Frame {
        left,
        top,
        width: room.width - left - right,
        height,
    };
    let names = placed(&chart.marks, &frame, room.width);
    let highest = names.iter().map(|name| name.row + 1).max().unwrap_or(0);
    frame.top += MARK_ROW * highest as f64;
    if room.height.is_finite() {
        frame.height -= MARK_ROW * highest as f64;
    }

    let (title, ticks) = match second {
        Some(_) => ("s0 direct", "s0 hue"),
        None => ("axis-title", "y-tick"),
    };
    svg.label(title, &figure.y.title, (0.0, FONT * 0.65, Anchor::Start));
    if let Some((figure, _)) = &second {
        let corner = (room.width, FONT * 0.65, Anchor::End);
        svg.label("s1 direct", &figure.y.title, corner);
    }
    let at = chart.levels.iter().map(|place| Some(frame.x((*place)?)));
    svg.open_panel("panel", frame.area(), at, None);
    frame.y_axis(svg, &chart.y, figure.y.unit, Some((Anchor::End, ticks)));
    frame.x_axis(svg, &x, figure.x.unit, true);
    lines_of_marks(svg, &chart.marks, &frame);
    if let Some((figure, chart)) = &second {
        let labels = Some((Anchor::Start, "s1 hue"));
        frame.y_axis(svg, &chart.y, figure.y.unit, labels);
        for curve in &chart.series {
            series(svg, chart, curve, (1, 1), &frame);
        }
    }
    for (index, curve) in chart.series.iter().enumerate() {
        series(svg, &chart, curve, (index, index), &frame);
    }
    svg.close("g");
    if let Some((_, second)) = &second {
        stairs(svg, (&chart, second), figure.y.unit, &frame);
    }
    names_of_marks(svg, &chart.marks, &names, &frame);
    frame.x_title(svg, &figure.x.title)
}

fn multiples(svg: &mut Svg, figure: &Figure, kind: FigureScale, room: Room) -> f64 {
    let chart = Curves::of(figure, kind);
    let at = (0.0, FONT * 0.65, Anchor::Start);
    svg.label("axis-title", &figure.y.title, at);
    let left = y_room(&chart.y, figure.y.unit, Panels::HEIGHT);
    let titles = figure.series.iter().map(|series| series.label.as_str());
    let panels = Panels::new(room.width, left, titles);
    let mut end = 0.0;
    for index in 0..figure.series.len() {
        let frame = panels.plot(svg, index);
        let at = chart.levels.iter().map(|place| Some(frame.x((*place)?)));
        svg.open_panel("panel", frame.area(), at, Some(index));
        frame.y_axis(svg, &chart.y, figure.y.unit, Panels::y_labels(index));
        frame.x_axis(svg, &chart.x, figure.x.unit, panels.is_lowest(index));
        lines_of_marks(svg, &chart.marks, &frame);
        let mut others = Path::default();
        for (_, other) in chart.series.iter().enumerate().filter(|it| it.0 != index) {
            others.lines(other, &frame);
        }
        svg.path("other", &others);
        series(svg, &chart, &chart.series[index], (index, 0), &frame);
        svg.close("g");
        if index + 1 == figure.series.len() {
            end = frame.x_title(svg, &figure.x.title);
        }
    }
    end
}

/// Draws the series `index` in the given style: its intervals, processes, line and markers.
fn series(
    svg: &mut Svg,
    chart: &Curves<'_>,
    curve: &Curve,
    (index, style): (usize, usize),
    frame: &Frame,
) {
    let radius = (frame.height / 60.0).clamp(2.5, 3.8);
    svg.open_series(index, style);
    let is_band = |one: &Spot, other: &Spot| chart.is_band(one, other);
    svg.path("band", &band(curve, is_band, frame));
    let mut dots = Dots::default();
    for spot in curve.spots() {
        for place in &spot.processes {
            dots.add(frame.x(spot.at.0), frame.y(*place));
        }
    }
    svg.path("dots", &dots);
    line(svg, curve, frame, "line");
    for spot in curve.spots() {
        let (x, y) = (frame.x(spot.at.0), frame.y(spot.at.1));
        svg.marker((style, spot.level), x, y, radius, spot.doubtful);
    }
    svg.close("g");
}

/// Draws the line of a curve: solid where it joins neighbours, in another style across cliffs.
fn line(svg: &mut Svg, curve: &Curve, frame: &Frame, class: &str) {
    let mut solid = Path::default();
    solid.lines(curve, frame);
    svg.path(class, &solid);
    let mut cliffs = Path::default();
    for ends in &curve.cliffs {
        cliffs.line(ends.map(|(x, y)| (frame.x(x), frame.y(y))));
    }
    svg.path(&format!("{class} cliff"), &cliffs);
}

impl Path {
    fn lines(&mut self, curve: &Curve, frame: &Frame) {
        for run in curve.runs.iter().filter(|run| run.len() > 1) {
            let places = run.iter().map(|spot| spot.at);
            self.line(places.map(|(x, y)| (frame.x(x), frame.y(y))));
        }
    }
}

/// The intervals of the points of a curve: those of neighbours of which `is_band` is true as one band, others as
/// a bar each.
fn band(curve: &Curve, is_band: impl Fn(&Spot, &Spot) -> bool, frame: &Frame) -> Path {
    /// Half the width of a bar.
    const ALONE: f64 = 2.5;
    let mut path = Path::default();
    for band in curve.runs.iter().flat_map(|run| run.chunk_by(&is_band)) {
        let ends = band.iter().filter_map(|spot| {
            let [low, high] = spot.reach?.map(|end| frame.y(end));
            Some((frame.x(spot.at.0), low, high))
        });
        let ends: Vec<(f64, f64, f64)> = ends.collect();
        match ends[..] {
            [] => {}
            [(x, low, high)] => {
                let (from, to) = (x - ALONE, x + ALONE);
                path.area([(from, low), (to, low), (to, high), (from, high)]);
            }
            _ => {
                let lower = ends.iter().map(|(x, low, _)| (*x, *low));
                let upper = ends.iter().rev().map(|(x, _, high)| (*x, *high));
                path.area(lower.chain(upper));
            }
        }
    }
    path
}

/// The places of the names of marks, in rows above the plot.
fn placed(marks: &[PlacedMark<'_>], frame: &Frame, right: f64) -> Vec<PlacedLabel> {
    let wanted = marks
        .iter()
        .map(|mark| (frame.x(mark.at), text_width(name(mark)) + 4.0));
    rows(&wanted.collect::<Vec<_>>(), 0.0, right)
}

/// The short name of a mark: the list below the chart has the whole name.
fn name<'f>(mark: &PlacedMark<'f>) -> &'f str {
    mark.mark.label.split(',').next().unwrap_or_default()
}

fn class_of(mark: &PlacedMark<'_>) -> &'static str {
    match mark.mark.origin {
        MarkOrigin::Found => "mark found",
        MarkOrigin::Documented => "mark documented",
    }
}

fn lines_of_marks(svg: &mut Svg, marks: &[PlacedMark<'_>], frame: &Frame) {
    for mark in marks {
        if let Some([from, to]) = mark.reach.map(|ends| ends.map(|end| frame.x(end))) {
            let width = (to - from).max(1.0);
            svg.rectangle("mark-band", [from, frame.top, width, frame.height]);
        }
        let (x, top, height) = (px(frame.x(mark.at)), px(frame.top), px(frame.height));
        svg.path(class_of(mark), &format!("M{x} {top}v{height}"));
    }
}

/// Writes the names of marks above the plot, each at the end of a line from its mark.
fn names_of_marks(svg: &mut Svg, marks: &[PlacedMark<'_>], names: &[PlacedLabel], frame: &Frame) {
    for (mark, place) in marks.iter().zip(names) {
        let x = frame.x(mark.at);
        let middle = frame.top - MARK_ROW * (place.row as f64 + 0.6);
        let stem = format!("M{} {}V{}", px(x), px(frame.top), px(middle - FONT * 0.4));
        svg.path(class_of(mark), &stem);
        let at = if place.leftwards {
            (x - 4.0, middle, Anchor::End)
        } else {
            (x + 4.0, middle, Anchor::Start)
        };
        svg.label("mark-label halo", name(mark), at);
    }
}
