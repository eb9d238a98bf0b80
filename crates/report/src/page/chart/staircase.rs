//! The stairs of the memory staircase, with their values.

use super::axes::Frame;
use super::svg::{Anchor, FONT, Svg};
use crate::chart::{Curves, Spot};
use crate::show;
use instrument::quantity::Unit;

/// Writes the value of each stair next to the middle of it, and that of the largest working set next to its end.
/// A stair reaches from one mark to the next.
pub(super) fn stairs(svg: &mut Svg, chart: &Curves<'_>, unit: Option<Unit>, frame: &Frame) {
    let ends = chart.marks.iter().map(|mark| mark.mark.at);
    let mut from = 0.0;
    for to in ends.chain([f64::INFINITY]) {
        // Next to its ends a stair is on its way to another.
        let is_on = |spot: &&Spot| spot.value.0 > from * 1.3 && spot.value.0 < to * 0.9;
        let stair: Vec<&Spot> = chart.spots().filter(is_on).collect();
        from = to;
        let (spot, anchor) = match (to.is_finite(), stair.last()) {
            (true, _) => (stair.get(stair.len() / 2), Anchor::Middle),
            (false, last) => (last, Anchor::End),
        };
        if let Some(spot) = spot {
            let value = show::value(unit.unwrap_or(Unit::Count), spot.value.1, None);
            let (x, y) = (frame.x(spot.at.0), frame.y(spot.at.1));
            let mut places = [-FONT, FONT].map(|side| (x, y + side, anchor)).into_iter();
            places.any(|place| svg.label("s0 direct halo", &value, place));
        }
    }
}
