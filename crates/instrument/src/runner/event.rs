//! Events that a run reports to its observers.

use crate::experiment::Definition;
use crate::noise::Warning;
use crate::point::Point;
use crate::quantity::Nanoseconds;
use crate::results::Estimate;
use crate::sample::Batch;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// An event in a run.
#[derive(Debug)]
pub enum Event<'a> {
    /// An experiment starts.
    Started {
        /// Its description.
        definition: &'a Definition,
        /// Its points.
        points: &'a [Point],
    },
    /// An experiment cannot run here.
    Skipped {
        /// Its description.
        definition: &'a Definition,
        /// The reason.
        reason: &'a str,
    },
    /// A batch is about to be taken at a point.
    Visiting {
        /// The experiment's description.
        definition: &'a Definition,
        /// The point.
        point: &'a Point,
    },
    /// A batch of samples was taken. The run continues after every observer has handled the event.
    Taken {
        /// The experiment's description.
        definition: &'a Definition,
        /// The point.
        point: &'a Point,
        /// The samples.
        batch: &'a Batch,
        /// The estimates of the point so far.
        estimates: &'a [Estimate],
        /// Progress of the run.
        progress: Progress,
    },
    /// No more samples will be taken at a point.
    Closed {
        /// The experiment's description.
        definition: &'a Definition,
        /// The point.
        point: &'a Point,
        /// The reason for closing it.
        ending: &'a Ending,
        /// Reasons to doubt its numbers.
        warnings: &'a [Warning],
    },
    /// An experiment's own time has ended. Its open points may get more time later.
    Finished {
        /// Its description.
        definition: &'a Definition,
    },
    /// The remaining time of all experiments together now goes to the points that are still open.
    Extended {
        /// Number of open points.
        points: usize,
        /// Wall time left for these points together.
        left: Nanoseconds,
    },
}

/// Progress of a run.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Progress {
    /// Closed points of this experiment.
    pub closed: usize,
    /// All points of this experiment.
    pub points: usize,
    /// Predicted remaining wall time of the whole run, from the interval widths so far.
    pub remaining: Nanoseconds,
}

/// The reason for closing a point.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Ending {
    /// Every metric has reached the precision of the profile.
    TargetReached,
    /// The time ran out.
    BudgetUsed,
    /// The user asked to stop.
    Interrupted,
    /// It could not be measured here, for the given reason.
    Failed(String),
}

/// Receives the events of a run.
pub trait Observer {
    /// Handles `event`.
    ///
    /// # Errors
    /// An error ends the run: samples that cannot be stored are not worth taking.
    fn observe(&mut self, event: &Event<'_>) -> Result<(), ObserverError>;
}

/// The error that stops an observer.
pub type ObserverError = Box<dyn std::error::Error + Send + Sync>;
