//! Parts that all plots with a y axis share: its lines and labels, and the band of intervals.

use super::format::Format;
use super::svg::{Path, Px, Svg, text_width};
use crate::chart::{Scale, ticks};
use instrument::quantity::Unit;

/// A y axis with room for so many labels.
pub(super) struct YAxis<'s> {
    pub(super) scale: &'s Scale,
    pub(super) unit: Option<Unit>,
    pub(super) room: usize,
    pub(super) format: Format,
}

impl YAxis<'_> {
    /// Width of the widest label.
    pub(super) fn label_width(&self) -> f64 {
        let labels = ticks(self.scale, self.unit, self.room).into_iter();
        labels
            .filter_map(|tick| tick.label)
            .map(|label| text_width(&label, self.format.font_size()))
            .fold(0.0, f64::max)
    }

    /// Draws a line across a plot of `width` at each labelled tick; the labels to the left of it if
    /// `is_labelled`.
    pub(super) fn draw(&self, svg: &mut Svg, (left, width): (f64, f64), is_labelled: bool) {
        let mut grid = Path::default();
        for tick in ticks(self.scale, self.unit, self.room) {
            let (Some(y), Some(label)) = (self.scale.position(tick.value), tick.label) else {
                continue;
            };
            grid.line([(left, y), (left + width, y)]);
            if is_labelled {
                svg.text(
                    "text",
                    &[
                        ("class", &"y-tick"),
                        ("x", &Px(left - 8.0)),
                        ("y", &Px(y + self.format.font_size() * 0.35)),
                    ],
                    &label,
                );
            }
        }
        svg.element("path", &[("class", &"grid"), ("d", &grid)]);
    }
}

/// An interval: its x, and the y of its lower and its upper end.
pub(super) type Reach = (f64, f64, f64);

/// The intervals of neighbouring points as one band, interrupted at points without an interval.
pub(super) fn band(reaches: &[Option<Reach>]) -> Path {
    /// Half the width of an interval without neighbours.
    const ALONE: f64 = 2.0;
    let mut path = Path::default();
    for run in reaches.split(Option::is_none) {
        let run: Vec<_> = run.iter().flatten().collect();
        let upper = run.iter().map(|(x, _, high)| (*x, *high));
        let lower = run.iter().rev().map(|(x, low, _)| (*x, *low));
        if let [(x, low, high)] = run.as_slice() {
            path.area([
                (x - ALONE, *low),
                (x + ALONE, *low),
                (x + ALONE, *high),
                (x - ALONE, *high),
            ]);
        } else if !run.is_empty() {
            path.area(upper.chain(lower));
        }
    }
    path
}
