//! Figures: the content of charts, independent of the drawing.

use crate::definition::Metric;
use crate::estimate::Estimate;
use crate::point::{Axis, AxisOf, Level, LevelOf};
use crate::quantity::{Quantity, Unit};
use crate::statistics::Interval;
use serde::{Deserialize, Serialize};

/// A chart of estimates.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Figure {
    /// Name within its experiment: `bandwidth`.
    pub key: String,
    /// Title.
    pub title: String,
    /// Type of chart.
    pub kind: FigureKind,
    /// The horizontal axis.
    pub x: FigureAxis,
    /// The vertical axis.
    pub y: FigureAxis,
    /// Curves, groups of bars, or columns of a matrix.
    pub series: Vec<Series>,
    /// Highlighted positions on the x axis.
    pub marks: Vec<Mark>,
}

impl Figure {
    /// The points of all its series.
    pub fn points(&self) -> impl Iterator<Item = &FigurePoint> {
        self.series.iter().flat_map(|series| &series.points)
    }

    /// The state names of a [`FigureKind::Timeline`], each once, in order of first use by its
    /// series.
    pub fn states(&self) -> Vec<String> {
        let mut states = Vec::new();
        for point in self.points() {
            let state = point.x.to_string();
            if !state.is_empty() && !states.contains(&state) {
                states.push(state);
            }
        }
        states
    }
}

/// Type of chart.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum FigureKind {
    /// Points along a numeric axis, connected by lines.
    Curve,
    /// One bar for each name.
    Bars,
    /// Activity of several actors over time. Each series is an actor and its points are states: the
    /// x of a point names the state, its estimate is the state's start time, and the next point
    /// ends it. A state without a name is left blank.
    Timeline,
    /// A cell for each pair of names, coloured by its value. The x of a point names its row, and its
    /// series is its column. A pair without a point is a blank cell.
    Matrix,
}

/// One axis of a figure.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct FigureAxis {
    /// Title.
    pub title: String,
    /// Unit of its numbers; `None` for names.
    pub unit: Option<Unit>,
    /// Initial scale; readers can switch it.
    pub scale: FigureScale,
}

impl FigureAxis {
    /// An axis with a title of its own.
    pub fn new(title: impl Into<String>, unit: Option<Unit>, scale: FigureScale) -> Self {
        Self {
            title: title.into(),
            unit,
            scale,
        }
    }
}

impl<L: LevelOf> From<AxisOf<L>> for FigureAxis {
    /// Along an axis of an experiment: names, or numbers in equal ratios.
    fn from(axis: AxisOf<L>) -> Self {
        let axis = Axis::from(&axis.axis());
        let unit = axis.unit();
        let scale = unit.map_or(FigureScale::Linear, |_| FigureScale::Logarithmic);
        Self::new(axis.title, unit, scale)
    }
}

impl From<Metric<&'static str>> for FigureAxis {
    /// Along the values of a metric, in equal ratios.
    fn from(metric: Metric<&'static str>) -> Self {
        Self::new(metric.title, Some(metric.unit), FigureScale::Logarithmic)
    }
}

/// Scale of an axis.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum FigureScale {
    /// Equal steps for equal differences, from zero.
    Linear,
    /// Equal steps for equal ratios.
    Logarithmic,
}

/// A curve or a group of bars.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Series {
    /// Name for readers.
    pub label: String,
    /// In the order of x.
    pub points: Vec<FigurePoint>,
}

/// One estimate in a figure.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct FigurePoint {
    /// Position on the x axis.
    pub x: Level,
    /// The estimate there.
    pub estimate: Estimate,
    /// True if a warning concerns this estimate.
    pub doubtful: bool,
}

/// A highlighted position on the x axis.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Mark {
    /// Label: `L2, as documented`.
    pub label: String,
    /// Position.
    pub at: f64,
    /// The 95 % interval of the position, if it was found in the data: at least from the measured place before
    /// it to the one behind it.
    pub interval: Option<Interval>,
    /// Origin of the position.
    pub origin: MarkOrigin,
}

impl Mark {
    /// The mark of a place that the data show, with the places between which it lies.
    pub fn found(label: &str, place: impl Into<Quantity>) -> Self {
        let place = place.into();
        Self {
            label: label.into(),
            at: place.value,
            interval: place.interval,
            origin: MarkOrigin::Found,
        }
    }
}

/// Origin of a mark.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum MarkOrigin {
    /// Found in the data.
    Found,
    /// Documented by the machine or a manual.
    Documented,
}
