//! The sampler: takes the samples of one point within one process; see the drawing in
//! [`crate::runner`].

use crate::clock::{BracketedLegs, Calibration, Clock};
use crate::error::MeasureError;
use crate::given::{Given, Givens};
use crate::latencies::Latencies;
use crate::phases::Phases;
use crate::pieces::Pieces;
use crate::sample::{Batch, Legs, Reading, Sample};
use crate::setting::Precision;
use platform::usage::Usage;
use serde::{Deserialize, Serialize};
use std::path::{Path, PathBuf};

/// The work of one process at its point.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Task {
    /// The number and the times of samples and legs.
    pub precision: Precision,
    /// Resolution and cost of the clock.
    pub calibration: Calibration,
    /// The experiment's scratch directory, which may not exist yet. Later processes of the same
    /// experiment find its files, unless another experiment ran in between.
    #[serde(with = "crate::any_path")]
    pub scratch: PathBuf,
    /// The things that only the user can name.
    pub given: Givens,
    /// Seed for the experiment's random choices, different in each process.
    pub seed: u64,
}

impl Task {
    /// The work that `precision` asks for in the directory `scratch`.
    pub fn new(
        precision: Precision,
        calibration: Calibration,
        scratch: PathBuf,
        seed: u64,
    ) -> Self {
        Self {
            precision,
            calibration,
            scratch,
            given: Givens::default(),
            seed,
        }
    }
}

/// Takes the samples of one point.
pub struct Sampler<'a> {
    clock: &'a dyn Clock,
    task: &'a Task,
    batch: &'a mut Batch,
}

/// A leg is at least this many times as long as the clock's error: 0.1 % of it.
const CLOCK_ERRORS_IN_A_LEG: f64 = 1000.0;
/// A loop is warm if two consecutive legs differ by less than this share.
const WARM_DIFFERENCE: f64 = 0.05;
/// The most warm-up legs.
const WARM_ATTEMPTS: u32 = 20;
/// The warm-up may take one part in this many of a batch's time.
const WARM_SHARE: u64 = 2;
/// A run of at least one part in this many predicts the length of a long run: it is long enough to
/// contain some of the rare costs.
const PREDICTING: u64 = 4;
/// A long run aims at this many times the least length, since the prediction errs.
const LONGER_THAN_LEAST: f64 = 1.2;
/// The largest growth factor of the iteration count while searching for a leg's length.
const GROWTH_LIMIT: f64 = 16.0;
/// A short leg has this many times fewer iterations than a leg.
const SHORTER: u64 = 16;
/// With fewer iterations than this in a leg, there are no short legs: the cost that a leg pays once
/// is then small compared with an iteration.
const FEWEST_FOR_SHORT_LEGS: u64 = 4;
/// One short leg is timed for this many legs.
const LEGS_PER_SHORT_LEG: usize = 4;
/// Largest share of a leg's time that may be paid once; otherwise the leg is made longer.
const MOST_FIXED: f64 = 0.1;
/// A leg is made at most this many times longer for that.
const MOST_LONGER: f64 = 20.0;

impl<'a> Sampler<'a> {
    /// A sampler that reads `clock` and adds its samples and remarks to `batch`.
    pub fn new(clock: &'a dyn Clock, task: &'a Task, batch: &'a mut Batch) -> Self {
        Self { clock, task, batch }
    }

    /// The experiment's scratch directory.
    pub fn scratch(&self) -> &Path {
        &self.task.scratch
    }

    /// The thing of this type that the user named, if any.
    ///
    /// # Errors
    /// [`MeasureError::Unsupported`] if it cannot be used.
    pub fn given<G: Given>(&self) -> Result<Option<G>, MeasureError> {
        let given = self.task.given.get().transpose();
        given.map_err(MeasureError::Unsupported)
    }

    /// Seed for the experiment's random choices.
    pub fn seed(&self) -> u64 {
        self.task.seed
    }

    /// Requested samples of each metric, for experiments that count or look up values.
    pub fn samples(&self) -> usize {
        self.task.precision.samples.max(1)
    }

    /// Adds a remark about the circumstances that a reader of the numbers should know.
    pub fn remark(&mut self, remark: impl Into<String>) {
        self.batch.remarks.push(remark.into());
    }

    /// Adds a number that was counted or looked up, in the metric's unit.
    pub fn value(&mut self, metric: impl AsRef<str>, value: f64) {
        self.sample(metric, Reading::Value(value), Usage::default());
    }

    /// Times `body`, which performs the given number of iterations of `work` bytes or operations
    /// each.
    ///
    /// 1. Increase n until n iterations take `leg_ns`, the clock's error is below 0.1 % of their
    ///    time, and what a leg pays once is a small share. Not recorded.
    /// 2. Warm up: run n iterations until two consecutive runs take about the same time. Not
    ///    recorded.
    /// 3. Time legs of n iterations, each between two readings of the reference loops. After every
    ///    fourth, time a short leg of n/16 iterations, which shows the cost that a leg pays once.
    ///
    /// # Errors
    /// Those of `body`.
    pub fn repeat(
        &mut self,
        metric: impl AsRef<str>,
        work: f64,
        body: impl FnMut(u64) -> Result<(), MeasureError>,
    ) -> Result<(), MeasureError> {
        self.repeat_as(&[(metric, work)], body)
    }

    /// As [`Sampler::repeat`], but several metrics report the same legs, each with its own work: the
    /// calls of a loop, or its bytes.
    ///
    /// # Errors
    /// As for [`Sampler::repeat`].
    pub fn repeat_as(
        &mut self,
        metrics: &[(impl AsRef<str>, f64)],
        mut body: impl FnMut(u64) -> Result<(), MeasureError>,
    ) -> Result<(), MeasureError> {
        let (iterations, leg_ns) = self.calibrate(self.task.precision.leg_ns, &mut body)?;
        let (iterations, leg_ns) = self.lengthen(iterations, leg_ns, &mut body)?;
        if !self.warm_up(iterations, leg_ns, &mut body)? {
            self.batch.warm = false;
        }
        let mut legs = Legs {
            iterations,
            short_iterations: short_iterations(iterations).unwrap_or(0),
            ..Legs::default()
        };
        let mut usage = Usage::default();
        let started_ns = self.clock.now_ns();
        let mut references = BracketedLegs::open(self.clock, leg_ns);
        let most = self.task.precision.legs.max(1);
        for number in 1..=most {
            let before = self.clock.usage()?;
            legs.wall_ns.push(self.time(iterations, &mut body)?);
            usage += self.clock.usage()?.since(&before);
            let is_last = number == most || self.is_over(started_ns);
            references.note(&mut legs, is_last);
            if legs.short_iterations > 0 && number % LEGS_PER_SHORT_LEG == 1 {
                let short_ns = self.time(legs.short_iterations, &mut body)?;
                legs.short_wall_ns.push(short_ns);
            }
            if is_last {
                break;
            }
        }
        for (metric, work) in metrics {
            let legs = Legs {
                work: *work,
                ..legs.clone()
            };
            self.sample(metric, Reading::Legs(legs), usage);
        }
        Ok(())
    }

    /// Times runs of `body` that last about `least_ns` or longer, so that the fixed cost of a run is a
    /// small share of it. Use it for work whose cost comes rarely and in large pieces, for example
    /// when the kernel preempts the holder of a lock: short legs would mostly miss it.
    /// The shorter runs that search for the number of iterations are the warm-up.
    ///
    /// # Errors
    /// As for [`Sampler::repeat`].
    pub fn long_runs(
        &mut self,
        metric: impl AsRef<str>,
        work: f64,
        least_ns: u64,
        mut body: impl FnMut(u64) -> Result<(), MeasureError>,
    ) -> Result<(), MeasureError> {
        let least_ns = least_ns.max(self.task.precision.leg_ns);
        let (searched, run_ns) = self.calibrate(least_ns / PREDICTING, &mut body)?;
        let longer = (LONGER_THAN_LEAST * least_ns as f64 / run_ns.max(1) as f64).max(1.0);
        let iterations = (searched as f64 * longer) as u64;
        let run = || body(iterations);
        self.once(metric, work * iterations as f64, |_| Ok(()), run)
    }

    /// Times `body` once for each sample. Before each, `prepare` sets up the starting state, for
    /// example an empty cache; this is not timed. `work` is in bytes or operations.
    ///
    /// # Errors
    /// Those of `prepare` and `body`.
    pub fn once(
        &mut self,
        metric: impl AsRef<str>,
        work: f64,
        prepare: impl FnMut(&mut Self) -> Result<(), MeasureError>,
        body: impl FnMut() -> Result<(), MeasureError>,
    ) -> Result<(), MeasureError> {
        self.once_as(&[(metric, work)], prepare, body)
    }

    /// As [`Sampler::once`], but several metrics report the same time, each with its own work: the
    /// calls of a pass, its bytes, or the pass itself.
    ///
    /// # Errors
    /// As for [`Sampler::once`].
    pub fn once_as(
        &mut self,
        metrics: &[(impl AsRef<str>, f64)],
        mut prepare: impl FnMut(&mut Self) -> Result<(), MeasureError>,
        mut body: impl FnMut() -> Result<(), MeasureError>,
    ) -> Result<(), MeasureError> {
        self.each_sample(|sampler| {
            prepare(sampler)?;
            sampler.time_once(metrics, &mut body)
        })
    }

    /// Takes samples until there are as many as requested, or until the time is used up.
    fn each_sample(
        &mut self,
        mut take: impl FnMut(&mut Self) -> Result<(), MeasureError>,
    ) -> Result<(), MeasureError> {
        let started_ns = self.clock.now_ns();
        for _ in 0..self.samples() {
            take(self)?;
            if self.is_over(started_ns) {
                break;
            }
        }
        Ok(())
    }

    /// As [`Sampler::once`], but several ways to do the same take turns, forwards and backwards: two
    /// ways are timed in the order ABBA. A drift touches them alike, and their ratio within a process
    /// is much steadier than each of them. `ways` names the metric and the work of each;
    /// `prepare` and `body` get the index of the way. The seed decides which way begins.
    ///
    /// # Errors
    /// As for [`Sampler::once`].
    pub fn in_turn(
        &mut self,
        ways: &[(impl AsRef<str>, f64)],
        mut prepare: impl FnMut(&mut Self, usize) -> Result<(), MeasureError>,
        mut body: impl FnMut(usize) -> Result<(), MeasureError>,
    ) -> Result<(), MeasureError> {
        let mut order: Vec<usize> = (0..ways.len()).collect();
        if !self.seed().is_multiple_of(2) {
            order.reverse();
        }
        self.each_sample(|sampler| {
            for &way in &order {
                prepare(sampler, way)?;
                sampler.time_once(&ways[way..=way], || body(way))?;
            }
            order.reverse();
            Ok(())
        })
    }

    /// Times `body` exactly once, whatever the requested number of samples: for work that a process
    /// can do only once, because it changes the state of the system. `work` is in bytes or
    /// operations.
    ///
    /// # Errors
    /// Those of `body`.
    pub fn single(
        &mut self,
        metric: impl AsRef<str>,
        work: f64,
        body: impl FnOnce() -> Result<(), MeasureError>,
    ) -> Result<(), MeasureError> {
        self.time_once(&[(metric, work)], body)
    }

    fn time_once(
        &mut self,
        metrics: &[(impl AsRef<str>, f64)],
        body: impl FnOnce() -> Result<(), MeasureError>,
    ) -> Result<(), MeasureError> {
        let references = self.clock.references();
        let ((), wall_ns, usage) = self.clock.timed(body)?;
        let (reference_ns, around) = self.clock.around(references);
        for (metric, work) in metrics {
            let reading = Reading::Once {
                work: *work,
                wall_ns,
                reference_ns,
                around,
            };
            self.sample(metric, reading, usage);
        }
        Ok(())
    }

    /// Samples several metrics together, for work that consists of phases: `body` does the work
    /// once for each sample, and names the metrics of each phase. `work` is in bytes or operations,
    /// the same for all metrics.
    ///
    /// # Errors
    /// Those of `body`.
    pub fn phases(
        &mut self,
        work: f64,
        mut body: impl FnMut(&mut Phases<'_>) -> Result<(), MeasureError>,
    ) -> Result<(), MeasureError> {
        self.each_sample(|sampler| {
            let references = sampler.clock.references();
            let mut phases = Phases::new(sampler.clock, sampler.task.calibration.cost_ns);
            body(&mut phases)?;
            let (reference_ns, around) = sampler.clock.around(references);
            for spent in phases.spent {
                let reading = Reading::Once {
                    work,
                    wall_ns: spent.net_ns(),
                    reference_ns,
                    around,
                };
                sampler.sample(&spent.metric, reading, spent.usage);
            }
            Ok(())
        })
    }

    /// As [`Sampler::phases`], for phases that consist of many short operations: each is timed in
    /// pieces, which are its legs. `body` does the work once, and names the metric and the operations
    /// of each piece; it is repeated until each metric has the requested number of legs.
    ///
    /// # Errors
    /// Those of `body`.
    pub fn pieces(
        &mut self,
        mut body: impl FnMut(&mut Pieces<'_>) -> Result<(), MeasureError>,
    ) -> Result<(), MeasureError> {
        let started_ns = self.clock.now_ns();
        let mut pieces = Pieces::new(self.clock);
        loop {
            body(&mut pieces)?;
            if pieces.fewest() >= self.task.precision.legs || self.is_over(started_ns) {
                break;
            }
        }
        for phase in pieces.phases {
            self.sample(&phase.metric, Reading::Legs(phase.legs), phase.usage);
        }
        Ok(())
    }

    /// Times single operations, net of the clock's cost, which is timed next to each, and reports their
    /// percentiles. It times as many operations as fit into half of the batch's time.
    ///
    /// # Errors
    /// Those of `body`.
    pub fn latencies(
        &mut self,
        metric: impl AsRef<str>,
        mut body: impl FnMut() -> Result<(), MeasureError>,
    ) -> Result<(), MeasureError> {
        let clock = self.clock;
        let timed = || {
            let begin_ns = clock.now_ns();
            body()?;
            Ok(clock.now_ns().saturating_sub(begin_ns))
        };
        self.latencies_of(metric, 1.0, timed).map(drop)
    }

    /// As [`latencies`](Self::latencies), for operations whose latency differs from the time of the
    /// call, or that consist of `work` equal operations and report the latency of one. `body` does
    /// one operation and returns its latency in ns, taken between two readings of the clock.
    /// Returns the reported median, for metrics that are the difference of two costs.
    ///
    /// # Errors
    /// Those of `body`.
    pub fn latencies_of(
        &mut self,
        metric: impl AsRef<str>,
        work: f64,
        mut body: impl FnMut() -> Result<u64, MeasureError>,
    ) -> Result<f64, MeasureError> {
        let mut latencies = Latencies::new();
        let references = self.clock.references();
        let before = self.clock.usage()?;
        let started_ns = self.clock.now_ns();
        let half_batch_ns = self.task.precision.batch_ns / 2;
        loop {
            let operation_ns = body()?;
            let begin_ns = self.clock.now_ns();
            let end_ns = self.clock.now_ns();
            latencies.add(operation_ns, end_ns.saturating_sub(begin_ns));
            if end_ns.saturating_sub(started_ns) >= half_batch_ns {
                break;
            }
        }
        let usage = self.clock.usage()?.since(&before);
        let (reference_ns, around) = self.clock.around(references);
        let quantiles_ns = latencies.quantiles_ns([0.05, 0.5, 0.95, 0.99]);
        let [fast, median, slow, slowest] = quantiles_ns.map(|ns| ns / work);
        let reading = Reading::Latencies {
            count: latencies.count(),
            p5_ns: fast,
            p50_ns: median,
            p95_ns: slow,
            p99_ns: slowest,
            reference_ns,
            around,
        };
        self.sample(metric, reading, usage);
        Ok(median)
    }

    /// The number of iterations that take `least_ns`, or longer if the clock's error demands it,
    /// and their time in ns.
    fn calibrate(
        &self,
        least_ns: u64,
        body: &mut impl FnMut(u64) -> Result<(), MeasureError>,
    ) -> Result<(u64, u64), MeasureError> {
        let clock_error_ns = self.task.calibration.resolution_ns + self.task.calibration.cost_ns;
        let wanted_ns = f64::max(least_ns as f64, clock_error_ns * CLOCK_ERRORS_IN_A_LEG);
        let mut iterations: u64 = 1;
        loop {
            let leg_ns = self.time(iterations, body)?;
            if leg_ns as f64 >= wanted_ns || iterations > u64::MAX / 64 {
                return Ok((iterations, leg_ns));
            }
            // 10 % more than the prediction of the last leg, so that the next leg is the last.
            let growth = 1.1 * wanted_ns / leg_ns.max(1) as f64;
            let growth = growth.clamp(1.0, GROWTH_LIMIT);
            iterations = ((iterations as f64 * growth) as u64).max(iterations + 1);
        }
    }

    /// More iterations if the cost that a leg pays once is too large a share of `leg_ns`, with
    /// their time in ns.
    fn lengthen(
        &self,
        iterations: u64,
        leg_ns: u64,
        body: &mut impl FnMut(u64) -> Result<(), MeasureError>,
    ) -> Result<(u64, u64), MeasureError> {
        let Some(short_iterations) = short_iterations(iterations) else {
            return Ok((iterations, leg_ns));
        };
        let short_ns = self.time(short_iterations, body)?;
        let legs = Legs {
            iterations,
            wall_ns: vec![leg_ns],
            short_iterations,
            short_wall_ns: vec![short_ns],
            ..Legs::default()
        };
        let fixed_ns = legs.fixed_ns();
        let wanted_ns = fixed_ns * (1.0 / MOST_FIXED - 1.0);
        let longer = wanted_ns / (leg_ns as f64 - fixed_ns).max(1.0);
        let most = MOST_LONGER.min(self.task.precision.batch_ns as f64 / leg_ns.max(1) as f64);
        if longer <= 1.0 || most <= 1.0 {
            return Ok((iterations, leg_ns));
        }
        let iterations = (iterations as f64 * longer.min(most)) as u64;
        Ok((iterations, self.time(iterations, body)?))
    }

    /// Runs legs until two consecutive ones take about the same time. True if they did within the
    /// time limit.
    fn warm_up(
        &self,
        iterations: u64,
        first_ns: u64,
        body: &mut impl FnMut(u64) -> Result<(), MeasureError>,
    ) -> Result<bool, MeasureError> {
        let started_ns = self.clock.now_ns();
        let mut previous_ns = first_ns;
        for _ in 0..WARM_ATTEMPTS {
            let leg_ns = self.time(iterations, body)?;
            if leg_ns.abs_diff(previous_ns) as f64 <= WARM_DIFFERENCE * previous_ns as f64 {
                return Ok(true);
            }
            previous_ns = leg_ns;
            let spent_ns = self.clock.now_ns().saturating_sub(started_ns);
            if spent_ns > self.task.precision.batch_ns / WARM_SHARE {
                break;
            }
        }
        Ok(false)
    }

    fn time(
        &self,
        iterations: u64,
        body: &mut impl FnMut(u64) -> Result<(), MeasureError>,
    ) -> Result<u64, MeasureError> {
        #[cfg(feature = "extra-work")]
        let iterations = crate::extra_work::added_to(iterations);
        let begin_ns = self.clock.now_ns();
        body(iterations)?;
        Ok(self.clock.now_ns().saturating_sub(begin_ns))
    }

    fn is_over(&self, started_ns: u64) -> bool {
        self.clock.now_ns().saturating_sub(started_ns) > self.task.precision.batch_ns
    }

    fn sample(&mut self, metric: impl AsRef<str>, reading: Reading, usage: Usage) {
        self.batch.samples.push(Sample {
            metric: metric.as_ref().to_owned(),
            reading,
            usage,
            at_ns: self.clock.now_ns(),
        });
    }
}

/// Iterations of a short leg; `None` if a leg has too few.
fn short_iterations(iterations: u64) -> Option<u64> {
    (iterations >= FEWEST_FOR_SHORT_LEGS).then(|| (iterations / SHORTER).max(1))
}
