//! The runner: executes a plan in random rounds until each point reaches its target precision.
//!
//! The way from a plan to a batch:
//!
//! ```text
//! Plan      experiments, their points, target precision, seed
//!   |
//!   v
//! Runner    a round visits each open point once, in random order
//!   |   ^
//!   |   |   Batch: if its estimates reach the target, close the point
//!   |   +---------------------------------------------------------+
//!   | Request: point and Task, a line of JSON on stdin            |
//!   v                                                             |
//! Worker    fresh process, pinned to a processor, one batch       |
//!   |                                                             |
//!   | Experiment::measure(point, sampler)                         |
//!   v                                                             |
//! Sampler   times legs of n or 2n iterations                      |
//!                                                                 |
//!   | 1 |16 |.. | n | n |.. | n |   2n   | n |   2n   |..         |
//!   +-find n----+-warm-up---+--sample 1--+--sample 2--+           |
//!                             ^     ^                             |
//!                     short leg     long leg                      |
//!                                                                 |
//! Messages: samples and remarks on stdout, after the last leg ----+
//! ```

mod event;
mod executor;
mod limited;
mod open;
mod pilot;
mod rounds;
mod run;
mod spare;
mod surroundings;
mod worker;

pub use event::{Ending, Event, Observer, ObserverError, Progress};
pub use executor::{BatchError, Executor, Request};
pub use limited::LimitedExecutor;
pub use surroundings::Surroundings;
pub use worker::{Swap, WorkerExecutor, serve};

use crate::clock::Clock;
use crate::link::Link;
use platform::clock::Calibration;
use std::path::PathBuf;

/// Executes a plan.
///
/// Each round visits every open point of an experiment once, in a new random order, and takes one
/// batch there in a fresh process. So a drift of the machine affects all points alike. A point is
/// closed when each of its metrics reaches the profile's target. Points that are still open when
/// their experiment's time runs out share the time left over at the end of the run.
///
/// The files of one experiment are deleted before the next one starts, since the files of all
/// experiments together may fill the disk.
pub struct Runner<'a> {
    /// The clock for the time budget.
    pub clock: &'a dyn Clock,
    /// Takes the batches.
    pub executor: &'a mut dyn Executor,
    /// Receive every event, in this order.
    pub observers: Vec<&'a mut dyn Observer>,
    /// Resolution and cost of the clock.
    pub calibration: Calibration,
    /// The run's scratch directory, with a subdirectory for each experiment.
    pub scratch: PathBuf,
    /// A second scratch directory, on another machine, if the user named one.
    pub remote: Option<PathBuf>,
    /// A receiver of files on another machine, if the user named one.
    pub link: Option<Link>,
}

/// The outcome of a run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Outcome {
    /// True if the user asked to stop before the end.
    pub interrupted: bool,
    /// Experiments that started.
    pub started: usize,
    /// Experiments that could not run here.
    pub skipped: usize,
    /// Experiments that were left out without a failure: the user did not name something they need,
    /// the limits exclude them, or the question does not arise here.
    pub left_out: usize,
    /// Points at which something failed that should have worked.
    pub failed: usize,
    /// Points that this system does not offer, or that were disturbed in every attempt.
    pub missing: usize,
    /// Points that the limits of the run do not allow.
    pub beyond: usize,
    /// Points for which there was no time.
    pub unreached: usize,
}

impl Runner<'_> {
    /// The scratch directory of the experiment `id`. Its workers create it.
    fn scratch_of(&self, id: &str) -> PathBuf {
        self.scratch.join(id)
    }

    fn tell(&mut self, event: &Event<'_>) -> Result<(), ObserverError> {
        self.observers
            .iter_mut()
            .try_for_each(|observer| observer.observe(event))
    }
}
