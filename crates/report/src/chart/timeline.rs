//! The layout of the states of several actors over time.

use super::scale::{Scale, drawn_centre};
use instrument::figure::{Figure, FigurePoint, FigureScale};

/// One lane for each actor.
pub(crate) struct Timeline {
    /// The axis of time.
    pub(crate) scale: Scale,
    /// The names of the states.
    pub(crate) states: Vec<String>,
    /// The blocks of each lane, in chronological order.
    pub(crate) lanes: Vec<Vec<Block>>,
}

/// A state from its start to its end, as places on the axis of time.
pub(crate) struct Block {
    pub(crate) state: usize,
    pub(crate) from: f64,
    pub(crate) to: f64,
    /// True if a warning touches its start or its end.
    pub(crate) doubtful: bool,
}

impl Timeline {
    /// The lanes of `figure`.
    pub(crate) fn of(figure: &Figure) -> Self {
        let scale = Scale::of_estimates(&figure.y, &figure.series, FigureScale::Linear);
        let states = figure.states();
        let place = |point: &FigurePoint| scale.position(drawn_centre(&point.estimate)?);
        let block = |pair: &[FigurePoint]| {
            let state = pair[0].x.to_string();
            Some(Block {
                state: states.iter().position(|known| *known == state)?,
                from: place(&pair[0])?,
                to: place(&pair[1])?,
                doubtful: pair.iter().any(|point| point.doubtful),
            })
        };
        let series = figure.series.iter();
        let lanes = series
            .map(|series| series.points.windows(2).filter_map(block).collect())
            .collect();
        Self {
            scale,
            states,
            lanes,
        }
    }
}

/// The points with a place in time, each with the index of its lane, in chronological order.
pub(crate) fn moments(figure: &Figure) -> Vec<(usize, &FigurePoint)> {
    let lanes = figure.series.iter().enumerate();
    let mut moments: Vec<_> = lanes
        .flat_map(|(lane, series)| series.points.iter().map(move |point| (lane, point)))
        .filter(|(_, point)| drawn_centre(&point.estimate).is_some())
        .collect();
    moments.sort_by(|(_, one), (_, other)| one.estimate.centre.total_cmp(&other.estimate.centre));
    moments
}
