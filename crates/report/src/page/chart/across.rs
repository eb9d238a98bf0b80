//! The x axis of a figure: numbers on a scale, or names side by side.

use crate::chart::{Domain, Scale, Tick, levels, ticks};
use instrument::figure::{Figure, FigureAxis};
use instrument::point::Level;

/// The x axis of a panel.
pub(super) enum Across<'a> {
    /// Numbers on a scale.
    Numbers {
        /// Pixel positions of the numbers.
        scale: Scale,
        /// Description of the axis.
        axis: &'a FigureAxis,
    },
    /// Names at equal distances.
    Names {
        /// The names, from left to right.
        names: Vec<&'a Level>,
        /// The left and the right end, in pixels.
        span: (f64, f64),
    },
}

impl<'a> Across<'a> {
    /// The x axis of `figure` between two pixels.
    pub(super) fn new(figure: &'a Figure, left: f64, right: f64) -> Self {
        let names = levels(figure);
        let numbers: Option<Vec<f64>> = names
            .iter()
            .map(|level| level.number().map(|number| number as f64))
            .collect();
        let Some(numbers) = numbers else {
            return Self::Names {
                names,
                span: (left, right),
            };
        };
        let kind = figure.x.scale;
        let none = || Domain::around(std::iter::empty(), kind);
        let domain = Domain::along(&figure.x, numbers.into_iter()).unwrap_or_else(none);
        let air = (right - left) * 0.02;
        let scale = domain.between(kind, left + air, right - air);
        Self::Numbers {
            scale,
            axis: &figure.x,
        }
    }

    /// Pixel position of `level`; `None` if this axis has no place for it.
    pub(super) fn position(&self, level: &Level) -> Option<f64> {
        match self {
            Self::Numbers { scale, .. } => scale.position(level.number()? as f64),
            Self::Names { names, span } => {
                let index = names.iter().position(|name| *name == level)?;
                let step = (span.1 - span.0) / names.len() as f64;
                Some(span.0 + (index as f64 + 0.5) * step)
            }
        }
    }

    /// Pixel position of a mark; `None` beyond the axis and among names.
    pub(super) fn mark(&self, value: f64) -> Option<f64> {
        match self {
            Self::Numbers { scale, .. } => scale.contains(value).then(|| scale.position(value))?,
            Self::Names { .. } => None,
        }
    }

    /// Pixel position of an end of a mark's interval, clipped to the axis.
    pub(super) fn mark_end(&self, value: f64) -> Option<f64> {
        match self {
            Self::Numbers { scale, .. } => scale.position(value),
            Self::Names { .. } => None,
        }
    }

    /// Its ticks with their positions, at most `room` of them labelled.
    pub(super) fn ticks(&self, room: usize) -> Vec<(f64, Tick)> {
        match self {
            Self::Numbers { scale, axis } => ticks(scale, axis.unit, room)
                .into_iter()
                .filter_map(|tick| Some((scale.position(tick.value)?, tick)))
                .collect(),
            Self::Names { names, .. } => names
                .iter()
                .filter_map(|name| {
                    let tick = Tick {
                        value: 0.0,
                        label: Some(name.to_string()),
                    };
                    Some((self.position(name)?, tick))
                })
                .collect(),
        }
    }
}
