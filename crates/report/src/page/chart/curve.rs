//! Curves along an axis: one panel for a few series, small multiples with shared axes for many.

use super::annotations::{MarkLabels, direct_label_width, draw_direct_labels};
use super::axes::YAxis;
use super::format::Format;
use super::labels::shortened;
use super::marker::STYLES;
use super::panel::{AXIS_TITLE, Frame, Panel, y_room};
use super::svg::{Px, Svg};
use crate::chart::Domain;
use instrument::figure::{Figure, FigureScale};

/// Gap between the labels of the y axis and the plot.
const Y_GAP: f64 = 12.0;

/// Draws `figure` with its y axis scaled by `kind`; returns the height of the chart.
pub(super) fn draw(svg: &mut Svg, figure: &Figure, kind: FigureScale, format: Format) -> f64 {
    let font = format.font_size();
    svg.text(
        "text",
        &[("class", &"axis-title"), ("x", &0), ("y", &Px(font))],
        &figure.y.title,
    );
    if figure.series.len() <= STYLES {
        single(svg, figure, kind, format)
    } else {
        multiples(svg, figure, kind, format)
    }
}

fn single(svg: &mut Svg, figure: &Figure, kind: FigureScale, format: Format) -> f64 {
    let font = format.font_size();
    let y = Domain::of_estimates(&figure.series, kind);
    let height = format.plot_height();
    let left = y_label_width(figure, y, kind, format, height) + Y_GAP;
    let width = format.width() - left - direct_label_width(figure, format).max(Y_GAP);
    let labels = MarkLabels::new(figure, format, left, width);
    let frame = Frame {
        left,
        top: font + 12.0 + labels.height(),
        width,
        height,
    };
    let panel = Panel {
        subject: None,
        is_first: true,
        is_lowest: true,
        ..Panel::new(figure, format, frame, y, kind)
    };
    panel.draw(svg);
    labels.draw(svg, panel.frame.top);
    draw_direct_labels(svg, &panel);
    panel.frame.bottom() + AXIS_TITLE + 6.0
}

fn multiples(svg: &mut Svg, figure: &Figure, kind: FigureScale, format: Format) -> f64 {
    const GAP: f64 = 14.0;
    let font = format.font_size();
    let y = Domain::of_estimates(&figure.series, kind);
    let (columns, height) = format.panels();
    let count = figure.series.len();
    let left = y_label_width(figure, y, kind, format, height) + Y_GAP;
    let room = format.width() - left - Y_GAP;
    let width = (room - GAP * (columns - 1) as f64) / columns as f64;
    let step = height + font + 22.0;
    let first = font + 12.0;
    for (index, series) in figure.series.iter().enumerate() {
        let (row, column) = (index / columns, index % columns);
        let frame = Frame {
            left: left + (width + GAP) * column as f64,
            top: first + step * row as f64 + font + 4.0,
            width,
            height,
        };
        let panel = Panel {
            subject: Some(index),
            is_first: column == 0,
            is_lowest: index + columns >= count,
            ..Panel::new(figure, format, frame, y, kind)
        };
        panel.draw(svg);
        svg.text(
            "text",
            &[
                ("class", &"panel-title"),
                ("x", &Px(panel.frame.left)),
                ("y", &Px(panel.frame.top - 6.0)),
            ],
            &shortened(&series.label, font, width),
        );
    }
    first + step * count.div_ceil(columns) as f64 + AXIS_TITLE
}

/// Width of the widest label of the y axis.
fn y_label_width(
    figure: &Figure,
    y: Domain,
    kind: FigureScale,
    format: Format,
    height: f64,
) -> f64 {
    let axis = YAxis {
        scale: &y.between(kind, height, 0.0),
        unit: figure.y.unit,
        room: y_room(format, height),
        format,
    };
    axis.label_width()
}
