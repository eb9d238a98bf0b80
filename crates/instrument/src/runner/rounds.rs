//! Rounds: the order in which points are visited, and when each is left.

use super::event::{Ending, Event, Observer, ObserverError, Progress};
use super::executor::{BatchError, Executor, Request};
use super::pilot;
use crate::clock::Clock;
use crate::experiment::{Definition, Isolation};
use crate::noise::{self, Warning};
use crate::plan::{Plan, Planned, Precision};
use crate::point::Point;
use crate::quantity::Nanoseconds;
use crate::results::Estimate;
use crate::sample::Batch;
use crate::sampler::Task;
use crate::statistics::{self, random::Random};
use platform::clock::Calibration;
use std::path::PathBuf;

/// Carries out a plan.
///
/// Each round visits every open point of an experiment once, in an order drawn anew, and takes one
/// batch there in a fresh process; so a drift of the machine spreads over all points alike. A point
/// is closed when each of its metrics is known to the profile's target, and all are when the
/// experiment's time is used up.
pub struct Runner<'a> {
    /// Tells the time that the budget counts.
    pub clock: &'a dyn Clock,
    /// Takes the batches.
    pub executor: &'a mut dyn Executor,
    /// Learns of every event, in this order.
    pub observers: Vec<&'a mut dyn Observer>,
    /// Resolution and cost of the clock.
    pub calibration: Calibration,
    /// The run's scratch directory.
    pub scratch: PathBuf,
    /// A second one on another machine, if there is one.
    pub remote: Option<PathBuf>,
}

/// How a run ended.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Outcome {
    /// Whether someone asked to stop before the end.
    pub interrupted: bool,
    /// Experiments that could not run here.
    pub skipped: usize,
    /// Experiments that were left out, since the user did not name what they need.
    pub left_out: usize,
    /// Points that could not be measured here, or not in the time there was.
    pub failed: usize,
}

/// A point that is being measured.
struct Open<'p> {
    point: &'p Point,
    batches: Vec<Batch>,
    estimates: Vec<Estimate>,
    foretold: Option<statistics::plan::Plan>,
    ending: Option<Ending>,
}

impl Runner<'_> {
    /// Carries out `plan` and tells how it ended.
    ///
    /// # Errors
    /// Those of the observers; failures of experiments and points are events, not errors.
    pub fn run(&mut self, plan: &Plan<'_>) -> Result<Outcome, ObserverError> {
        let mut outcome = Outcome::default();
        let mut random = Random::new(plan.seed);
        let mut later_ns = plan.budget().0;
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
                    self.tell(&Event::Started { definition, points })?;
                    let mut experiment = Rounds {
                        planned,
                        precision: plan.precision,
                        started_ns: self.clock.now_ns(),
                        later_ns,
                        open: points.iter().map(Open::new).collect(),
                    };
                    experiment.run(self, &mut random)?;
                    outcome.failed += experiment.failed();
                    self.tell(&Event::Finished { definition })?;
                }
            }
            if self.executor.is_interrupted() {
                outcome.interrupted = true;
                break;
            }
        }
        Ok(outcome)
    }

    fn tell(&mut self, event: &Event<'_>) -> Result<(), ObserverError> {
        self.observers
            .iter_mut()
            .try_for_each(|observer| observer.observe(event))
    }
}

/// The rounds of one experiment.
struct Rounds<'p> {
    planned: &'p Planned<'p>,
    precision: Precision,
    started_ns: u64,
    /// Wall time that the experiments after this one may take.
    later_ns: f64,
    open: Vec<Open<'p>>,
}

impl Rounds<'_> {
    fn run(&mut self, runner: &mut Runner<'_>, random: &mut Random) -> Result<(), ObserverError> {
        loop {
            let mut order: Vec<usize> = (0..self.open.len())
                .filter(|&index| self.open[index].ending.is_none())
                .collect();
            if order.is_empty() {
                return Ok(());
            }
            random.shuffle(&mut order);
            for index in order {
                if runner.executor.is_interrupted() {
                    return self.close_all(runner, &Ending::Interrupted);
                }
                if self.spent_ns(runner) >= self.planned.budget_ns as f64 {
                    return self.close_all(runner, &Ending::BudgetUsed);
                }
                self.visit(index, runner, random.bits())?;
            }
        }
    }

    /// Takes one batch at a point, and closes the point if that is enough or impossible.
    fn visit(
        &mut self,
        index: usize,
        runner: &mut Runner<'_>,
        seed: u64,
    ) -> Result<(), ObserverError> {
        let definition = &self.planned.definition;
        let point = self.open[index].point;
        runner.tell(&Event::Visiting { definition, point })?;
        let request = self.request(index, runner, seed);
        match runner.executor.execute(&request) {
            Ok(batch) => {
                self.open[index].add(definition, batch, self.precision);
                self.report(index, runner)?;
                if self.is_known(&self.open[index]) {
                    self.close(index, runner, Ending::TargetReached)?;
                }
                Ok(())
            }
            Err(BatchError::Interrupted) => self.close(index, runner, Ending::Interrupted),
            Err(error) => self.close(index, runner, Ending::Failed(error.to_string())),
        }
    }

    fn request(&self, index: usize, runner: &Runner<'_>, seed: u64) -> Request {
        let open = &self.open[index];
        let task = Task {
            samples: open
                .foretold
                .map_or(self.precision.samples, |plan| plan.samples_per_process),
            sample_ns: self.precision.sample_ns,
            batch_ns: self.precision.batch_ns,
            calibration: runner.calibration.clone(),
            scratch: runner.scratch.clone(),
            remote: runner.remote.clone(),
            seed,
        };
        let task = match self.planned.definition.isolation {
            Isolation::FreshProcess => task,
            // The only process takes all that the point's time holds.
            Isolation::OneProcess => Task {
                samples: usize::MAX,
                batch_ns: self.planned.budget_ns / self.open.len() as u64,
                ..task
            },
        };
        Request {
            experiment: self.planned.definition.id.clone(),
            point: open.point.clone(),
            confinement: self.planned.experiment.confinement(open.point),
            task,
        }
    }

    fn report(&self, index: usize, runner: &mut Runner<'_>) -> Result<(), ObserverError> {
        let open = &self.open[index];
        let closed = self
            .open
            .iter()
            .filter(|open| open.ending.is_some())
            .count();
        let progress = Progress {
            closed: closed + usize::from(self.is_known(open)),
            points: self.open.len(),
            remaining: self.remaining(runner),
        };
        let batch = open.batches.last().expect("a batch was just added");
        runner.tell(&Event::Taken {
            definition: &self.planned.definition,
            point: open.point,
            batch,
            estimates: &open.estimates,
            progress,
        })
    }

    fn close_all(&mut self, runner: &mut Runner<'_>, ending: &Ending) -> Result<(), ObserverError> {
        for index in 0..self.open.len() {
            if self.open[index].ending.is_none() {
                self.close(index, runner, ending.clone())?;
            }
        }
        Ok(())
    }

    fn close(
        &mut self,
        index: usize,
        runner: &mut Runner<'_>,
        ending: Ending,
    ) -> Result<(), ObserverError> {
        let definition = &self.planned.definition;
        let open = &mut self.open[index];
        let estimates = &open.estimates;
        let mut warnings = noise::judge(definition, estimates, &open.batches);
        if ending == Ending::BudgetUsed || ending == Ending::Interrupted {
            let missed = estimates
                .iter()
                .filter(|estimate| !estimate.is_within(self.precision.target));
            warnings.extend(missed.map(|estimate| Warning::TargetMissed {
                metric: estimate.metric.clone(),
                reached: estimate.relative_half_width(),
                target: self.precision.target,
            }));
        }
        let point = open.point;
        let ending = &*open.ending.insert(ending);
        runner.tell(&Event::Closed {
            definition,
            point,
            ending,
            warnings: &warnings,
        })
    }

    fn is_known(&self, open: &Open<'_>) -> bool {
        if self.planned.definition.isolation == Isolation::OneProcess {
            return !open.batches.is_empty();
        }
        open.batches.len() >= self.precision.min_processes
            && open
                .estimates
                .iter()
                .all(|estimate| estimate.is_within(self.precision.target))
    }

    fn failed(&self) -> usize {
        let failed = |open: &&Open<'_>| match &open.ending {
            Some(Ending::Failed(_)) => true,
            Some(Ending::BudgetUsed) => open.batches.is_empty(),
            _ => false,
        };
        self.open.iter().filter(failed).count()
    }

    fn spent_ns(&self, runner: &Runner<'_>) -> f64 {
        runner.clock.now_ns().saturating_sub(self.started_ns) as f64
    }

    /// What the intervals so far predict, but no more than the time that is left.
    fn remaining(&self, runner: &Runner<'_>) -> Nanoseconds {
        let left_ns = (self.planned.budget_ns as f64 - self.spent_ns(runner)).max(0.0);
        let taken = self
            .open
            .iter()
            .map(|open| open.batches.len())
            .sum::<usize>();
        let batch_ns = self.spent_ns(runner) / taken.max(1) as f64;
        let open = self.open.iter().filter(|open| open.ending.is_none());
        let wanted: f64 = open.map(|open| open.batches_wanted(self.precision)).sum();
        Nanoseconds(f64::min(wanted * batch_ns, left_ns) + self.later_ns)
    }
}

impl<'p> Open<'p> {
    fn new(point: &'p Point) -> Self {
        Self {
            point,
            batches: Vec::new(),
            estimates: Vec::new(),
            foretold: None,
            ending: None,
        }
    }

    fn add(&mut self, definition: &Definition, batch: Batch, precision: Precision) {
        self.batches.push(batch);
        self.estimates = Estimate::all(definition, &self.batches);
        if self.batches.len() >= precision.min_processes {
            self.foretold = pilot::foretell(definition, &self.batches, precision);
        }
    }

    /// Batches still to come, as the pilot foretells.
    fn batches_wanted(&self, precision: Precision) -> f64 {
        let total = self
            .foretold
            .map_or(0, |plan| plan.processes)
            .max(precision.min_processes);
        // A point that is still open wants at least one more, whatever was foretold.
        total.saturating_sub(self.batches.len()).max(1) as f64
    }
}
