//! The runner: carries out a plan, point by point in random rounds, until each is known well enough.

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

/// Carries out a plan.
///
/// Each round visits every open point of an experiment once, in an order drawn anew, and takes one
/// batch there in a fresh process; so a drift of the machine spreads over all points alike. A point
/// is closed when each of its metrics is known to the profile's target. Those that are still open
/// when their experiment's time is used up share what the run has left over in the end.
///
/// The files of one experiment are removed before the next is begun: those of all might fill the disk.
pub struct Runner<'a> {
    /// Tells the time that the budget counts.
    pub clock: &'a dyn Clock,
    /// Takes the batches.
    pub executor: &'a mut dyn Executor,
    /// Learns of every event, in this order.
    pub observers: Vec<&'a mut dyn Observer>,
    /// Resolution and cost of the clock.
    pub calibration: Calibration,
    /// The run's scratch directory, in which each experiment has one of its own.
    pub scratch: PathBuf,
    /// A second one on another machine, if there is one.
    pub remote: Option<PathBuf>,
    /// A receiver of files on another machine, if there is one.
    pub link: Option<Link>,
}

/// How a run ended.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Outcome {
    /// Whether someone asked to stop before the end.
    pub interrupted: bool,
    /// Experiments that were begun.
    pub started: usize,
    /// Experiments that could not run here.
    pub skipped: usize,
    /// Experiments that were left out, since the user did not name what they need or set limits that
    /// keep them out, or since the question does not arise here.
    pub left_out: usize,
    /// Points at which something failed that should have worked.
    pub failed: usize,
    /// Points that this system does not offer, or does not leave in peace.
    pub missing: usize,
    /// Points that the limits of the run do not allow.
    pub beyond: usize,
    /// Points for which there was no time.
    pub unreached: usize,
}

impl Runner<'_> {
    /// The scratch directory of the experiment `id`, which its workers make.
    fn scratch_of(&self, id: &str) -> PathBuf {
        self.scratch.join(id)
    }

    fn tell(&mut self, event: &Event<'_>) -> Result<(), ObserverError> {
        self.observers
            .iter_mut()
            .try_for_each(|observer| observer.observe(event))
    }
}
