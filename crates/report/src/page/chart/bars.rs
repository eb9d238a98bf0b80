//! Named items side by side: one row each, which leaves room for long names. Bars start at zero; a
//! logarithmic axis has no zero, so it has dots.

use super::format::Format;
use super::labels::shortened;
use super::marker::{STYLES, class, outline};
use super::rows::Layout;
use super::svg::{Dots, Path, Px, Svg, text_width};
use crate::chart::{Domain, drawn_centre, levels, show_level};
use crate::show;
use instrument::figure::{Figure, FigurePoint, FigureScale};
use instrument::quantity::Unit;

/// Height of a row, and of the bar in it.
const ROW: f64 = 22.0;
const BAR: f64 = 12.0;
/// Gap between groups of bars.
const GROUP_GAP: f64 = 10.0;

/// Draws `figure` with its value axis scaled by `kind`; returns the height of the chart.
pub(super) fn draw(svg: &mut Svg, figure: &Figure, kind: FigureScale, format: Format) -> f64 {
    let font = format.font_size();
    let groups = levels(figure);
    let names: Vec<String> = groups
        .iter()
        .map(|level| show_level(&figure.x, level))
        .collect();
    let widest = |texts: &[String]| {
        texts
            .iter()
            .map(|text| text_width(text, font))
            .fold(0.0, f64::max)
    };
    let values: Vec<String> = figure
        .series
        .iter()
        .flat_map(|series| &series.points)
        .map(|point| value_text(figure, point))
        .collect();
    let left = widest(&names).min(format.width() * 0.36) + 12.0;
    let right = format.width() - widest(&values).min(format.width() * 0.3) - 14.0;
    let group_height = ROW * figure.series.len().max(1) as f64;
    let group_step = if figure.series.len() > 1 {
        group_height + GROUP_GAP
    } else {
        ROW + 4.0
    };
    let top = font + 12.0;
    let bottom = top + group_step * groups.len() as f64;
    let scale = Domain::of_estimates(&figure.series, kind).between(kind, left, right);
    let layout = Layout {
        left,
        right,
        top,
        bottom,
        scale,
    };

    let middles: Vec<f64> = (0..groups.len())
        .map(|index| top + group_step * (index as f64 + 0.5))
        .collect();
    layout.axis(svg, figure, format);
    let place = [0.0, top, format.width(), bottom - top];
    svg.open_panel("panel rows", place, middles.iter().copied().map(Some), None);
    for (name, middle) in names.iter().zip(&middles) {
        svg.text(
            "text",
            &[
                ("class", &"name"),
                ("x", &Px(left - 8.0)),
                ("y", &Px(middle + font * 0.35)),
                ("text-anchor", &"end"),
            ],
            &shortened(name, font, left - 10.0),
        );
    }
    for (index, series) in figure.series.iter().enumerate() {
        let class = format!("series {}", class(index));
        svg.open("g", &[("class", &class), ("data-series", &index)]);
        for point in &series.points {
            let Some(row) = groups.iter().position(|level| **level == point.x) else {
                continue;
            };
            let first = middles[row] - group_height / 2.0;
            let y = first + ROW * (index as f64 + 0.5);
            bar(svg, figure, point, (index, row), y, format, &layout);
        }
        svg.close("g");
    }
    svg.close("g");
    bottom + 26.0
}

fn bar(
    svg: &mut Svg,
    figure: &Figure,
    point: &FigurePoint,
    (series, row): (usize, usize),
    y: f64,
    format: Format,
    layout: &Layout,
) {
    let Layout { scale, left, .. } = layout;
    let centre = drawn_centre(&point.estimate).and_then(|centre| scale.position(centre));
    let mut furthest = *left;
    if let Some(x) = centre {
        let class = if point.doubtful { "m doubtful" } else { "m" };
        let start = scale.position(0.0).unwrap_or(*left);
        let mut stem = Path::default();
        stem.line([(start, y), (x, y)]);
        if scale.kind == FigureScale::Linear {
            let bar_class = if point.doubtful {
                "bar doubtful"
            } else {
                "bar"
            };
            svg.element(
                "rect",
                &[
                    ("class", &bar_class),
                    ("x", &Px(start.min(x))),
                    ("y", &Px(y - BAR / 2.0)),
                    ("width", &Px((x - start).abs())),
                    ("height", &Px(BAR)),
                ],
            );
        } else {
            svg.element("path", &[("class", &"stem"), ("d", &stem)]);
        }
        let mut dots = Dots::default();
        for value in &point.estimate.by_process {
            if let Some(x) = scale.position(*value) {
                dots.add(x, y);
                furthest = furthest.max(x);
            }
        }
        svg.element("path", &[("class", &"dots"), ("d", &dots)]);
        let ends = point.estimate.interval.and_then(|interval| {
            let low = scale.position(interval.low).unwrap_or(*left);
            Some((low, scale.position(interval.high)?))
        });
        if let Some((from, to)) = ends {
            let mut whisker = Path::default();
            whisker.line([(from, y), (to, y)]);
            whisker.line([(from, y - 4.0), (from, y + 4.0)]);
            whisker.line([(to, y - 4.0), (to, y + 4.0)]);
            svg.element("path", &[("class", &"whisker"), ("d", &whisker)]);
            furthest = furthest.max(to);
        }
        furthest = furthest.max(x);
        svg.element(
            "path",
            &[
                ("class", &class),
                ("data-i", &row),
                ("d", &outline(series, x, y, 3.8)),
            ],
        );
    }
    let font = format.font_size();
    let mut label = value_text(figure, point);
    if figure.series.len() > STYLES {
        label = format!("{label} · {}", figure.series[series].label);
    }
    let class = if centre.is_some() { "value" } else { "unknown" };
    svg.text(
        "text",
        &[
            ("class", &class),
            ("x", &Px(furthest + 8.0)),
            ("y", &Px(y + font * 0.35)),
        ],
        &shortened(&label, font, format.width() - furthest - 8.0),
    );
}

fn value_text(figure: &Figure, point: &FigurePoint) -> String {
    match drawn_centre(&point.estimate) {
        Some(centre) => show::value(
            figure.y.unit.unwrap_or(Unit::Count),
            centre,
            point.estimate.interval,
        ),
        None => show::verdict(&point.estimate.verdict).text.into(),
    }
}
