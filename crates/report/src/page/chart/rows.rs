//! Shared layout of bars and timelines: rows below each other, values along the x axis.

use super::format::Format;
use super::svg::{Path, Px, Svg};
use crate::chart::{Scale, ticks};
use instrument::figure::Figure;

/// Positions of all parts.
pub(super) struct Layout {
    pub(super) left: f64,
    pub(super) right: f64,
    pub(super) top: f64,
    pub(super) bottom: f64,
    pub(super) scale: Scale,
}

impl Layout {
    /// Draws the value axis below the rows, and its title above them.
    pub(super) fn axis(&self, svg: &mut Svg, figure: &Figure, format: Format) {
        let font = format.font_size();
        let mut grid = Path::default();
        let room = ((self.right - self.left) / (font * 7.0)) as usize;
        for tick in ticks(&self.scale, figure.y.unit, room) {
            let (Some(x), Some(label)) = (self.scale.position(tick.value), tick.label) else {
                continue;
            };
            grid.line([(x, self.top), (x, self.bottom)]);
            svg.text(
                "text",
                &[
                    ("class", &"x-tick"),
                    ("x", &Px(x)),
                    ("y", &Px(self.bottom + font + 4.0)),
                ],
                &label,
            );
        }
        svg.element("path", &[("class", &"grid"), ("d", &grid)]);
        svg.text(
            "text",
            &[
                ("class", &"axis-title"),
                ("x", &Px(self.left)),
                ("y", &Px(font)),
            ],
            &figure.y.title,
        );
    }
}
