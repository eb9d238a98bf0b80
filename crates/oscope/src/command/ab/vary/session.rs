//! A comparison in progress: the duels in turn, each within its share of the time.

use super::arms::Duel;
use super::bench::{Stop, Visits, Way};
use super::recording::Recording;
use super::told::{Judged, Metrics};
use crate::arguments::{Varied, Vary};
use crate::command::ab::progress::Progress;
use crate::settings::Changed;
use anyhow::Result;
use instrument::ab::{Budget, Ending, Rules, compare};
use instrument::clock::Calibration;
use instrument::plan::{Plan, Planned};
use instrument::point::Point;
use instrument::quantity::Nanoseconds;
use instrument::runner::{self, Executor, Request, WorkerExecutor};
use instrument::sampler::Task;
use platform::clock::now_ns;
use std::fs;
use std::path::PathBuf;

/// The comparison in progress.
pub struct Session<'a, 's> {
    pub vary: &'a Vary,
    pub rules: Rules,
    pub warmup: usize,
    pub seed: u64,
    /// The experiments.
    pub plan: &'a Plan<'a>,
    /// The scratch directory of each directory.
    pub scratches: &'a [PathBuf],
    pub calibration: Calibration,
    pub executor: WorkerExecutor,
    pub changed: Option<&'a Changed>,
    pub recording: Recording<'s>,
    pub progress: &'a mut Progress,
}

impl Session<'_, '_> {
    /// All duels in turn. The time that one leaves over goes to those after it.
    pub fn all(&mut self, duels: &[Duel]) -> Result<Vec<Judged>> {
        let begin_ns = now_ns();
        let mut judged = Vec::new();
        let mut current = None;
        for (index, duel) in duels.iter().enumerate() {
            let plan = self.plan;
            let planned = &plan.experiments[duel.experiment];
            if current != Some(duel.experiment) {
                self.remove_files(current);
                current = Some(duel.experiment);
                let of_experiment = duels.iter().filter(|it| it.experiment == duel.experiment);
                let (key, values) = (self.vary.key(), &self.vary.values);
                self.recording
                    .start(&planned.definition, of_experiment, (&key, values))?;
            }
            let rules = Rules {
                budget: share(self.rules.budget, now_ns() - begin_ns, duels.len() - index),
                ..self.rules.clone()
            };
            judged.extend(self.one(duel, planned, &rules)?);
        }
        Ok(judged)
    }

    /// One duel; `None` if the user asked to stop before it began.
    fn one(&mut self, duel: &Duel, planned: &Planned<'_>, rules: &Rules) -> Result<Option<Judged>> {
        self.recording.turn_to(duel, &self.vary.values);
        if self.executor.is_interrupted() {
            self.recording.close(&runner::Ending::Interrupted)?;
            return Ok(None);
        }
        let ways = self.ways(duel, planned);
        let result = match self.measure(&ways, planned, rules) {
            Ok(None) => {
                self.recording.close(&runner::Ending::Interrupted)?;
                return Ok(None);
            }
            Ok(Some(metrics)) => Ok(metrics),
            Err(Stop::Point(reason)) => Err(reason),
            Err(Stop::All(error)) => return Err(error),
        };
        self.recording.close(&match &result {
            Err(reason) => runner::Ending::Failed(reason.clone()),
            Ok(metrics) => match metrics.ending {
                Ending::Told => runner::Ending::TargetReached,
                Ending::BudgetUsed | Ending::RunsUsed => runner::Ending::BudgetUsed,
                Ending::Stopped => runner::Ending::Interrupted,
            },
        })?;
        Ok(Some(Judged {
            experiment: planned.definition.id.clone(),
            point: duel.shared.clone(),
            shown: planned.definition.show(&duel.shared),
            result,
        }))
    }

    fn measure(
        &mut self,
        ways: &[Way],
        planned: &Planned<'_>,
        rules: &Rules,
    ) -> Result<Option<Metrics>, Stop> {
        let targets = planned.definition.metrics.iter();
        let targets = targets.filter(|metric| metric.has_target());
        let targets: Vec<String> = targets.map(|metric| metric.name.clone()).collect();
        let visits = Visits {
            ways,
            metrics: Vec::new(),
            executor: &mut self.executor,
            changed: self.changed,
            recording: &mut self.recording,
            progress: self.progress,
            others: Vec::new(),
            taken: Vec::new(),
            seed: self.seed,
            done: 0,
            begin_ns: now_ns(),
        };
        let Some(mut visits) = visits.warm_up(&targets, rules, self.warmup)? else {
            return Ok(None);
        };
        let outcome = compare(ways.len(), rules, self.seed, &mut visits)?;
        let pairs = std::iter::once(outcome.pairs).chain(visits.other_pairs());
        Ok(Some(Metrics {
            ending: outcome.ending,
            blocks: outcome.blocks,
            pairs: visits.metrics.iter().cloned().zip(pairs).collect(),
        }))
    }

    /// The ways of a duel.
    fn ways(&self, duel: &Duel, planned: &Planned<'_>) -> Vec<Way> {
        let values = self.vary.values.iter().enumerate().zip(&duel.points);
        let way = |((index, value), point): ((usize, &String), &Point)| {
            let scratch = self.scratches.get(index).unwrap_or(&self.scratches[0]);
            let task = Task::new(
                &self.plan.precision,
                self.calibration.clone(),
                scratch.join(&planned.definition.id),
                self.seed,
            );
            Way {
                name: value.clone(),
                request: Request {
                    experiment: planned.definition.id.clone(),
                    points: vec![point.clone()],
                    confinement: planned.experiment.confinement(point),
                    space_bytes: planned.space_bytes,
                    task,
                },
                scratch: scratch.clone(),
                environment: match &self.vary.varied {
                    Varied::Environment(name) => vec![(name.clone(), value.clone())],
                    _ => Vec::new(),
                },
                setting: matches!(self.vary.varied, Varied::Setting(_)).then(|| value.clone()),
            }
        };
        values.map(way).collect()
    }

    /// Deletes the files of an experiment that has ended.
    fn remove_files(&self, experiment: Option<usize>) {
        let Some(experiment) = experiment else {
            return;
        };
        for scratch in self.scratches {
            let id = &self.plan.experiments[experiment].definition.id;
            // The whole directory goes at the end, with what could not be deleted now.
            let _ = fs::remove_dir_all(scratch.join(id));
        }
    }
}

/// The time of the next of `left` duels.
fn share(budget: Budget, elapsed_ns: u64, left: usize) -> Budget {
    match budget {
        Budget::Usual => Budget::Usual,
        Budget::Fixed(budget) => {
            let rest_ns = (budget.0 - elapsed_ns as f64).max(0.0);
            Budget::Fixed(Nanoseconds(rest_ns / left.max(1) as f64))
        }
    }
}
