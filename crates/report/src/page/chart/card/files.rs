//! The throughput of files and of what stores them, over the block size.

use super::super::labels::spread;
use super::super::svg::{Px, Svg, text_width};
use super::plot::{Area, Side, curve, sizes, values, x_axis, y_axis};
use super::{Size, ends};
use crate::glance::Curve;
use crate::show;
use instrument::quantity::Unit;

/// Bold type is so much wider.
const BOLD: f64 = 1.15;

pub(super) fn draw(svg: &mut Svg, curves: &[Curve], size: Size) {
    let font = size.font;
    let label = |curve: &Curve| text_width(&curve.label, font) * BOLD;
    let labels = curves.iter().map(label).fold(0.0, f64::max);
    let area = Area {
        left: 70.0,
        right: size.width - labels - 12.0,
        top: 8.0,
        bottom: size.height - font - 9.0,
    };
    let (x, y) = (sizes(curves.iter(), area), values(curves.iter(), area));
    let axis = (Unit::BytesPerSecond, Side::Left, "y-tick");
    y_axis(svg, &y, axis, area, size);
    let last = |curve: &Curve| ends(curve).and_then(|[_, (_, value)]| y.position(value));
    let wanted: Vec<f64> = curves
        .iter()
        .map(|curve| last(curve).unwrap_or(area.top))
        .collect();
    let places = spread(&wanted, font + 2.0, area.top + font * 0.5, area.bottom);
    for (index, (one, place)) in curves.iter().zip(places).enumerate() {
        curve(svg, one, index, &x, &y);
        svg.text(
            "text",
            &[
                ("class", &format!("s{index} direct")),
                ("x", &Px(area.right + 8.0)),
                ("y", &Px(place + font * 0.35)),
            ],
            &one.label,
        );
    }
    x_axis(svg, &x, area, size);
}

/// The curves in words.
pub(super) fn words(curves: &[Curve]) -> String {
    let told = |curve: &Curve| {
        let [(small, first), (large, last)] = ends(curve)?;
        let rate = |rate| show::value(Unit::BytesPerSecond, rate, None);
        let bytes = |size| show::round(Unit::Bytes, size);
        Some(format!(
            "{}: {} in blocks of {} and {} in blocks of {}",
            curve.label,
            rate(first),
            bytes(small),
            rate(last),
            bytes(large)
        ))
    };
    curves
        .iter()
        .filter_map(told)
        .collect::<Vec<_>>()
        .join("; ")
}
