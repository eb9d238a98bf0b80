//! The part of a run that was measured before it stopped.

use crate::plan::Plan;
use crate::point::Point;
use crate::quantity::Nanoseconds;
use crate::sample::Batch;
use std::collections::BTreeMap;

/// The part of a run that was measured before it stopped, and what is left to do.
#[derive(Clone, Debug, Default)]
pub struct Earlier {
    /// The experiments that had started or were skipped, by their ids. Observers know them: no
    /// event announces them again.
    pub experiments: BTreeMap<String, EarlierExperiment>,
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
            passes_left: plan.precision.passes,
            left: plan.budget(),
            ..Self::default()
        }
    }
}

/// An experiment of a stopped run.
#[derive(Clone, Debug)]
pub enum EarlierExperiment {
    /// It could not run.
    Skipped,
    /// It has these points, which may differ from those of the plan: some were added where curves
    /// bend.
    Started(Vec<EarlierPoint>),
}

/// A point of a stopped run.
#[derive(Clone, Debug)]
pub struct EarlierPoint {
    /// The point.
    pub point: Point,
    /// Its batches.
    pub batches: Vec<Batch>,
    /// The reason why it could not be measured, if so. It stays closed.
    pub failed: Option<String>,
}
