//! The states of several actors over time: one lane per actor, one block per state.

use super::format::Format;
use super::labels::shortened;
use super::marker::class;
use super::rows::Layout;
use super::svg::{Path, Px, Svg, text_width};
use crate::chart::{Domain, drawn_centre};
use instrument::figure::{Figure, FigurePoint, FigureScale};

/// Height of a lane with its padding, and of its blocks.
const LANE: f64 = 34.0;
const BLOCK: f64 = 22.0;

/// The points with a place in time, each with the index of its lane, in chronological order.
pub(crate) fn moments(figure: &Figure) -> Vec<(usize, &FigurePoint)> {
    let lanes = figure.series.iter().enumerate();
    let mut moments: Vec<_> = lanes
        .flat_map(|(lane, series)| series.points.iter().map(move |point| (lane, point)))
        .filter(|(_, point)| drawn_centre(&point.estimate).is_some_and(f64::is_finite))
        .collect();
    moments.sort_by(|(_, one), (_, other)| one.estimate.centre.total_cmp(&other.estimate.centre));
    moments
}

/// Draws `figure`; returns the height of the chart.
pub(super) fn draw(svg: &mut Svg, figure: &Figure, format: Format) -> f64 {
    let font = format.font_size();
    let names = figure
        .series
        .iter()
        .map(|series| text_width(&series.label, font));
    let widest = names.fold(0.0, f64::max);
    let left = widest.min(format.width() * 0.36) + 12.0;
    let right = format.width() - 14.0;
    let top = font + 12.0;
    let bottom = top + LANE * figure.series.len() as f64;
    let kind = FigureScale::Linear;
    let layout = Layout {
        left,
        right,
        top,
        bottom,
        scale: Domain::of_estimates(&figure.series, kind).between(kind, left, right),
    };
    layout.axis(svg, figure, format);
    let position = |point: &FigurePoint| layout.scale.position(point.estimate.centre);
    let at = moments(figure)
        .into_iter()
        .filter_map(|(_, point)| position(point));
    let place = [left, top, right - left, bottom - top];
    svg.open_panel("panel", place, at.map(Some), None);
    let states = figure.states();
    for (index, series) in figure.series.iter().enumerate() {
        let middle = top + LANE * (index as f64 + 0.5);
        svg.text(
            "text",
            &[
                ("class", &"name"),
                ("x", &Px(left - 8.0)),
                ("y", &Px(middle + font * 0.35)),
                ("text-anchor", &"end"),
            ],
            &shortened(&series.label, font, left - 10.0),
        );
        for pair in series.points.windows(2) {
            let state = pair[0].x.to_string();
            let style = states.iter().position(|known| *known == state);
            let ends = position(&pair[0]).zip(position(&pair[1]));
            if let (Some(style), Some((from, to))) = (style, ends) {
                let doubtful = pair.iter().any(|point| point.doubtful);
                block(svg, &state, (style, doubtful), (from, to, middle), format);
            }
        }
        whiskers(svg, &series.points, middle, &layout);
    }
    svg.close("g");
    bottom + 26.0
}

/// Draws a state from one x to the other, with its name inside if there is room.
fn block(
    svg: &mut Svg,
    state: &str,
    (style, doubtful): (usize, bool),
    (from, to, middle): (f64, f64, f64),
    format: Format,
) {
    let font = format.font_size();
    svg.open("g", &[("class", &format!("series {}", class(style)))]);
    svg.element(
        "rect",
        &[
            ("class", &if doubtful { "bar doubtful" } else { "bar" }),
            ("x", &Px(from)),
            ("y", &Px(middle - BLOCK / 2.0)),
            ("width", &Px((to - from).max(0.0))),
            ("height", &Px(BLOCK)),
        ],
    );
    svg.close("g");
    if text_width(state, font) + 8.0 <= to - from {
        svg.text(
            "text",
            &[
                ("class", &"value"),
                ("x", &Px(from + 5.0)),
                ("y", &Px(middle + font * 0.35)),
            ],
            state,
        );
    }
}

/// Draws the confidence intervals of the moments.
fn whiskers(svg: &mut Svg, points: &[FigurePoint], middle: f64, layout: &Layout) {
    let y = middle + BLOCK / 2.0 + 3.0;
    let mut whiskers = Path::default();
    for interval in points.iter().filter_map(|point| point.estimate.interval) {
        let ends = layout
            .scale
            .position(interval.low)
            .zip(layout.scale.position(interval.high));
        if let Some((from, to)) = ends {
            whiskers.line([(from, y), (to, y)]);
        }
    }
    if !whiskers.is_empty() {
        svg.element("path", &[("class", &"whisker"), ("d", &whiskers)]);
    }
}
