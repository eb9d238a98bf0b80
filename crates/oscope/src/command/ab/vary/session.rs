//! A comparison in progress: the duels in turn, each within its share of the time.

use super::bench::{Stop, Visits, Way};
use super::duels::{Duel, Recording};
use super::{MetricPair, PointOutcome};
use crate::arguments::{Varied, Vary};
use crate::command::ab::results::PairJson;
use crate::exit::{first_error, words};
use crate::kernel_settings::ChangedSetting;
use crate::progress::LiveLine;
use anyhow::Result;
use instrument::ab::{Budget, Rules, compare};
use instrument::clock::Calibration;
use instrument::plan::{Plan, Planned};
use instrument::point::Point;
use instrument::quantity::{Nanoseconds, counted};
use instrument::runner::{Executor, Request, WorkerExecutor};
use instrument::sampler::Task;
use platform::clock::now_ns;
use std::fs;
use std::path::PathBuf;

/// The comparison in progress.
pub struct Session<'v, 'a, 's> {
    pub vary: &'v Vary,
    pub rules: Rules,
    pub warmup: usize,
    pub seed: u64,
    /// The experiments.
    pub plan: &'a Plan<'a>,
    /// The scratch directory of each directory.
    pub scratches: &'a [PathBuf],
    pub calibration: Calibration,
    pub executor: WorkerExecutor,
    pub changed: Option<&'a ChangedSetting>,
    pub recording: Recording<'s>,
    pub progress: &'a mut LiveLine,
    /// Number of duels.
    pub count: usize,
}

/// The points that were compared, and those that were not.
#[derive(Default)]
pub struct Found<'v> {
    pub judged: Vec<PointOutcome<'v>>,
    /// Points for which there was no time.
    pub unreached: usize,
    /// Time of one visit of each way, at the point that was compared last.
    pub round_ns: Option<f64>,
}

impl<'v> Session<'v, '_, '_> {
    /// All duels in turn. The time that one leaves over goes to those after it. `found` holds what was compared,
    /// also after an error.
    pub fn all(&mut self, duels: &[Duel], found: &mut Found<'v>) -> Result<()> {
        let begin_ns = now_ns();
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
            let left = duels.len() - index;
            let least_ns = least_ns(found.round_ns.unwrap_or(0.0), self.warmup, 1);
            let Some(budget) = share(self.rules.budget, now_ns() - begin_ns, left, least_ns) else {
                found.unreached = left;
                return Ok(());
            };
            let rules = Rules {
                budget,
                ..self.rules.clone()
            };
            self.one(duel, planned, &rules, found)?;
        }
        Ok(())
    }

    /// One duel.
    fn one(
        &mut self,
        duel: &Duel,
        planned: &Planned<'_>,
        rules: &Rules,
        found: &mut Found<'v>,
    ) -> Result<()> {
        self.recording.turn_to(duel, &self.vary.values);
        if self.executor.is_interrupted() {
            return Ok(());
        }
        let ways = self.ways(duel, planned);
        let experiment = planned.definition.id.clone();
        let shown = planned.definition.show(&duel.shared);
        let mut outcome = PointOutcome {
            place: [experiment.as_str(), &shown].join(if shown.is_empty() { "" } else { ", " }),
            experiment,
            point: duel.shared.clone(),
            failed: None,
            ending: None,
            blocks: 0,
            pairs: Vec::new(),
        };
        let stop = self.measure(&ways, planned, rules, &mut found.round_ns, &mut outcome);
        let error = match stop {
            Ok(()) => Ok(()),
            Err(Stop::Point(reason)) => {
                outcome.failed = Some(reason);
                Ok(())
            }
            Err(Stop::All(error)) => {
                outcome.failed = Some(words(&error));
                Err(error)
            }
        };
        let closed = self.recording.close(outcome.failed.as_deref());
        if outcome.ending.is_some() || outcome.failed.is_some() {
            found.judged.push(outcome);
        }
        first_error([error, closed])
    }

    /// Puts the pairs of a duel with at least one finished block, or of one that ended regularly, into `found`; neither
    /// they nor an error come if the user asked to stop before it began.
    fn measure(
        &mut self,
        ways: &[Way],
        planned: &Planned<'_>,
        rules: &Rules,
        round_ns: &mut Option<f64>,
        found: &mut PointOutcome<'v>,
    ) -> Result<(), Stop> {
        let targets = planned.definition.metrics.iter();
        let targets = targets.filter(|metric| metric.has_target());
        let targets: Vec<String> = targets.map(|metric| metric.name.clone()).collect();
        let begin_ns = now_ns();
        let visits = Visits {
            ways,
            metrics: Vec::new(),
            executor: &mut self.executor,
            changed: self.changed,
            recording: &mut self.recording,
            progress: self.progress,
            seed: self.seed,
            done: 0,
            begin_ns,
            round_ns: 0.0,
        };
        let Some(mut visits) = visits.warm_up(&targets, self.warmup)? else {
            return Ok(());
        };
        let is_first = round_ns.replace(visits.round_ns).is_none();
        if let Budget::Fixed(all) = self.rules.budget {
            let each_ns = least_ns(visits.round_ns, self.warmup, 1);
            if is_first && each_ns * self.count as f64 > all.0 {
                visits.progress.voice.say(&format!(
                    "there is time for about {:.0} of {}",
                    (all.0 / each_ns).floor(),
                    counted(self.count, "point")
                ));
            }
        }
        let rules = Rules {
            budget: after(rules.budget, now_ns() - begin_ns),
            ..rules.clone()
        };
        let (outcome, result) = compare(ways.len(), &rules, self.seed, &mut visits);
        if outcome.blocks > 0 || result.is_ok() {
            (found.ending, found.blocks) = (Some(outcome.ending), outcome.blocks);
            let values = &self.vary.values;
            let pairs = std::iter::once(outcome.pairs).chain(outcome.others);
            for (metric, pairs) in visits.metrics.iter().zip(pairs) {
                found.pairs.extend(pairs.iter().map(|pair| MetricPair {
                    metric: metric.clone(),
                    pair: PairJson::new(&values[0], &values[pair.rival], pair),
                }));
            }
        }
        result
    }

    /// The ways of a duel.
    fn ways(&self, duel: &Duel, planned: &Planned<'_>) -> Vec<Way> {
        let values = self.vary.values.iter().enumerate().zip(&duel.points);
        let way = |((index, value), point): ((usize, &String), &Point)| {
            let scratch = self.scratches.get(index).unwrap_or(&self.scratches[0]);
            let task = Task::new(
                self.plan.precision,
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
                    least_ns: 0,
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

/// Time of a duel with `visits` to each way after the warm-up, if one visit of each takes `round_ns`.
pub fn least_ns(round_ns: f64, warmup: usize, visits: usize) -> f64 {
    round_ns * (warmup.max(1) + visits) as f64
}

/// The time of the next of `left` duels, of which each takes `least_ns`; `None` if there is too little for it.
fn share(budget: Budget, elapsed_ns: u64, left: usize, least_ns: f64) -> Option<Budget> {
    match after(budget, elapsed_ns) {
        Budget::Usual => Some(Budget::Usual),
        Budget::Fixed(rest) => {
            let share_ns = (rest.0 / left.max(1) as f64).max(least_ns);
            (rest.0 > 0.0 && share_ns <= rest.0).then_some(Budget::Fixed(Nanoseconds(share_ns)))
        }
    }
}

/// The time that is left of `budget`.
fn after(budget: Budget, elapsed_ns: u64) -> Budget {
    match budget {
        Budget::Usual => Budget::Usual,
        Budget::Fixed(budget) => {
            Budget::Fixed(Nanoseconds((budget.0 - elapsed_ns as f64).max(0.0)))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::share;
    use instrument::ab::Budget;
    use instrument::quantity::Nanoseconds;

    #[test]
    fn a_point_begins_only_if_there_is_time_for_it() {
        let ten = Budget::Fixed(Nanoseconds(10.0));
        let time = |elapsed_ns, left, least_ns| match share(ten, elapsed_ns, left, least_ns) {
            Some(Budget::Fixed(time)) => Some(time.0),
            Some(Budget::Usual) => panic!("there is a limit"),
            None => None,
        };
        assert_eq!(time(0, 5, 0.0), Some(2.0));
        assert_eq!(time(0, 5, 4.0), Some(4.0));
        assert_eq!(time(8, 2, 4.0), None);
        assert_eq!(time(10, 2, 0.0), None);
        assert_eq!(share(Budget::Usual, 1 << 40, 1, 1e12), Some(Budget::Usual));
    }
}
