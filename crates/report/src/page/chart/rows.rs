//! Rows below each other with values along the x axis: named items, and actors over time.

use super::axes::{Room, X_LABELS, no_difference, widest};
use super::labels::{shortened, wrapped};
use super::marker::{STYLES, class};
use super::svg::{Anchor, Dots, FONT, LINE, Path, Svg, px, text_width};
use crate::chart::{Bar, Bars, Scale, Timeline, drawn_centre, moments, ticks};
use crate::show;
use instrument::figure::{Figure, FigureScale};
use instrument::quantity::Unit;

/// Height of a row where there is room.
const ROW: f64 = 22.0;
/// Gap between groups of bars.
const GROUP_GAP: f64 = 10.0;
/// Height of a lane with its padding, and of its blocks.
const LANE: f64 = 34.0;
const BLOCK: f64 = 22.0;

/// The rectangle of the rows, right of their names.
pub(super) struct Rows {
    pub(super) left: f64,
    pub(super) right: f64,
    pub(super) top: f64,
    pub(super) bottom: f64,
}

impl Rows {
    /// The pixel of a place on the axis of values.
    pub(super) fn x(&self, place: f64) -> f64 {
        self.left + place * (self.right - self.left)
    }

    /// Room for `names` left of rows that end at `right`: as much as they need, but most of it for the rows.
    pub(super) fn name_room<'t>(names: impl Iterator<Item = &'t str>, right: f64) -> f64 {
        widest(names).min(right * 0.58) + 12.0
    }

    /// Height of the row of the name with the most lines.
    pub(super) fn name_height<'t>(names: impl Iterator<Item = &'t str>, left: f64) -> f64 {
        let lines = names.map(|name| wrapped(name, left - 10.0).len());
        LINE * lines.max().unwrap_or(0) as f64 + 4.0
    }

    pub(super) fn name(&self, svg: &mut Svg, name: &str, middle: f64) {
        let at = (self.left - 8.0, middle, Anchor::End);
        svg.lines("name", &wrapped(name, self.left - 10.0), at);
    }

    /// Draws the axis of values below the rows; returns its lower edge.
    pub(super) fn axis(&self, svg: &mut Svg, scale: &Scale, unit: Option<Unit>) -> f64 {
        let mut grid = Path::default();
        let most = ((self.right - self.left) / (FONT * 2.4)) as usize;
        let labelled = |room: usize| {
            let ticks = ticks(scale, unit, room).into_iter();
            let labelled =
                ticks.filter_map(|it| Some((self.x(scale.position(it.value)?), it.label?)));
            labelled.collect::<Vec<(f64, String)>>()
        };
        let fits = |ticks: &Vec<(f64, String)>| {
            ticks.windows(2).all(|pair| {
                let widths = text_width(&pair[0].1) + text_width(&pair[1].1);
                pair[1].0 - pair[0].0 >= widths / 2.0 + 8.0
            })
        };
        let mut rooms = (2..=most.max(2)).rev().map(labelled);
        for (x, label) in rooms.find(fits).unwrap_or_else(|| labelled(2)) {
            grid.line([(x, self.top), (x, self.bottom)]);
            svg.label("x-tick", &label, (x, self.bottom + 12.0, Anchor::Middle));
        }
        svg.path("grid", &grid);
        if let Some(one) = no_difference(scale, unit) {
            let mut unity = Path::default();
            unity.line([(self.x(one), self.top), (self.x(one), self.bottom)]);
            svg.path("unity", &unity);
        }
        self.bottom + X_LABELS
    }
}

/// Draws the bars of `figure` with their values scaled by `kind`; returns the height of the chart. Bars start at
/// zero; a logarithmic axis has no zero, so it has dots.
pub(super) fn bars(svg: &mut Svg, figure: &Figure, kind: FigureScale, room: Room) -> f64 {
    let layout = Bars::of(figure, kind);
    let top = title(svg, figure);
    let count = figure.series.len().max(1);
    let gap = if count > 1 { GROUP_GAP } else { 4.0 };
    let groups = layout.groups.len();
    let step = (room.height - top - X_LABELS) / groups.max(1) as f64;

    let values: Vec<String> = layout.rows.iter().map(|bar| value(figure, bar)).collect();
    let value_room = widest(values.iter().map(String::as_str)).min(room.width * 0.3);
    let right = room.width - value_room - 14.0;
    let names = || layout.groups.iter().map(String::as_str);
    let left = Rows::name_room(names(), right);
    let least = ROW * count as f64 + gap;
    let step = step.min(least.max(Rows::name_height(names(), left)));
    let row = (step - gap) / count as f64;
    let rows = Rows {
        left,
        right,
        top,
        bottom: top + step * groups as f64,
    };
    let middles: Vec<f64> = (0..groups)
        .map(|group| top + step * (group as f64 + 0.5))
        .collect();
    let bottom = rows.axis(svg, &layout.scale, figure.y.unit);
    let place = [0.0, top, room.width, rows.bottom - top];
    svg.open_panel("panel rows", place, middles.iter().copied().map(Some), None);
    for (name, middle) in layout.groups.iter().zip(&middles) {
        rows.name(svg, name, *middle);
    }
    for series in 0..figure.series.len() {
        svg.open_series(series, series);
        let all = layout.rows.iter().zip(&values);
        for (bar, value) in all.filter(|(bar, _)| bar.series == series) {
            let y = middles[bar.group] + row * (series as f64 + 0.5 - count as f64 / 2.0);
            let end = draw_bar(svg, bar, &layout, &rows, (y, row));
            let label = if figure.series.len() > STYLES {
                format!("{value} · {}", figure.series[series].label)
            } else {
                value.clone()
            };
            let class = bar.spot.as_ref().map_or("unknown", |_| "value");
            let label = shortened(&label, room.width - end - 8.0);
            svg.label(class, &label, (end + 8.0, y, Anchor::Start));
        }
        svg.close("g");
    }
    svg.close("g");
    bottom
}

/// Draws a bar with its interval and processes in a row of the given middle and height; returns its right end.
fn draw_bar(
    svg: &mut Svg,
    bar: &Bar<'_>,
    layout: &Bars<'_>,
    rows: &Rows,
    (y, row): (f64, f64),
) -> f64 {
    let Some(spot) = &bar.spot else {
        return rows.left;
    };
    let start = rows.x(layout.base);
    let x = rows.x(spot.at.1);
    if layout.scale.kind == FigureScale::Linear {
        let class = if spot.doubtful { "bar doubtful" } else { "bar" };
        let height = row * 0.55;
        let area = [start.min(x), y - height / 2.0, (x - start).abs(), height];
        svg.rectangle(class, area);
    } else {
        svg.path("stem", &format!("M{} {}H{}", px(start), px(y), px(x)));
    }
    let mut dots = Dots::default();
    for place in &spot.processes {
        dots.add(rows.x(*place), y);
    }
    svg.path("dots", &dots);
    if let Some([from, to]) = spot.reach.map(|ends| ends.map(|end| rows.x(end))) {
        let mut whisker = Path::default();
        whisker.line([(from, y), (to, y)]);
        whisker.line([(from, y - 4.0), (from, y + 4.0)]);
        whisker.line([(to, y - 4.0), (to, y + 4.0)]);
        svg.path("whisker", &whisker);
    }
    let radius = (row * 0.3).min(3.8);
    svg.marker((bar.series, bar.group), x, y, radius, spot.doubtful);
    let ends = spot.reach.map(|[_, high]| high);
    let places = spot.processes.iter().copied().chain(ends);
    rows.x(places.fold(spot.at.1, f64::max))
}

/// The value of a bar, or the reason why it has none.
fn value(figure: &Figure, bar: &Bar<'_>) -> String {
    let estimate = &bar.point.estimate;
    match drawn_centre(estimate) {
        Some(centre) => {
            let unit = figure.y.unit.unwrap_or(Unit::Count);
            show::value(unit, centre, estimate.interval)
        }
        None => show::verdict(&estimate.verdict).text.into(),
    }
}

/// Writes the title of the axis of values above the rows; returns their upper edge.
fn title(svg: &mut Svg, figure: &Figure) -> f64 {
    if figure.y.title.is_empty() {
        return 4.0;
    }
    let at = (0.0, FONT * 0.65, Anchor::Start);
    svg.label("axis-title", &figure.y.title, at);
    FONT + 12.0
}

/// Draws the states of `figure` over time; returns the height of the chart.
pub(super) fn timeline(svg: &mut Svg, figure: &Figure, room: Room) -> f64 {
    let layout = Timeline::of(figure);
    let top = title(svg, figure);
    let names = figure.series.iter().map(|series| series.label.as_str());
    let right = room.width - 14.0;
    let left = Rows::name_room(names.clone(), right);
    let lane = LANE.max(Rows::name_height(names, left));
    let rows = Rows {
        left,
        right,
        top,
        bottom: top + lane * figure.series.len() as f64,
    };
    let bottom = rows.axis(svg, &layout.scale, figure.y.unit);
    let position = |value| Some(rows.x(layout.scale.position(value)?));
    let moments = moments(figure).into_iter();
    let at = moments.map(|(_, point)| position(point.estimate.centre));
    let place = [rows.left, top, rows.right - rows.left, rows.bottom - top];
    svg.open_panel("panel", place, at, None);
    for (index, (series, blocks)) in figure.series.iter().zip(&layout.lanes).enumerate() {
        let middle = top + lane * (index as f64 + 0.5);
        rows.name(svg, &series.label, middle);
        for block in blocks {
            let (from, to) = (rows.x(block.from), rows.x(block.to));
            let doubt = if block.doubtful { " doubtful" } else { "" };
            let class = format!("bar{doubt} {}", class(block.state));
            svg.rectangle(&class, [from, middle - BLOCK / 2.0, to - from, BLOCK]);
            let state = &layout.states[block.state];
            if text_width(state) + 8.0 <= to - from {
                svg.label("value", state, (from + 5.0, middle, Anchor::Start));
            }
        }
        let y = middle + BLOCK / 2.0 + 3.0;
        let mut whiskers = Path::default();
        let points = series.points.iter();
        for interval in points.filter_map(|point| point.estimate.interval) {
            if let Some((from, to)) = position(interval.low).zip(position(interval.high)) {
                whiskers.line([(from, y), (to, y)]);
            }
        }
        svg.path("whisker", &whiskers);
    }
    svg.close("g");
    bottom
}
