//! Trials: two points of one experiment, measured in pairs within a run. They show the gain of a setting
//! before it is advised.
//!
//! The record of a run keeps a trial as an experiment of its own, with both points and a batch of each for
//! every pair. So its outcome can be computed again from the record.

use crate::ab::{Bench, Block, Budget, Contest, Pair, Rules, compare};
use crate::curve::MARGIN;
use crate::definition::Definition;
use crate::plan::Planned;
use crate::point::Point;
use crate::quantity::Nanoseconds;
use crate::results::{Estimate, Results};
use crate::runner::{BatchError, Executor, Request};
use crate::sample::{Batch, Reading};
use crate::sampler::Task;
use crate::statistics::Interval;
use crate::statistics::summary::quantile;
use platform::clock::now_ns;
use serde::{Deserialize, Serialize};

/// The ids of trials in a record begin with it. The name of the setting follows.
const PREFIX: &str = "try.";
/// Fewer pairs decide nothing.
pub const FEWEST_PAIRS: usize = Rules::USUAL_RUNS;
/// Pairs after which a clear case ends: its interval is then narrow enough to print.
const ENOUGH_PAIRS: usize = 24;
/// More pairs are not taken, so that a trial ends; each pair is then a block of one turn.
const MOST_PAIRS: usize = 47;
/// Attempts at a visit that something else in the system disturbs.
pub const ATTEMPTS: usize = 3;
/// Costs are counted in this part of a ns: the cost of a byte is a fraction of a ns.
const PARTS_OF_A_NS: f64 = 1e9;

/// Two points of one experiment.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Trial {
    /// The experiment.
    pub experiment: String,
    /// The metric that is compared. Its samples are times.
    pub metric: String,
    /// The point with the usual value, and the point with the advised one.
    pub points: [Point; 2],
}

/// The outcome of a trial.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Outcome {
    /// Speed with the advised value over that with the usual one.
    pub gain: f64,
    /// The interval of the gain.
    pub interval: Option<Interval>,
    /// Number of pairs.
    pub pairs: usize,
}

impl Outcome {
    /// True if the advised value surely gains.
    pub fn is_confirmed(&self) -> bool {
        let is_gain = |interval: Interval| interval.low > 1.0 + MARGIN;
        self.interval.is_some_and(is_gain)
    }

    /// True if there were enough pairs for a verdict.
    pub fn is_complete(&self) -> bool {
        self.pairs >= FEWEST_PAIRS
    }
}

/// True if this is the id of a trial in a record.
pub fn is_trial(id: &str) -> bool {
    id.starts_with(PREFIX)
}

/// The id of the trial of `setting` in a record.
pub fn id(setting: &str) -> String {
    format!("{PREFIX}{setting}")
}

impl Trial {
    /// The trial at the points of `results` that gave these estimates of one metric.
    pub fn between(results: &Results<'_>, usual: &Estimate, advised: &Estimate) -> Option<Self> {
        let point = |wanted: &Estimate| {
            let is_wanted = |estimate: &Estimate| std::ptr::eq(estimate, wanted);
            let mut points = results.points.iter();
            let found = points.find(|point| point.estimates.iter().any(is_wanted))?;
            Some(found.point.clone())
        };
        (usual.metric == advised.metric).then_some(())?;
        Some(Self {
            experiment: results.definition.id.clone(),
            metric: usual.metric.clone(),
            points: [point(usual)?, point(advised)?],
        })
    }

    /// The definition of this trial in a record: that of the experiment under another id.
    pub fn definition(&self, setting: &str, of: &Definition) -> Definition {
        Definition {
            id: id(setting),
            ..of.clone()
        }
    }

    /// The visits to each point.
    pub fn requests(&self, planned: &Planned<'_>, task: &Task) -> [Request; 2] {
        let points = self.points.each_ref();
        points.map(|point| Request::new(planned, vec![point.clone()], task.clone()))
    }

    /// Visits both points in turn until the outcome is known or `budget` is used: the batches of each
    /// point, one for each pair. There are none if the user asked to stop, or if there was no time.
    ///
    /// # Errors
    /// If a point cannot be measured.
    pub fn measure(
        &self,
        requests: [Request; 2],
        executor: &mut dyn Executor,
        budget: Nanoseconds,
    ) -> Result<[Vec<Batch>; 2], BatchError> {
        let seed = requests[0].task.seed;
        let mut pairs = Pairs {
            requests,
            metric: &self.metric,
            executor,
            seed,
            visits: 0,
            latest: [const { Vec::new() }; 2],
            kept: [const { Vec::new() }; 2],
            begin_ns: now_ns(),
        };
        // Files are made in the first visit to each point, which does not count.
        for subject in 0..2 {
            if pairs.visit(subject)?.is_none() {
                return Ok(pairs.kept);
            }
        }
        let rules = Rules {
            least_runs: ENOUGH_PAIRS,
            most_runs: Some(MOST_PAIRS),
            ..Rules::new(MARGIN, Budget::Fixed(budget))
        };
        let (_, result) = compare(2, &rules, seed, &mut pairs);
        result.map(|()| pairs.kept)
    }

    /// The outcome of the pairs in these batches, the first of each point in one pair; `None` without any.
    pub fn outcome(&self, [usual, advised]: [&[Batch]; 2]) -> Option<Outcome> {
        let mut contest = Contest::new(2, MARGIN);
        for (usual, advised) in usual.iter().zip(advised) {
            let costs = [cost(usual, &self.metric)?, cost(advised, &self.metric)?];
            contest.add(&Block::new(vec![costs.into()]));
        }
        let Pair {
            ratio, interval, ..
        } = contest.pairs(0.0).pop()?;
        Some(Outcome {
            gain: 1.0 / ratio,
            interval: interval.and_then(|it| it.map(f64::recip)),
            pairs: contest.blocks(),
        })
    }
}

/// The cost of `metric` in one visit: the lower quartile of its legs, which others delay least, or
/// the median of other times. `None` if it is not timed, or takes too little time.
pub fn cost(batch: &Batch, metric: &str) -> Option<f64> {
    let samples = || {
        let samples = batch.samples.iter();
        samples.filter(|sample| sample.metric == metric)
    };
    let costs = samples().flat_map(|sample| sample.reading.costs());
    let costs: Vec<f64> = costs.map(|cost| cost.net_ns).collect();
    let has_legs = samples().any(|sample| matches!(sample.reading, Reading::Legs(_)));
    let found = quantile(&costs, if has_legs { 0.25 } else { 0.5 })?;
    (found > 0.0).then_some(found * PARTS_OF_A_NS)
}

/// Visits a point, again if something else in the system disturbs it. `None` if the user asked to stop.
///
/// # Errors
/// If the point cannot be measured.
pub fn visit(executor: &mut dyn Executor, request: &Request) -> Result<Option<Batch>, BatchError> {
    for attempt in 1.. {
        if executor.is_interrupted() {
            break;
        }
        match executor.execute(request).pop() {
            Some(Ok(batch)) => return Ok(Some(batch)),
            None | Some(Err(BatchError::Interrupted)) => break,
            Some(Err(BatchError::Disturbed(_))) if attempt < ATTEMPTS => {}
            Some(Err(error)) => return Err(error),
        }
    }
    Ok(None)
}

/// The visits of a trial.
struct Pairs<'e> {
    requests: [Request; 2],
    metric: &'e str,
    executor: &'e mut dyn Executor,
    seed: u64,
    visits: u64,
    /// The batches since the last finished pair.
    latest: [Vec<Batch>; 2],
    kept: [Vec<Batch>; 2],
    begin_ns: u64,
}

impl Pairs<'_> {
    fn visit(&mut self, subject: usize) -> Result<Option<Batch>, BatchError> {
        let request = &mut self.requests[subject];
        // Both visits of a pair do the same work.
        request.task.seed = self.seed.wrapping_add(self.visits / 2);
        self.visits += 1;
        visit(self.executor, request)
    }
}

impl Bench for Pairs<'_> {
    type Error = BatchError;

    fn measure(&mut self, subject: usize) -> Result<Option<Vec<f64>>, BatchError> {
        let Some(batch) = self.visit(subject)? else {
            return Ok(None);
        };
        let Some(cost) = cost(&batch, self.metric) else {
            let reason = "it takes too little time for the clock";
            return Err(BatchError::Disturbed(reason.into()));
        };
        self.latest[subject].push(batch);
        Ok(Some(vec![cost]))
    }

    fn elapsed_ns(&self) -> f64 {
        (now_ns() - self.begin_ns) as f64
    }

    fn keep(&mut self, block: &Block, _: &Contest) -> Result<(), BatchError> {
        for (kept, latest) in self.kept.iter_mut().zip(&mut self.latest) {
            for mut batch in latest.drain(..block.turns()) {
                batch.pass = Some(kept.len() as u32);
                kept.push(batch);
            }
            latest.clear();
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::clock::calibrate;
    use crate::made_up;
    use crate::plan::Profile;
    use std::path::PathBuf;

    fn trial() -> Trial {
        Trial {
            experiment: "made.up".into(),
            metric: "cost".into(),
            points: [point(4), point(64)],
        }
    }

    fn batches(count: u32, ns: f64) -> Vec<Batch> {
        let step = if ns < 1e6 { 3 } else { 7 };
        let batch = |index: u32| {
            let cost_ns = ns * (1.0 + 0.002 * f64::from(index * step % 5));
            Batch {
                samples: vec![made_up::cost(vec![cost_ns as u64], &[])],
                ..Batch::default()
            }
        };
        made_up::in_passes((0..count).map(batch))
    }

    fn tried(pairs: u32, advised_ns: f64) -> Outcome {
        let (usual, advised) = (batches(pairs, 1e6), batches(pairs, advised_ns));
        trial()
            .outcome([&usual, &advised])
            .expect("there are pairs")
    }

    #[test]
    fn a_gain_beyond_the_margin_is_confirmed_and_a_smaller_one_is_not() {
        for (advised_ns, is_confirmed) in [
            (5e5, true),
            (9e5, true),
            (9.7e5, false),
            (1e6, false),
            (2e6, false),
        ] {
            let outcome = tried(24, advised_ns);
            assert_eq!(outcome.is_confirmed(), is_confirmed, "{outcome:?}");
            assert!((outcome.gain * advised_ns / 1e6 - 1.0).abs() < 0.02);
        }
    }

    /// Takes 1 ms at the first point and half of that at the second, and is interrupted after some visits.
    struct MadeUp {
        visits: usize,
        most: usize,
    }

    impl Executor for MadeUp {
        fn execute(&mut self, request: &Request) -> Vec<Result<Batch, BatchError>> {
            self.visits += 1;
            let ns = if request.points == [point(4)] {
                1e6
            } else {
                5e5
            };
            batches(self.visits as u32, ns)
                .pop()
                .map(Ok)
                .into_iter()
                .collect()
        }

        fn is_interrupted(&self) -> bool {
            self.visits >= self.most
        }
    }

    fn point(blocks: u64) -> Point {
        Point::new().with("blocks", blocks)
    }

    fn measured(most: usize) -> [Vec<Batch>; 2] {
        let trial = trial();
        let requests = trial.points.each_ref().map(|point| Request {
            experiment: trial.experiment.clone(),
            points: vec![point.clone()],
            confinement: None,
            preload: None,
            least_ns: 0,
            space_bytes: 0,
            task: Task::new(Profile::Quick.precision(), calibrate(), PathBuf::new(), 1),
        });
        let mut executor = MadeUp { visits: 0, most };
        let hour = Nanoseconds(3600e9);
        let measured = trial.measure(requests, &mut executor, hour);
        measured.expect("nothing fails")
    }

    #[test]
    fn pairs_are_numbered_and_their_outcome_is_computed_again_from_them() {
        let batches = measured(usize::MAX);
        let [usual, advised] = batches.each_ref().map(|of| {
            let passes = of.iter().filter_map(|batch| batch.pass);
            passes.collect::<Vec<u32>>()
        });
        assert!(usual.len() >= ENOUGH_PAIRS && usual.len() <= MOST_PAIRS);
        assert!(usual.iter().copied().eq(0..usual.len() as u32));
        assert_eq!(usual, advised);
        let outcome = trial().outcome(batches.each_ref().map(Vec::as_slice));
        let outcome = outcome.expect("there are pairs");
        assert!(
            outcome.is_confirmed() && outcome.pairs == usual.len(),
            "{outcome:?}"
        );
    }

    #[test]
    fn a_stopped_trial_keeps_whole_pairs() {
        for (most, pairs) in [(0, 0), (1, 0), (3, 0), (4, 1), (7, 2)] {
            assert_eq!(measured(most).map(|of| of.len()), [pairs; 2], "{most}");
        }
    }

    #[test]
    fn too_few_pairs_confirm_nothing() {
        let few = tried(4, 5e5);
        assert!(!few.is_complete() && !few.is_confirmed(), "{few:?}");
        assert!(tried(12, 5e5).is_complete());
        assert_eq!(trial().outcome([&[], &[]]), None);
    }
}
