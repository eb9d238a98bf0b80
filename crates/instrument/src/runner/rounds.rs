//! Rounds: the order of visits to the points of an experiment, and the decision to close each
//! point.

use super::Runner;
use super::event::{Ending, Event, ObserverError, Progress};
use super::executor::{BatchError, Request};
use super::open::Open;
use crate::noise::{self, Warning};
use crate::plan::{Planned, Precision};
use crate::point::Point;
use crate::quantity::Nanoseconds;
use crate::sampler::Task;
use crate::statistics::random::Random;
use std::fs;

/// The rounds of one experiment.
pub(super) struct Rounds<'p> {
    planned: &'p Planned<'p>,
    precision: Precision,
    open: Vec<Open<'p>>,
    /// Points at which something failed that should have worked.
    broken: usize,
    /// Points that the limits of the run do not allow.
    beyond: usize,
}

impl<'p> Rounds<'p> {
    pub fn new(planned: &'p Planned<'p>, precision: Precision, points: &'p [Point]) -> Self {
        Self {
            planned,
            precision,
            open: points.iter().map(Open::new).collect(),
            broken: 0,
            beyond: 0,
        }
    }

    /// Visits the open points in random rounds until none is left or the experiment's time is used
    /// up. `later_ns` is the time reserved for the experiments after it.
    pub fn run(
        &mut self,
        runner: &mut Runner<'_>,
        later_ns: f64,
        random: &mut Random,
    ) -> Result<(), ObserverError> {
        let end_ns = runner.clock.now_ns() as f64 + self.planned.budget_ns as f64;
        let first = self.open.len() - self.planned.beyond.len();
        for (index, reason) in (first..).zip(&self.planned.beyond) {
            self.beyond += 1;
            self.close(index, runner, Ending::Failed(reason.clone()))?;
        }
        loop {
            let mut order = self.still_open();
            if order.is_empty() {
                return Ok(());
            }
            random.shuffle(&mut order);
            for index in order {
                let left_ns = end_ns - runner.clock.now_ns() as f64;
                if runner.executor.is_interrupted() || left_ns <= 0.0 {
                    return Ok(());
                }
                self.visit(index, runner, random.bits(), left_ns, later_ns)?;
            }
        }
    }

    /// The indices of the points that are still open.
    pub fn still_open(&self) -> Vec<usize> {
        let is_open = |index: &usize| self.open[*index].ending.is_none();
        (0..self.open.len()).filter(is_open).collect()
    }

    /// Deletes the files of this experiment's workers. The next worker creates the files that it
    /// needs.
    pub fn remove_files(&self, runner: &Runner<'_>) {
        // The run deletes the whole scratch directory later, with any file that could not be
        // deleted now.
        let _ = fs::remove_dir_all(runner.scratch_of(&self.planned.definition.id));
    }

    /// Expected wall time until a point is closed, in ns, rests included.
    pub fn wanted_ns(&self, index: usize) -> f64 {
        self.open[index].wanted_ns(&self.planned.definition, self.precision) * self.planned.stretch
    }

    /// Takes one batch at a point. Closes the point if it has reached its target or cannot be
    /// measured.
    ///
    /// `left_ns` is the wall time left for this experiment's points, `later_ns` the wall time of
    /// the experiments after it.
    pub fn visit(
        &mut self,
        index: usize,
        runner: &mut Runner<'_>,
        seed: u64,
        left_ns: f64,
        later_ns: f64,
    ) -> Result<(), ObserverError> {
        let definition = &self.planned.definition;
        let point = self.open[index].point;
        runner.tell(&Event::Visiting { definition, point })?;
        let request = self.request(index, runner, seed);
        match runner.executor.execute(&request) {
            Ok(batch) => {
                self.open[index].add(definition, batch, self.precision);
                self.report(index, runner, left_ns, later_ns)?;
                if self.is_known(index) {
                    self.close(index, runner, Ending::TargetReached)?;
                }
                Ok(())
            }
            Err(BatchError::Interrupted) => self.close(index, runner, Ending::Interrupted),
            Err(BatchError::Disturbed(reason)) => {
                if self.open[index].may_try_again(&reason) {
                    return Ok(());
                }
                self.close(index, runner, Ending::Failed(reason))
            }
            Err(BatchError::Unsupported(reason)) => {
                self.close(index, runner, Ending::Failed(reason))
            }
            Err(BatchError::Beyond(reason)) => {
                self.beyond += 1;
                self.close(index, runner, Ending::Failed(reason))
            }
            Err(BatchError::Failed(reason) | BatchError::Worker(reason)) => {
                self.broken += 1;
                self.close(index, runner, Ending::Failed(reason))
            }
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
            scratch: runner.scratch_of(&self.planned.definition.id),
            remote: runner.remote.clone(),
            link: runner.link.clone(),
            seed,
        };
        Request {
            experiment: self.planned.definition.id.clone(),
            point: open.point.clone(),
            confinement: self.planned.experiment.confinement(open.point),
            space_bytes: self.planned.space_bytes,
            task,
        }
    }

    fn report(
        &self,
        index: usize,
        runner: &mut Runner<'_>,
        left_ns: f64,
        later_ns: f64,
    ) -> Result<(), ObserverError> {
        let open = &self.open[index];
        let waiting = self.still_open();
        let wanted_ns: f64 = waiting.iter().map(|&index| self.wanted_ns(index)).sum();
        let progress = Progress {
            closed: self.open.len() - waiting.len() + usize::from(self.is_known(index)),
            points: self.open.len(),
            remaining: Nanoseconds(f64::min(wanted_ns, left_ns.max(0.0)) + later_ns),
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

    /// Closes every point that is still open.
    pub fn close_all(
        &mut self,
        runner: &mut Runner<'_>,
        ending: &Ending,
    ) -> Result<(), ObserverError> {
        for index in self.still_open() {
            let ending = self.open[index].ending_or(ending);
            self.close(index, runner, ending)?;
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
        let mut warnings = noise::judge(definition, &open.estimates, &open.batches);
        if ending == Ending::BudgetUsed || ending == Ending::Interrupted {
            let missed = open.missed(definition, self.precision);
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

    fn is_known(&self, index: usize) -> bool {
        self.open[index].is_known(&self.planned.definition, self.precision)
    }

    /// Points at which something failed that should have worked.
    pub fn failed(&self) -> usize {
        self.broken
    }

    /// Points that this system does not offer, or disturbed in every attempt.
    pub fn missing(&self) -> usize {
        let has_failed = |open: &Open<'_>| matches!(open.ending, Some(Ending::Failed(_)));
        self.count(has_failed) - self.broken - self.beyond
    }

    /// Points that the limits of the run do not allow.
    pub fn beyond(&self) -> usize {
        self.beyond
    }

    /// Points for which there was no time.
    pub fn unreached(&self) -> usize {
        self.count(|open| open.ending == Some(Ending::BudgetUsed) && open.batches.is_empty())
    }

    fn count(&self, is_counted: impl Fn(&Open<'_>) -> bool) -> usize {
        self.open.iter().filter(|open| is_counted(open)).count()
    }
}
