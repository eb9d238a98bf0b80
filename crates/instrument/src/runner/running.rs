//! An experiment while it is measured: visits to its points, and the end of each.

use super::event::{Closing, Ending, Event, ObserverError, PointRecord, Progress};
use super::executor::{BatchError, Request};
use super::{Outcome, Runner, refine};
use crate::core_state::Speeds;
use crate::estimate::{Estimate, FEWEST_PROCESSES, Verdict};
use crate::experiment::{Definition, Metric};
use crate::noise::{self, Warning};
use crate::plan::{Planned, Precision, VisitCosts};
use crate::point::{DesignAxis, Point};
use crate::sample::Batch;
use crate::sampler::Task;
use crate::statistics::summary::mean;
use std::fs;

/// An experiment with its points.
pub(super) struct RunningExperiment<'p> {
    planned: &'p Planned<'p>,
    precision: Precision,
    open: Vec<Open>,
    /// Points at which something failed that should have worked.
    broken: usize,
    /// Points that the limits of the run do not allow.
    beyond: usize,
}

impl<'p> RunningExperiment<'p> {
    pub fn new(
        planned: &'p Planned<'p>,
        precision: Precision,
        points: &[Point],
        costs: &VisitCosts,
    ) -> Self {
        let id = &planned.definition.id;
        let open = |point: &Point| Open::new(point.clone(), costs.visit_ns(id, point));
        Self {
            planned,
            precision,
            open: points.iter().map(open).collect(),
            broken: 0,
            beyond: 0,
        }
    }

    /// An experiment of a run that was stopped, with the points that it had.
    pub fn earlier(planned: &'p Planned<'p>, precision: Precision, points: &[PointRecord]) -> Self {
        let definition = &planned.definition;
        let planned_points = planned.points.as_deref().unwrap_or_default();
        let first_beyond = planned_points.len() - planned.beyond.len();
        let beyond = &planned_points[first_beyond..];
        let is_beyond = |it: &&PointRecord| it.failed().is_some() && beyond.contains(&it.point);
        let open = points
            .iter()
            .map(|earlier| Open::earlier(definition, earlier));
        Self {
            planned,
            precision,
            open: open.collect(),
            broken: 0,
            beyond: points.iter().filter(is_beyond).count(),
        }
    }

    /// The experiment's id.
    pub fn id(&self) -> &str {
        &self.planned.definition.id
    }

    /// Closes the points that the limits leave out.
    pub fn close_beyond(&mut self, runner: &mut Runner<'_>) -> Result<(), ObserverError> {
        let first = self.open.len() - self.planned.beyond.len();
        for (index, reason) in (first..).zip(&self.planned.beyond) {
            self.beyond += 1;
            self.close(index, runner, Ending::Failed(reason.clone()))?;
        }
        Ok(())
    }

    /// Adds points where the curves bend.
    pub fn refine(&mut self, runner: &mut Runner<'_>) -> Result<(), ObserverError> {
        let definition = &self.planned.definition;
        let mut new: Vec<Point> = Vec::new();
        let experiment = self.planned.experiment;
        let is_refined = |axis: &&DesignAxis| axis.is_refined && experiment.may_be_refined();
        for axis in experiment.design().axes.iter().filter(is_refined) {
            let measured = self.open.iter().filter(|open| open.ending.is_none());
            let points = measured.map(|open| (&open.point, open.estimates.as_slice()));
            new.extend(refine::between(definition, axis, points));
        }
        new.retain(|point| self.open.iter().all(|open| open.point != *point));
        if new.is_empty() {
            return Ok(());
        }
        runner.announce(&Event::Refined {
            definition,
            points: &new,
        })?;
        let open = |point: Point| {
            let known_ns = runner.visit_costs.visit_ns(&definition.id, &point);
            Open::new(point, known_ns)
        };
        self.open.extend(new.into_iter().map(open));
        Ok(())
    }

    /// The indices of the points that are still open, of all or of those that the plan puts first.
    pub fn still_open(&self, only_first: bool) -> Vec<usize> {
        let open = self.open.iter().enumerate();
        let open = open.filter(|(_, open)| open.ending.is_none());
        open.filter(|(_, open)| !only_first || self.planned.first.contains(&open.point))
            .map(|(index, _)| index)
            .collect()
    }

    /// True if the point at `index` was never visited.
    pub fn is_unvisited(&self, index: usize) -> bool {
        self.open[index].visits_ns.is_empty()
    }

    /// Deletes the files of this experiment's workers. The next worker creates the files that it
    /// needs.
    pub fn remove_files(&self, runner: &Runner<'_>) {
        // The run deletes the whole scratch directory later, with any file that could not be
        // deleted now.
        let _ = fs::remove_dir_all(runner.scratch_of(&self.planned.definition.id));
    }

    /// The point at `index` as the schedule sees it. The first visit may have made files that later visits
    /// find, so its cost counts only until there is another; if other points of the experiment have one, as much
    /// of it counts as of theirs. A point without visits costs what it did in earlier runs, else as much as the
    /// others on average.
    pub fn candidate(&self, index: usize) -> Candidate {
        let open = &self.open[index];
        let usual_ns = || {
            let costs: Vec<f64> = self.open.iter().flat_map(Open::costs_ns).collect();
            mean(&costs)
        };
        let visit_ns = match &open.visits_ns[..] {
            [] => open.known_ns.or_else(usual_ns),
            [first] => Some(first * self.later_share()),
            [_, later @ ..] => mean(later),
        };
        let missing = open.missing_visits();
        let mut missed = open.missed(&self.planned.definition, self.precision);
        Candidate {
            visit_ns: visit_ns.unwrap_or(0.0).max(1.0),
            missing,
            is_wide: missing == 0 && missed.next().is_some(),
        }
    }

    /// What later visits take on average as a share of the first ones, at most 1.
    fn later_share(&self) -> f64 {
        let visits = self.open.iter().map(|open| &open.visits_ns[..]);
        let both = visits.filter_map(|visits| Some((visits.first()?, mean(visits.get(1..)?)?)));
        let (first_ns, later_ns) = both.fold((0.0, 0.0), |sums, (first, later)| {
            (sums.0 + first, sums.1 + later)
        });
        if first_ns > later_ns {
            later_ns / first_ns
        } else {
            1.0
        }
    }

    /// Expected wall time of a visit in ns; `None` before the first visit to any point, unless an
    /// earlier run shows it.
    pub fn expected_ns(&self, index: usize) -> Option<f64> {
        let is_known = self.open.iter().any(Open::has_known_cost);
        is_known.then(|| self.candidate(index).visit_ns)
    }

    /// True if this run or an earlier one shows the wall time of a visit.
    pub fn has_known_cost(&self, index: usize) -> bool {
        self.open[index].has_known_cost()
    }

    /// True if a process that visits this point may visit others.
    pub fn shares_process(&self, index: usize) -> bool {
        let point = &self.open[index].point;
        let experiment = self.planned.experiment;
        experiment.shares_process(point)
            && experiment.confinement(point).is_none()
            && experiment.preload(point).is_none()
    }

    /// Takes one batch at each of these points, all in one process. Closes the points that cannot be
    /// measured.
    pub fn visit(
        &mut self,
        indices: &[usize],
        runner: &mut Runner<'_>,
        seed: u64,
        progress: Progress,
        speeds: &mut Speeds,
    ) -> Result<(), ObserverError> {
        let still_open = indices.iter().copied();
        let indices: Vec<usize> = still_open
            .filter(|index| self.open[*index].ending.is_none())
            .collect();
        let Some(&first) = indices.first() else {
            return Ok(());
        };
        let definition = &self.planned.definition;
        let point = &self.open[first].point;
        runner.announce(&Event::Visiting { definition, point })?;
        let request = self.request(&indices, runner, seed);
        if let Some(used) = runner.executor.used_with(&request) {
            runner.announce(&Event::Using { used })?;
        }
        let begun_ns = runner.clock.now_ns();
        let executed = runner.executor.execute(&request);
        let elapsed_ns = runner.clock.now_ns().saturating_sub(begun_ns) as f64;
        let own_ns = |taken: &Result<Batch, BatchError>| taken.as_ref().map_or(0, |it| it.wall_ns);
        let all_ns: u64 = executed.iter().map(own_ns).sum();
        // The rest is the cost of limits and failures.
        let rest_ns = (elapsed_ns - all_ns as f64) / indices.len() as f64;
        for (done, (index, taken)) in (progress.done..).zip(indices.into_iter().zip(executed)) {
            let visit_ns = own_ns(&taken) as f64 + rest_ns;
            self.open[index].visits_ns.push(visit_ns.max(0.0));
            let progress = Progress { done, ..progress };
            self.note(index, taken, runner, progress, speeds)?;
        }
        Ok(())
    }

    /// Adds a batch, or closes the point if it cannot be measured.
    fn note(
        &mut self,
        index: usize,
        taken: Result<Batch, BatchError>,
        runner: &mut Runner<'_>,
        progress: Progress,
        speeds: &mut Speeds,
    ) -> Result<(), ObserverError> {
        let definition = &self.planned.definition;
        let mut batch = match taken {
            Ok(batch) => batch,
            Err(BatchError::Interrupted) => {
                return self.close(index, runner, Ending::Interrupted);
            }
            Err(error) => {
                let reason = error.to_string();
                match error {
                    BatchError::Disturbed(_) if self.open[index].may_try_again(&reason) => {
                        return Ok(());
                    }
                    BatchError::Beyond(_) => self.beyond += 1,
                    BatchError::Failed(_) | BatchError::Worker(_) => self.broken += 1,
                    _ => {}
                }
                return self.close(index, runner, Ending::Failed(reason));
            }
        };
        batch.pass = Some(progress.pass as u32);
        speeds.note(&mut batch);
        let open = &mut self.open[index];
        open.disturbances.clear();
        open.batches.push(batch);
        open.estimates = Estimate::all(definition, &open.batches);
        runner.announce(&Event::Taken {
            definition,
            point: &open.point,
            batch: open.batches.last().expect("a batch was just added"),
            estimates: &open.estimates,
            progress,
        })
    }

    fn request(&self, indices: &[usize], runner: &Runner<'_>, seed: u64) -> Request {
        let points = indices.iter();
        let points = points.map(|index| self.open[*index].point.clone());
        let task = Task {
            precision: self.precision,
            calibration: runner.calibration.clone(),
            scratch: runner.scratch_of(self.id()),
            given: runner.given.clone(),
            seed,
        };
        Request::new(self.planned, points.collect(), task)
    }

    /// Closes every point that is still open.
    pub fn close_all(
        &mut self,
        runner: &mut Runner<'_>,
        ending: &Ending,
    ) -> Result<(), ObserverError> {
        for index in self.still_open(false) {
            let open = &self.open[index];
            let ending = open.ending_or(ending, &self.planned.definition, self.precision);
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
            // A value without an estimate has its own verdict.
            let missed = open
                .missed(definition, self.precision)
                .filter(|estimate| !matches!(estimate.verdict, Verdict::TooFew));
            warnings.extend(missed.map(|estimate| Warning::TargetMissed {
                metric: estimate.metric.clone(),
                reached: estimate.precision(),
                target: self.precision.target,
            }));
        }
        open.ending = Some(ending.clone());
        runner.announce(&Event::Closed {
            definition,
            point: &open.point,
            closing: &Closing { ending, warnings },
        })
    }

    /// Adds the points that were not measured.
    pub fn count_in(&self, outcome: &mut Outcome) {
        let count = |is_counted: fn(&&Open) -> bool| self.open.iter().filter(is_counted).count();
        let failed = count(|open| matches!(open.ending, Some(Ending::Failed(_))));
        let is_unreached =
            |open: &&Open| open.ending == Some(Ending::BudgetUsed) && open.batches.is_empty();
        outcome.failed += self.broken;
        outcome.beyond += self.beyond;
        outcome.missing += failed - self.broken - self.beyond;
        outcome.unreached += count(is_unreached);
    }
}

/// Number of disturbed attempts in a row after which a point is given up.
const DISTURBANCES: usize = 3;

/// A point as the schedule sees it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Candidate {
    /// Expected wall time of a visit, in ns.
    pub visit_ns: f64,
    /// Visits still missing to the fewest on which an estimate may rest.
    pub missing: usize,
    /// True if it has an interval, which is wider than the profile's target.
    pub is_wide: bool,
}

/// A point that is being measured.
struct Open {
    pub point: Point,
    pub batches: Vec<Batch>,
    pub estimates: Vec<Estimate>,
    pub ending: Option<Ending>,
    /// Wall time of each visit in ns, successful or not, with the rests that limits ask for.
    pub visits_ns: Vec<f64>,
    /// Wall time of a visit in earlier runs of the machine, in ns.
    known_ns: Option<f64>,
    /// Reasons of the disturbed attempts since the last batch.
    disturbances: Vec<String>,
}

impl Open {
    pub fn new(point: Point, known_ns: Option<f64>) -> Self {
        Self {
            point,
            batches: Vec::new(),
            estimates: Vec::new(),
            ending: None,
            visits_ns: Vec::new(),
            known_ns,
            disturbances: Vec::new(),
        }
    }

    /// A point of a run that was stopped. One that failed stays closed.
    pub fn earlier(definition: &Definition, earlier: &PointRecord) -> Self {
        let batches = earlier.batches.clone();
        Self {
            visits_ns: batches.iter().map(|batch| batch.wall_ns as f64).collect(),
            estimates: Estimate::all(definition, &batches),
            ending: earlier.failed().map(|it| Ending::Failed(it.into())),
            batches,
            ..Self::new(earlier.point.clone(), None)
        }
    }

    /// True if this run or an earlier one shows the wall time of a visit.
    pub fn has_known_cost(&self) -> bool {
        self.known_ns.is_some() || !self.visits_ns.is_empty()
    }

    /// Wall time of each visit in ns; without one, what it was in earlier runs.
    pub fn costs_ns(&self) -> impl Iterator<Item = f64> {
        let known_ns = self.known_ns.filter(|_| self.visits_ns.is_empty());
        self.visits_ns.iter().copied().chain(known_ns)
    }

    /// Records a disturbed attempt; true if a retry is worthwhile.
    pub fn may_try_again(&mut self, reason: &str) -> bool {
        self.disturbances.push(reason.to_owned());
        self.disturbances.len() < DISTURBANCES
    }

    /// The ending of a point that is still open at the end of the run. If every attempt was
    /// disturbed, time is not the cause.
    pub fn ending_or(
        &self,
        ending: &Ending,
        definition: &Definition,
        precision: Precision,
    ) -> Ending {
        let is_known =
            self.missing_visits() == 0 && self.missed(definition, precision).next().is_none();
        match self.disturbances.last() {
            _ if is_known => Ending::TargetReached,
            Some(reason) if self.batches.is_empty() && *ending == Ending::BudgetUsed => {
                Ending::Failed(reason.clone())
            }
            _ => ending.clone(),
        }
    }

    /// The estimates that have not reached the target.
    pub fn missed<'a>(
        &'a self,
        definition: &'a Definition,
        precision: Precision,
    ) -> impl Iterator<Item = &'a Estimate> {
        let has_target = |estimate: &&Estimate| {
            let metric = definition.metric(&estimate.metric);
            metric.is_some_and(Metric::has_target)
        };
        let estimates = self.estimates.iter().filter(has_target);
        estimates.filter(move |estimate| !estimate.is_settled(precision.target))
    }

    /// Visits missing to the fewest on which an estimate may rest.
    fn missing_visits(&self) -> usize {
        FEWEST_PROCESSES.saturating_sub(self.batches.len())
    }
}
