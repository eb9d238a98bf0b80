//! Logarithmic axes and curves of the pictures at a glance.

use super::super::line::draw;
use super::super::marker::outline;
use super::super::svg::{Path, Px, Svg};
use super::Size;
use crate::chart::{Domain, Lines, Place, Scale, ticks};
use crate::glance::Curve;
use instrument::figure::FigureScale;
use instrument::quantity::Unit;

/// The plot within a picture, in pixels.
#[derive(Clone, Copy)]
pub(super) struct Area {
    pub(super) left: f64,
    pub(super) right: f64,
    pub(super) top: f64,
    pub(super) bottom: f64,
}

/// A side of the plot with an axis of values.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Side {
    Left,
    Right,
}

/// The x axis of sizes below all of `curves`.
pub(super) fn sizes<'c>(curves: impl Iterator<Item = &'c Curve>, area: Area) -> Scale {
    let sizes = curves.flat_map(|curve| curve.points.iter().map(|(size, _)| *size));
    let domain = Domain::around(sizes, FigureScale::Logarithmic);
    domain.between(FigureScale::Logarithmic, area.left + 6.0, area.right - 6.0)
}

/// The y axis of all values of `curves`.
pub(super) fn values<'c>(curves: impl Iterator<Item = &'c Curve>, area: Area) -> Scale {
    let values = curves.flat_map(|curve| curve.points.iter().filter_map(|(_, value)| *value));
    let domain = Domain::around(values, FigureScale::Logarithmic).padded(FigureScale::Logarithmic);
    domain.between(FigureScale::Logarithmic, area.bottom, area.top)
}

/// Draws the axis of sizes with its labels.
pub(super) fn x_axis(svg: &mut Svg, scale: &Scale, area: Area, size: Size) {
    let mut axis = Path::default();
    axis.line([(area.left, area.bottom), (area.right, area.bottom)]);
    let room = ((area.right - area.left) / (size.font * 5.2)) as usize;
    for tick in ticks(scale, Some(Unit::Bytes), room) {
        let (Some(x), Some(label)) = (scale.position(tick.value), tick.label) else {
            continue;
        };
        axis.line([(x, area.bottom), (x, area.bottom + 4.0)]);
        svg.text(
            "text",
            &[
                ("class", &"x-tick"),
                ("x", &Px(x)),
                ("y", &Px(area.bottom + size.font + 5.0)),
            ],
            &label,
        );
    }
    svg.element("path", &[("class", &"axis"), ("d", &axis)]);
}

/// Draws an axis of values with its labels, in the colour of `class`.
pub(super) fn y_axis(
    svg: &mut Svg,
    scale: &Scale,
    (unit, edge, class): (Unit, Side, &str),
    area: Area,
    size: Size,
) {
    let mut grid = Path::default();
    let most = ((area.bottom - area.top) / (size.font * 2.2)) as usize;
    for tick in ticks(scale, Some(unit), most) {
        let (Some(y), Some(label)) = (scale.position(tick.value), tick.label) else {
            continue;
        };
        let (x, anchor) = match edge {
            Side::Left => (area.left - 6.0, "end"),
            Side::Right => (area.right + 6.0, "start"),
        };
        if edge == Side::Left {
            grid.line([(area.left, y), (area.right, y)]);
        }
        svg.text(
            "text",
            &[
                ("class", &class),
                ("x", &Px(x)),
                ("y", &Px(y + size.font * 0.35)),
                ("text-anchor", &anchor),
            ],
            &label,
        );
    }
    svg.element("path", &[("class", &"grid"), ("d", &grid)]);
}

/// Draws `curve` in the style of the series `index`.
pub(super) fn curve(svg: &mut Svg, curve: &Curve, index: usize, x: &Scale, y: &Scale) {
    let place = |&(size, value): &(f64, Option<f64>)| {
        let value = value?;
        Some(Place {
            value: (size, value),
            at: (x.position(size)?, y.position(value)?),
        })
    };
    let places: Vec<Option<Place>> = curve.points.iter().map(place).collect();
    let lines = Lines::through(&places);
    svg.open("g", &[("class", &format!("s{index}"))]);
    draw(svg, lines);
    for place in places.iter().flatten() {
        let shape = outline(index, place.at.0, place.at.1, 2.6);
        svg.element("path", &[("class", &"m"), ("d", &shape)]);
    }
    svg.close("g");
}
