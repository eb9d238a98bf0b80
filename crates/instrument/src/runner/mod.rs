//! The runner: executes a plan in random passes over all its points.
//!
//! The way from a plan to a batch:
//!
//! ```text
//! Plan      experiments, their points, target precision, seed
//!   |
//!   v
//! Runner    a pass visits the points of all experiments, in random order;
//!   |   ^   ten passes or more fill the time of the run
//!   |   |
//!   |   |   Batches: the samples of one process, by point
//!   |   +---------------------------------------------------------+
//!   | Request: points and Task, a line of JSON on stdin           |
//!   v                                                             |
//! Worker    fresh process, pinned to a processor                  |
//!   |                                                             |
//!   | Experiment::measure(point, sampler), for each point         |
//!   v                                                             |
//! Sampler   times legs of n iterations, with reference loops      |
//!                                                                 |
//!   | 1 |16 |.. | n | n |.. |r|  n  |r|n/16|r|  n  |r|  n  |r|..  |
//!   +-find n----+-warm-up---+---legs, short legs, references---   |
//!                                                                 |
//! Messages: samples and remarks on stdout, after the last leg ----+
//! ```

mod event;
mod executor;
mod limited;
mod passes;
mod refine;
mod running;
mod surroundings;
mod worker;

pub use event::{Closing, Earlier, Ending, Event, Observer, ObserverError, PointRecord, Progress};
pub use executor::{BatchError, Executor, Request};
pub use limited::LimitedExecutor;
pub use surroundings::Surroundings;
pub use worker::{Swap, WorkerExecutor, serve};

use passes::Passes;
use running::RunningExperiment;

use crate::clock::{Calibration, Clock};
use crate::given::Givens;
use crate::plan::{Plan, VisitCosts};
use crate::sample::FullSpeed;
use platform::machine::Topology;
use std::path::PathBuf;

/// Executes a plan.
///
/// A pass visits the points of all experiments in a new random order, and takes one batch at each
/// visit. A fresh process visits one point, or several of one experiment that may share it
/// ([`Experiment::shares_process`](crate::experiment::Experiment::shares_process)). The passes fill the time of the run: so drift of the machine, other
/// programs and the state of the file system are part of every interval. Points that the plan puts first have
/// passes of their own, before all others. The first pass over all visits each
/// point once, as far as half of the time suffices. Then the time goes first to the
/// visits that an estimate needs, then to one visit in each pass, then to the points that are not
/// known well enough.
///
/// The files of an experiment are kept between its visits if the disk has room for the files of all
/// experiments.
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
    /// The things that only the user can name.
    pub given: Givens,
    /// The types of the machine's cores.
    pub topology: Topology,
    /// The full speed of each type of core in earlier runs of this machine.
    pub full_speeds: Vec<FullSpeed>,
    /// Wall time of visits in earlier runs of this machine.
    pub visit_costs: VisitCosts,
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

    fn announce(&mut self, event: &Event<'_>) -> Result<(), ObserverError> {
        self.observers
            .iter_mut()
            .try_for_each(|observer| observer.observe(event))
    }

    /// Executes `plan` and returns its outcome.
    ///
    /// # Errors
    /// Those of the observers; failures of experiments and points are events, not errors.
    pub fn run(&mut self, plan: &Plan<'_>) -> Result<Outcome, ObserverError> {
        self.resume(plan, &Earlier::none(plan))
    }

    /// Executes the rest of `plan`, which was stopped after `earlier`, and returns the outcome of the
    /// whole run. Points that were never visited come first.
    ///
    /// # Errors
    /// Those of [`Runner::run`].
    pub fn resume(&mut self, plan: &Plan<'_>, earlier: &Earlier) -> Result<Outcome, ObserverError> {
        let mut outcome = Outcome::default();
        let begun = self.begin(plan, earlier, &mut outcome)?;
        let mut passes = Passes::new(plan, earlier, begun, self);
        passes.make(self)?;
        outcome.interrupted = self.executor.is_interrupted();
        let ending = if outcome.interrupted {
            Ending::Interrupted
        } else {
            Ending::BudgetUsed
        };
        for measured in &mut passes.experiments {
            measured.remove_files(self);
            measured.close_all(self, &ending)?;
            measured.count_in(&mut outcome);
        }
        Ok(outcome)
    }

    /// Starts or skips each experiment of the plan, unless that was done earlier.
    fn begin<'p>(
        &mut self,
        plan: &'p Plan<'p>,
        earlier: &Earlier,
        outcome: &mut Outcome,
    ) -> Result<Vec<RunningExperiment<'p>>, ObserverError> {
        let mut begun = Vec::new();
        for planned in &plan.experiments {
            let definition = &planned.definition;
            let skipped = if planned.is_left_out {
                &mut outcome.left_out
            } else {
                &mut outcome.skipped
            };
            match (earlier.experiments.get(&definition.id), &planned.points) {
                (Some(points), _) if points.is_empty() => *skipped += 1,
                (Some(points), _) => {
                    outcome.started += 1;
                    begun.push(RunningExperiment::earlier(planned, plan.precision, points));
                }
                (None, Err(reason)) => {
                    *skipped += 1;
                    self.announce(&Event::Skipped { definition, reason })?;
                }
                (None, Ok(points)) => {
                    outcome.started += 1;
                    self.announce(&Event::Started { definition, points })?;
                    let costs = &self.visit_costs;
                    let mut measured =
                        RunningExperiment::new(planned, plan.precision, points, costs);
                    measured.close_beyond(self)?;
                    begun.push(measured);
                }
            }
        }
        Ok(begun)
    }
}
