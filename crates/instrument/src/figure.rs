//! Figures: what to draw, without saying how it is drawn.

use crate::estimate::Estimate;
use crate::point::Level;
use crate::quantity::Unit;
use crate::statistics::Interval;

/// A chart of estimates.
#[derive(Clone, Debug, PartialEq)]
pub struct Figure {
    /// Name within its experiment: `bandwidth`.
    pub key: String,
    /// What it shows, as a title.
    pub title: String,
    /// How the points stand to each other.
    pub kind: FigureKind,
    /// What runs from left to right.
    pub x: FigureAxis,
    /// What runs upwards.
    pub y: FigureAxis,
    /// Lines of points, or groups of bars.
    pub series: Vec<Series>,
    /// Places on the x axis that are pointed out.
    pub marks: Vec<Mark>,
}

impl Figure {
    /// The names of the states of a [`FigureKind::Timeline`], each once, in the order in which its
    /// series name them.
    pub fn states(&self) -> Vec<String> {
        let mut states = Vec::new();
        for point in self.series.iter().flat_map(|series| &series.points) {
            let state = point.x.to_string();
            if !state.is_empty() && !states.contains(&state) {
                states.push(state);
            }
        }
        states
    }
}

/// How the points of a figure stand to each other.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FigureKind {
    /// Points along a numeric axis, joined to curves.
    Curve,
    /// Named things side by side.
    Bars,
    /// What several actors do from when to when. Each series is an actor; its points are the states
    /// that it goes through: the x of a point names the state, its estimate is the time at which
    /// the state begins, and the next point ends it. A state without a name is shown as nothing.
    Timeline,
}

/// One axis of a figure.
#[derive(Clone, Debug, PartialEq)]
pub struct FigureAxis {
    /// What it shows.
    pub title: String,
    /// Unit of its numbers; `None` for names.
    pub unit: Option<Unit>,
    /// How it is divided at first; readers can switch.
    pub scale: FigureScale,
}

/// How an axis is divided.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FigureScale {
    /// Equal steps for equal differences, from zero.
    Linear,
    /// Equal steps for equal ratios.
    Logarithmic,
}

/// A line of points or a group of bars.
#[derive(Clone, Debug, PartialEq)]
pub struct Series {
    /// Name for people.
    pub label: String,
    /// In the order of x.
    pub points: Vec<FigurePoint>,
}

/// One estimate in a figure.
#[derive(Clone, Debug, PartialEq)]
pub struct FigurePoint {
    /// Where it stands.
    pub x: Level,
    /// What was estimated.
    pub estimate: Estimate,
    /// Whether a warning touches it.
    pub doubtful: bool,
}

/// A place on the x axis that is pointed out.
#[derive(Clone, Debug, PartialEq)]
pub struct Mark {
    /// What stands there: `L2, as documented`.
    pub label: String,
    /// Where.
    pub at: f64,
    /// The 95 % confidence interval of the place, if it was found and not looked up.
    pub interval: Option<Interval>,
    /// Where it comes from.
    pub origin: MarkOrigin,
}

/// Where a mark comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MarkOrigin {
    /// Found in the data.
    Found,
    /// Stated by the machine or a manual.
    Documented,
}
