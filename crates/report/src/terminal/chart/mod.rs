//! Character charts: curves in braille, bars and matrices in block characters, else ASCII.

mod axis;
mod bars;
mod canvas;
mod curve;
mod marks;
mod matrix;
mod timeline;

use super::style::Style;
use super::text::title;
use instrument::figure::{Figure, FigureKind};

/// The chart of a figure; empty if no point can be drawn.
pub(super) fn chart(figure: &Figure, style: &Style) -> String {
    let drawn = match figure.kind {
        FigureKind::Curve => curve::draw(figure, style),
        FigureKind::Bars => bars::draw(figure, style),
        FigureKind::Timeline => timeline::draw(figure, style),
        FigureKind::Matrix => matrix::draw(figure, style),
    };
    match drawn {
        Some(drawn) => title(&figure.title, style) + &style.text(&drawn),
        None => String::new(),
    }
}
