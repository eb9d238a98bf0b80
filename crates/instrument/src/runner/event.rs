//! Events that a run reports to its observers, and the part of a run that was measured before it stopped.

use crate::experiment::Definition;
use crate::limits::Used;
use crate::noise::Warning;
use crate::plan::Plan;
use crate::point::Point;
use crate::quantity::Nanoseconds;
use crate::results::{Estimate, PointResult};
use crate::sample::Batch;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

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
    /// An experiment gets more points, where its curves bend.
    Refined {
        /// Its description.
        definition: &'a Definition,
        /// The new points.
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
    /// A process of a run with limits is about to start.
    Using {
        /// The resources used so far, with the bytes that the process is expected to write: if the run is
        /// killed before its end, they count as written.
        used: Used,
    },
    /// No more samples will be taken at a point.
    Closed {
        /// The experiment's description.
        definition: &'a Definition,
        /// The point.
        point: &'a Point,
        /// The reason for closing it, and reasons to doubt its numbers.
        closing: &'a Closing,
    },
    /// The time will not suffice for an estimate of every point. Reported once: before the first
    /// pass if earlier runs show the cost of each visit, else after it.
    Scarce {
        /// The experiments with such points, each with their number.
        experiments: &'a [(&'a str, usize)],
        /// Wall time of a whole run that would suffice.
        enough: Nanoseconds,
    },
    /// A pass over all experiments starts.
    Pass {
        /// Its number, counted from 0.
        pass: usize,
        /// The most passes of the run.
        passes: usize,
        /// The number of batches in it.
        visits: usize,
    },
    /// The pass ended.
    PassEnded,
}

/// Progress of a run.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Progress {
    /// The number of this pass, counted from 0.
    pub pass: usize,
    /// The most passes of the run.
    pub passes: usize,
    /// The batches taken in this pass so far.
    pub done: usize,
    /// The batches of this pass.
    pub visits: usize,
    /// Predicted wall time of the run after the process that took this batch.
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

/// The part of a run that was measured before it stopped, and what is left to do.
#[derive(Clone, Debug, Default)]
pub struct Earlier {
    /// The points of the experiments that had started, by the experiment's id; none of one that was skipped. They
    /// may differ from those of the plan: some were added where curves bend. Those that failed stay closed.
    /// Observers know these experiments: no event announces them again.
    pub experiments: BTreeMap<String, Vec<PointRecord>>,
    /// The passes that had begun. The next pass gets this number: it is another window of time, even
    /// if the last one was cut off.
    pub passes_begun: usize,
    /// The most passes to add.
    pub passes_left: usize,
    /// Wall time for the rest of the run.
    pub left: Nanoseconds,
}

impl Earlier {
    /// Nothing was measured: all of `plan` is left.
    pub fn none(plan: &Plan<'_>) -> Self {
        Self {
            passes_left: plan.passes(),
            left: plan.budget(),
            ..Self::default()
        }
    }
}

/// The record of one point.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct PointRecord {
    /// The point.
    pub point: Point,
    /// The batches, in the order in which they were taken.
    pub batches: Vec<Batch>,
    /// The ending of the point; `None` if the run was cut off before it.
    pub closing: Option<Closing>,
}

/// The end of a point's measurement.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Closing {
    /// The reason why sampling ended.
    pub ending: Ending,
    /// Reasons to doubt the point's numbers.
    pub warnings: Vec<Warning>,
}

impl PointRecord {
    /// The reason why it could not be measured, if so.
    pub fn failed(&self) -> Option<&str> {
        match &self.closing.as_ref()?.ending {
            Ending::Failed(reason) => Some(reason),
            _ => None,
        }
    }

    /// The point's estimates and warnings.
    pub fn result(&self, definition: &Definition) -> PointResult {
        let closing = self.closing.as_ref();
        let recorded = closing.map(|closing| closing.warnings.as_slice());
        PointResult::new(definition, &self.point, &self.batches, recorded)
    }
}
