//! What a run tells while it goes on.

use crate::experiment::Definition;
use crate::noise::Warning;
use crate::point::Point;
use crate::quantity::Nanoseconds;
use crate::results::Estimate;
use crate::sample::Batch;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Something that happened in a run.
#[derive(Debug)]
pub enum Event<'a> {
    /// An experiment begins.
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
        /// Why.
        reason: &'a str,
    },
    /// A batch is about to be taken at a point.
    Visiting {
        /// The experiment's description.
        definition: &'a Definition,
        /// The point.
        point: &'a Point,
    },
    /// A batch of samples was taken. The run goes on when every observer has dealt with it.
    Taken {
        /// The experiment's description.
        definition: &'a Definition,
        /// The point.
        point: &'a Point,
        /// The samples.
        batch: &'a Batch,
        /// What is known of the point so far.
        estimates: &'a [Estimate],
        /// How far the run is.
        progress: Progress,
    },
    /// No more samples will be taken at a point.
    Closed {
        /// The experiment's description.
        definition: &'a Definition,
        /// The point.
        point: &'a Point,
        /// Why it was closed.
        ending: &'a Ending,
        /// What casts doubt on its numbers.
        warnings: &'a [Warning],
    },
    /// An experiment's own time has ended. Its points that are still open may get more.
    Finished {
        /// Its description.
        definition: &'a Definition,
    },
    /// The time that all experiments together have left over begins, for points that are still open.
    Extended {
        /// How many there are.
        points: usize,
        /// Wall time that they may take together.
        left: Nanoseconds,
    },
}

/// How far a run is.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Progress {
    /// Points of this experiment that are closed.
    pub closed: usize,
    /// Points of this experiment.
    pub points: usize,
    /// Wall time that the whole run will still take, as the intervals so far predict it.
    pub remaining: Nanoseconds,
}

/// Why no more samples are taken at a point.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Ending {
    /// Every metric is known as well as the profile asks.
    TargetReached,
    /// The time is used up.
    BudgetUsed,
    /// Someone asked to stop.
    Interrupted,
    /// It could not be measured here, and why.
    Failed(String),
}

/// Learns what happens in a run.
pub trait Observer {
    /// Takes notice of `event`.
    ///
    /// # Errors
    /// An error ends the run: what cannot be kept is not worth measuring.
    fn observe(&mut self, event: &Event<'_>) -> Result<(), ObserverError>;
}

/// Why an observer could not go on.
pub type ObserverError = Box<dyn std::error::Error + Send + Sync>;
