//! The layout of bars: named items below each other.

use super::curves::Spot;
use super::levels::{levels, show_level};
use super::scale::Scale;
use instrument::figure::{Figure, FigurePoint, FigureScale};
use instrument::quantity::Unit;

pub(crate) struct Bars<'f> {
    /// The axis of values.
    pub(crate) scale: Scale,
    /// The place where bars begin: that of zero, or of no difference; the edge of an axis without any.
    pub(crate) base: f64,
    /// The names of the levels, from top to bottom.
    pub(crate) groups: Vec<String>,
    /// By level, and within a level by series.
    pub(crate) rows: Vec<Bar<'f>>,
}

pub(crate) struct Bar<'f> {
    /// The index of its level.
    pub(crate) group: usize,
    pub(crate) series: usize,
    pub(crate) point: &'f FigurePoint,
    /// Its value on the axis; `None` if it has no place.
    pub(crate) spot: Option<Spot>,
}

impl<'f> Bars<'f> {
    /// `figure` with its values scaled by `kind`.
    pub(crate) fn of(figure: &'f Figure, kind: FigureScale) -> Self {
        let levels = levels(figure);
        let scale = Scale::of_estimates(&figure.y, &figure.series, kind);
        let mut rows = Vec::new();
        for (group, level) in levels.iter().enumerate() {
            for (series, of) in figure.series.iter().enumerate() {
                let points = of.points.iter().filter(|point| point.x == **level);
                rows.extend(points.map(|point| Bar {
                    group,
                    series,
                    point,
                    spot: Spot::new(group, (0.0, 0.0), point, &scale),
                }));
            }
        }
        let name = |level| show_level(&figure.x, level);
        let base = match figure.y.unit {
            Some(Unit::Ratio) if kind == FigureScale::Logarithmic => scale.position(1.0),
            _ => scale.position(0.0),
        };
        Self {
            base: base.unwrap_or(0.0),
            scale,
            groups: levels.into_iter().map(name).collect(),
            rows,
        }
    }
}
