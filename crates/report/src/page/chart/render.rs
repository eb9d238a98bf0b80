//! One figure as one SVG element.

use super::format::Format;
use super::svg::{Px, Svg};
use super::{bars, curve, matrix, timeline};
use crate::chart::{Matrix, drawn_centre};
use crate::show;
use instrument::figure::{Figure, FigureKind, FigurePoint, FigureScale};

/// `figure` as an `svg` element with its value axis scaled by `kind`.
pub(crate) fn render(figure: &Figure, kind: FigureScale, format: Format) -> String {
    let mut body = Svg::default();
    let height = match figure.kind {
        FigureKind::Curve => curve::draw(&mut body, figure, kind, format),
        FigureKind::Bars => bars::draw(&mut body, figure, kind, format),
        FigureKind::Timeline => timeline::draw(&mut body, figure, format),
        FigureKind::Matrix => matrix::draw(&mut body, figure, kind, format.room()),
    };
    let scale = match kind {
        FigureScale::Linear => "linear",
        FigureScale::Logarithmic => "logarithmic",
    };
    let width = format.width();
    let mut svg = Svg::default();
    svg.open(
        "svg",
        &[
            ("xmlns", &"http://www.w3.org/2000/svg"),
            ("class", &format!("chart {} {scale}", format.class())),
            ("viewBox", &format!("0 0 {} {}", Px(width), Px(height))),
            ("role", &"img"),
            ("aria-label", &figure.title),
            ("font-size", &format.font_size()),
        ],
    );
    svg.text("desc", &[], &description(figure, scale));
    let mut text = svg.finish();
    text.push_str(&body.finish());
    text.push_str("</svg>");
    text
}

/// True if a logarithmic value axis would show anything.
pub(crate) fn can_be_logarithmic(figure: &Figure) -> bool {
    let is_timeline = figure.kind == FigureKind::Timeline;
    !is_timeline
        && points(figure)
            .any(|point| drawn_centre(&point.estimate).is_some_and(|centre| centre > 0.0))
}

/// Number of points without a place among the curves of a figure: values below resolution, and on a
/// logarithmic axis values that are not positive. Rows of bars have a place for every point.
pub(crate) fn undrawn(figure: &Figure) -> usize {
    match figure.kind {
        FigureKind::Bars => return 0,
        FigureKind::Timeline => return points(figure).count() - timeline::moments(figure).len(),
        FigureKind::Matrix => {
            let drawn = Matrix::new(figure, figure.y.scale).cells().count();
            return points(figure).count().saturating_sub(drawn);
        }
        FigureKind::Curve => {}
    }
    let positive = |scale: FigureScale, value: f64| scale == FigureScale::Linear || value > 0.0;
    points(figure)
        .filter(|point| {
            let x = point
                .x
                .number()
                .is_none_or(|x| positive(figure.x.scale, x as f64));
            let y = drawn_centre(&point.estimate).is_some_and(|y| positive(figure.y.scale, y));
            !(x && y)
        })
        .count()
}

fn points(figure: &Figure) -> impl Iterator<Item = &FigurePoint> {
    figure.series.iter().flat_map(|series| &series.points)
}

/// Description of the chart for screen readers.
fn description(figure: &Figure, scale: &str) -> String {
    let labels: Vec<&str> = figure
        .series
        .iter()
        .map(|series| series.label.as_str())
        .collect();
    let centres = points(figure).filter_map(|point| drawn_centre(&point.estimate));
    let (low, high) = centres.fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), centre| {
        (low.min(centre), high.max(centre))
    });
    let range = match figure.y.unit {
        Some(unit) if low <= high => format!(" from {}", show::extent(unit, low, high)),
        _ => String::new(),
    };
    let (y, x, labels) = (&figure.y.title, &figure.x.title, labels.join(", "));
    let what = match figure.kind {
        FigureKind::Matrix => {
            format!("{y}{range} ({scale} colours) by {x} in rows and in columns: {labels}")
        }
        FigureKind::Curve | FigureKind::Bars | FigureKind::Timeline => {
            format!("{y}{range} ({scale} axis) by {x}: {labels}")
        }
    };
    format!("{what}. The numbers are in the table below the figure.")
}
