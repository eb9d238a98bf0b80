//! The shapes that tell series apart, also for those who cannot tell colours.

use super::svg::Px;

/// How many series have a colour and a shape of their own; beyond it, each gets a panel of its own.
pub(crate) const STYLES: usize = 6;

/// The class that gives series `index` its colour.
pub(crate) fn class(index: usize) -> String {
    format!("s{}", index % STYLES)
}

/// The outline of the marker of series `index` around a place, about `2 * r` high and wide.
pub(crate) fn outline(index: usize, x: f64, y: f64, r: f64) -> String {
    let at = |dx: f64, dy: f64| format!("M{} {}", Px(x + dx * r), Px(y + dy * r));
    let by = |dx: f64, dy: f64| format!("l{} {}", Px(dx * r), Px(dy * r));
    match index % STYLES {
        0 => {
            let (r, across) = (Px(r), Px(2.0 * r));
            format!(
                "{}a{r} {r} 0 1 0 {across} 0a{r} {r} 0 1 0 -{across} 0z",
                at(-1.0, 0.0)
            )
        }
        1 => format!(
            "{}{}{}{}z",
            at(-0.9, -0.9),
            by(1.8, 0.0),
            by(0.0, 1.8),
            by(-1.8, 0.0)
        ),
        2 => format!("{}{}{}z", at(0.0, -1.2), by(1.15, 2.0), by(-2.3, 0.0)),
        3 => format!(
            "{}{}{}{}z",
            at(0.0, -1.3),
            by(1.3, 1.3),
            by(-1.3, 1.3),
            by(-1.3, -1.3)
        ),
        4 => format!("{}{}{}z", at(0.0, 1.2), by(1.15, -2.0), by(-2.3, 0.0)),
        _ => {
            // A plus, its arms as thick as they are long.
            let arms: [(f64, f64); 11] = [
                (0.8, 0.0),
                (0.0, 0.8),
                (0.8, 0.0),
                (0.0, 0.8),
                (-0.8, 0.0),
                (0.0, 0.8),
                (-0.8, 0.0),
                (0.0, -0.8),
                (-0.8, 0.0),
                (0.0, -0.8),
                (0.8, 0.0),
            ];
            let corners: String = arms.iter().map(|&(dx, dy)| by(dx, dy)).collect();
            format!("{}{corners}z", at(-0.4, -1.2))
        }
    }
}

/// A marker as a picture of its own, for a legend.
pub(crate) fn swatch(index: usize) -> String {
    format!(
        "<svg class=\"swatch {}\" viewBox=\"0 0 24 12\" width=\"24\" height=\"12\" \
         aria-hidden=\"true\"><path class=\"line\" d=\"M0 6H24\"/><path class=\"m\" d=\"{}\"/></svg>",
        class(index),
        outline(index, 12.0, 6.0, 4.0)
    )
}
