//! The shapes that distinguish series without relying on colour.

use super::svg::{Path, Svg, px};

/// Number of series with their own colour and shape; if there are more, each series has its own
/// panel.
pub(crate) const STYLES: usize = 6;

/// The CSS class for the colour of series `index`.
pub(crate) fn class(index: usize) -> String {
    format!("s{}", index % STYLES)
}

/// The outline of the marker of series `index` around a position, about `2 * r` high and wide.
pub(crate) fn outline(index: usize, x: f64, y: f64, r: f64) -> String {
    let corners: &[(f64, f64)] = match index % STYLES {
        0 => {
            let (left, y) = (px(x - r), px(y));
            let (r, across) = (px(r), px(2.0 * r));
            return format!("M{left} {y}a{r} {r} 0 1 0 {across} 0a{r} {r} 0 1 0-{across} 0z");
        }
        1 => &[(-0.9, -0.9), (0.9, -0.9), (0.9, 0.9), (-0.9, 0.9)],
        2 => &[(0.0, -1.2), (1.15, 0.8), (-1.15, 0.8)],
        3 => &[(0.0, -1.3), (1.3, 0.0), (0.0, 1.3), (-1.3, 0.0)],
        4 => &[(0.0, 1.2), (1.15, -0.8), (-1.15, -0.8)],
        // A plus sign whose arms are as thick as they are long.
        _ => &[
            (-0.4, -1.2),
            (0.4, -1.2),
            (0.4, -0.4),
            (1.2, -0.4),
            (1.2, 0.4),
            (0.4, 0.4),
            (0.4, 1.2),
            (-0.4, 1.2),
            (-0.4, 0.4),
            (-1.2, 0.4),
            (-1.2, -0.4),
            (-0.4, -0.4),
        ],
    };
    let mut path = Path::default();
    path.area(corners.iter().map(|(dx, dy)| (x + dx * r, y + dy * r)));
    path.to_string()
}

impl Svg {
    /// Opens the group of a series, which readers can hide.
    pub(super) fn open_series(&mut self, index: usize, style: usize) {
        let class = format!("series {}", class(style));
        self.open("g", &[("class", &class), ("data-series", &index)]);
    }

    /// The marker of series `style` for the level `index`.
    pub(super) fn marker(
        &mut self,
        (style, index): (usize, usize),
        x: f64,
        y: f64,
        r: f64,
        doubtful: bool,
    ) {
        let class = if doubtful { "m doubtful" } else { "m" };
        let shape = outline(style, x, y, r);
        self.element(
            "path",
            &[("class", &class), ("data-i", &index), ("d", &shape)],
        );
    }
}

/// A marker as a standalone SVG, for a legend.
pub(crate) fn swatch(index: usize) -> String {
    format!(
        "<svg class=\"swatch {}\" viewBox=\"0 0 24 12\" width=\"24\" height=\"12\" \
         aria-hidden=\"true\"><path class=\"line\" d=\"M0 6H24\"/><path class=\"m\" d=\"{}\"/></svg>",
        class(index),
        outline(index, 12.0, 6.0, 4.0)
    )
}
