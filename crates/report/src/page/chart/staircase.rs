//! The stairs of the memory staircase, with their values.

use super::axes::Frame;
use super::svg::{Anchor, BOLD, FONT, Svg, text_width};
use crate::chart::{Curves, Spot};
use crate::show;
use instrument::quantity::Unit;

/// Writes the value of each stair next to it, where it hides least of the marks and of both curves. A stair reaches
/// from one mark to the next.
pub(super) fn stairs(
    svg: &mut Svg,
    (chart, second): (&Curves<'_>, &Curves<'_>),
    unit: Option<Unit>,
    frame: &Frame,
) {
    let ends = chart.marks.iter().map(|mark| mark.mark.at);
    let mut from = 0.0;
    for to in ends.chain([f64::INFINITY]) {
        // Next to its ends a stair is on its way to another.
        let is_on = |spot: &&Spot| spot.value.0 > from * 1.3 && spot.value.0 < to * 0.9;
        let stair: Vec<&Spot> = chart.spots().filter(is_on).collect();
        from = to;
        // The largest working set is the farthest from all caches.
        let spot = if to.is_finite() {
            stair.get(stair.len() / 2)
        } else {
            stair.last()
        };
        let Some(spot) = spot else { continue };
        let value = show::value(unit.unwrap_or(Unit::Count), spot.value.1, None);
        let half = text_width(&value) * BOLD / 2.0;
        let (x, y) = (frame.x(spot.at.0), frame.y(spot.at.1));
        // The points and lines that it hides there, and the distance from its point.
        let cost = |(at, middle): &(f64, f64)| {
            let spots = chart.spots().chain(second.spots());
            let spots = spots.filter(|spot| {
                let (across, down) = (frame.x(spot.at.0) - at, frame.y(spot.at.1) - middle);
                across.abs() < half + 3.0 && down.abs() < FONT * 0.8
            });
            let marks = chart.marks.iter();
            let marks = marks.filter(|mark| (frame.x(mark.at) - at).abs() < half + 2.0);
            let away = (at - x).abs() / half + (middle - y).abs() / FONT;
            (spots.count() + marks.count()) as f64 + 0.8 * away
        };
        let is_within = |(x, y): &(f64, f64)| {
            x - half >= frame.left
                && x + half <= frame.right()
                && *y > frame.top
                && *y < frame.bottom()
        };
        let sides = [0.0, -half, half];
        let places = sides.iter().flat_map(|side| {
            [-FONT, FONT, -2.0 * FONT, 2.0 * FONT].map(|above| (x + side, y + above))
        });
        let mut places: Vec<(f64, f64)> = places.filter(is_within).collect();
        places.sort_by(|one, other| cost(one).total_cmp(&cost(other)));
        let mut places = places.into_iter();
        places.any(|(x, y)| svg.label("s0 direct halo", &value, (x, y, Anchor::Middle)));
    }
}
