//! A run: one experiment after the other, and what time they leave over to what is not known yet.

use super::event::{Event, Observer, ObserverError};
use super::executor::Executor;
use super::rounds::Rounds;
use super::spare;
use crate::clock::Clock;
use crate::link::Link;
use crate::plan::Plan;
use crate::statistics::random::Random;
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
    /// Carries out `plan` and tells how it ended.
    ///
    /// # Errors
    /// Those of the observers; failures of experiments and points are events, not errors.
    pub fn run(&mut self, plan: &Plan<'_>) -> Result<Outcome, ObserverError> {
        let mut outcome = Outcome::default();
        let mut random = Random::new(plan.seed);
        let end_ns = self.clock.now_ns() as f64 + plan.budget().0;
        let mut later_ns = plan.budget().0;
        let mut begun = Vec::new();
        for planned in &plan.experiments {
            later_ns -= planned.budget_ns as f64;
            let definition = &planned.definition;
            match &planned.points {
                Err(reason) => {
                    if planned.is_left_out {
                        outcome.left_out += 1;
                    } else {
                        outcome.skipped += 1;
                    }
                    self.tell(&Event::Skipped { definition, reason })?;
                }
                Ok(points) => {
                    outcome.started += 1;
                    self.tell(&Event::Started { definition, points })?;
                    let mut rounds = Rounds::new(planned, plan.precision, points);
                    rounds.run(self, later_ns, &mut random)?;
                    rounds.remove_files(self);
                    self.tell(&Event::Finished { definition })?;
                    begun.push(rounds);
                }
            }
            if self.executor.is_interrupted() {
                break;
            }
        }
        let ending = spare::share(&mut begun, end_ns, self, &mut random)?;
        for rounds in &mut begun {
            rounds.close_all(self, &ending)?;
            outcome.failed += rounds.failed();
            outcome.missing += rounds.missing();
            outcome.beyond += rounds.beyond();
            outcome.unreached += rounds.unreached();
        }
        outcome.interrupted = self.executor.is_interrupted();
        Ok(outcome)
    }

    /// The scratch directory of the experiment `id`, which its workers make.
    pub(super) fn scratch_of(&self, id: &str) -> PathBuf {
        self.scratch.join(id)
    }

    pub(super) fn tell(&mut self, event: &Event<'_>) -> Result<(), ObserverError> {
        self.observers
            .iter_mut()
            .try_for_each(|observer| observer.observe(event))
    }
}
