//! A comparison in progress: the duels in turn, each within its share of the time, by visits of worker processes.

use super::duels::{Duel, Recording};
use super::{MetricPair, PointOutcome};
use crate::arguments::{Varied, Vary};
use crate::command::ab::results::{PairJson, sentence};
use crate::exit::{first_error, words};
use crate::kernel_settings::ChangedSetting;
use crate::progress::LiveLine;
use anyhow::Result;
use instrument::ab::{Bench, Block, Budget, Contest, Rules, compare};
use instrument::clock::Calibration;
use instrument::plan::{Plan, Planned};
use instrument::point::Point;
use instrument::quantity::{Nanoseconds, counted};
use instrument::runner::{Executor, Request, WorkerExecutor};
use instrument::sample::Batch;
use instrument::sampler::Task;
use instrument::trial::{self, ATTEMPTS, cost};
use platform::clock::now_ns;
use std::fs;
use std::path::PathBuf;

/// The comparison in progress.
pub struct Session<'v, 'a, 's> {
    pub vary: &'v Vary,
    pub rules: Rules,
    pub warmup: usize,
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
        let stop = self.measure(duel, planned, rules, &mut found.round_ns, &mut outcome);
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
        duel: &Duel,
        planned: &Planned<'_>,
        rules: &Rules,
        round_ns: &mut Option<f64>,
        found: &mut PointOutcome<'v>,
    ) -> Result<(), Stop> {
        let targets = planned.definition.metrics.iter();
        let targets = targets.filter(|metric| metric.has_target());
        let targets: Vec<String> = targets.map(|metric| metric.name.clone()).collect();
        let begin_ns = now_ns();
        let requests = self.requests(duel, planned);
        let Some(mut visits) = Visits::warmed_up(self, requests, targets)? else {
            return Ok(());
        };
        let is_first = round_ns.replace(visits.round_ns).is_none();
        let Session {
            vary,
            warmup,
            count,
            plan,
            ..
        } = *visits.session;
        if let Budget::Fixed(all) = visits.session.rules.budget {
            let each_ns = least_ns(visits.round_ns, warmup, 1);
            if is_first && each_ns * count as f64 > all.0 {
                visits.session.progress.voice.say(&format!(
                    "there is time for about {:.0} of {}",
                    (all.0 / each_ns).floor(),
                    counted(count, "point")
                ));
            }
        }
        let rules = Rules {
            budget: after(rules.budget, now_ns() - begin_ns),
            ..rules.clone()
        };
        let (outcome, result) = compare(vary.values.len(), &rules, plan.seed, &mut visits);
        if outcome.blocks > 0 || result.is_ok() {
            (found.ending, found.blocks) = (Some(outcome.ending), outcome.blocks);
            let pairs = std::iter::once(outcome.pairs).chain(outcome.others);
            for (metric, pairs) in visits.metrics.iter().zip(pairs) {
                found.pairs.extend(pairs.iter().map(|pair| MetricPair {
                    metric: metric.clone(),
                    pair: PairJson::new(&vary.values[0], &vary.values[pair.rival], pair),
                }));
            }
        }
        result
    }

    /// What the workers are asked for, one request for each value.
    fn requests(&self, duel: &Duel, planned: &Planned<'_>) -> Vec<Request> {
        let request = |(way, point): (usize, &Point)| {
            let task = Task::new(
                self.plan.precision,
                self.calibration.clone(),
                self.scratch(way).join(&planned.definition.id),
                self.plan.seed,
            );
            Request::new(planned, vec![point.clone()], task)
        };
        duel.points.iter().enumerate().map(request).collect()
    }

    /// The scratch directory for the value with this index.
    fn scratch(&self, way: usize) -> &PathBuf {
        self.scratches.get(way).unwrap_or(&self.scratches[0])
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

/// The reason why a duel ended early.
enum Stop {
    /// The point cannot be measured.
    Point(String),
    /// The comparison cannot go on.
    All(anyhow::Error),
}

/// The values at one point as the subjects of a comparison.
struct Visits<'d, 'v, 'a, 's> {
    session: &'d mut Session<'v, 'a, 's>,
    requests: Vec<Request>,
    /// The metrics that are timed; the first decides when the duel ends.
    metrics: Vec<String>,
    done: u64,
    begin_ns: u64,
    /// Time of one visit of each way, as the warm-up shows it.
    round_ns: f64,
}

impl<'d, 'v, 'a, 's> Visits<'d, 'v, 'a, 's> {
    /// Visits each way as often as the warm-up takes, at least once, and keeps those of `metrics` that are timed.
    /// These visits do not count. `None` if the user asked to stop.
    fn warmed_up(
        session: &'d mut Session<'v, 'a, 's>,
        requests: Vec<Request>,
        metrics: Vec<String>,
    ) -> Result<Option<Self>, Stop> {
        let mut visits = Self {
            session,
            requests,
            metrics,
            done: 0,
            begin_ns: 0,
            round_ns: f64::INFINITY,
        };
        for _ in 0..visits.session.warmup.max(1) {
            let round_begin_ns = now_ns();
            for way in 0..visits.requests.len() {
                let Some(batch) = visits.visit(way)? else {
                    return Ok(None);
                };
                visits
                    .metrics
                    .retain(|metric| cost(&batch, metric).is_some());
            }
            visits.round_ns = visits.round_ns.min((now_ns() - round_begin_ns) as f64);
        }
        if visits.metrics.is_empty() {
            return Err(Stop::Point(
                "nothing that all ways have is timed there".into(),
            ));
        }
        visits.begin_ns = now_ns();
        Ok(Some(visits))
    }

    fn visit(&mut self, way: usize) -> Result<Option<Batch>, Stop> {
        let value = &self.session.vary.values[way];
        if let Some(changed) = self.session.changed {
            changed.set(value).map_err(Stop::All)?;
        }
        let scratch = self.session.scratch(way).clone();
        self.session.executor.scratch = scratch;
        if let Varied::Environment(name) = &self.session.vary.varied {
            self.session.executor.environment = vec![(name.clone(), value.clone())];
        }
        let mut request = self.requests[way].clone();
        // The ways of one turn do the same work.
        let turn = self.done / self.requests.len() as u64;
        request.task.seed = self.session.plan.seed.wrapping_add(turn);
        self.done += 1;
        let visited = trial::visit(&mut self.session.executor, &request);
        visited.map_err(|error| Stop::Point(format!("'{value}': {error}")))
    }
}

impl Bench for Visits<'_, '_, '_, '_> {
    type Error = Stop;

    fn measure(&mut self, subject: usize) -> Result<Option<Vec<f64>>, Stop> {
        let mut lost = None;
        // A busy machine may take the processor away while the empty loop runs, which is then longer than the work.
        for _ in 0..ATTEMPTS {
            let Some(batch) = self.visit(subject)? else {
                return Ok(None);
            };
            let metrics = self.metrics.iter();
            let costs = metrics.map(|metric| cost(&batch, metric).ok_or(metric));
            match costs.collect::<Result<Vec<f64>, &String>>() {
                Ok(costs) => {
                    self.session
                        .recording
                        .add(subject, batch)
                        .map_err(Stop::All)?;
                    return Ok(Some(costs));
                }
                Err(metric) => lost = Some(metric.clone()),
            }
        }
        Err(Stop::Point(format!(
            "'{}': {} takes too little time for the clock",
            self.session.vary.values[subject],
            lost.unwrap_or_default()
        )))
    }

    fn elapsed_ns(&self) -> f64 {
        (now_ns() - self.begin_ns) as f64
    }

    fn pace_ns(&self) -> Option<f64> {
        Some(self.round_ns)
    }

    fn keep(&mut self, _: &Block, contest: &Contest) -> Result<(), Stop> {
        let (vary, elapsed_ns) = (self.session.vary, self.elapsed_ns());
        let point = &self.requests[0].points[0];
        self.session.progress.update(|| {
            let pairs = contest.pairs(elapsed_ns);
            let known = pairs.first();
            let known = known.map(|pair| sentence(&vary.values[0], &vary.values[pair.rival], pair));
            format!("{point}: {}", known.unwrap_or_default())
        });
        Ok(())
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
