//! The line of a curve.

use super::svg::{Path, Svg};
use crate::chart::Lines;

/// Draws the line of a curve: solid where it joins neighbours, in another style across cliffs.
pub(super) fn draw(svg: &mut Svg, lines: Lines) {
    let solid = Path::lines(lines.solid);
    svg.element("path", &[("class", &"line"), ("d", &solid)]);
    if !lines.cliffs.is_empty() {
        let cliffs = Path::lines(lines.cliffs);
        svg.element("path", &[("class", &"line cliff"), ("d", &cliffs)]);
    }
}
