//! The sampler: takes the samples of one point within one process.

use crate::clock::Clock;
use crate::error::MeasureError;
use crate::link::Link;
use crate::phases::Phases;
use crate::sample::{Reading, Sample};
use hdrhistogram::Histogram;
use platform::clock::Calibration;
use platform::usage::Usage;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::io;
use std::path::{Path, PathBuf};

/// What one process is to do at its point.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Task {
    /// Samples wanted of each metric.
    pub samples: usize,
    /// Wall time of the short leg of a sample in ns, if one iteration does not take longer.
    pub sample_ns: u64,
    /// Wall time in ns within which the samples of one metric are taken; at least one is.
    pub batch_ns: u64,
    /// Resolution and cost of the clock.
    pub calibration: Calibration,
    /// The experiment's scratch directory, which need not be there yet; files left there are found by
    /// its later processes, unless other experiments came between.
    #[serde(with = "crate::any_path")]
    pub scratch: PathBuf,
    /// The run's second scratch directory, on another machine.
    #[serde(with = "crate::any_path::optional")]
    pub remote: Option<PathBuf>,
    /// The receiver on another machine that files are sent to, in place of one on this.
    pub link: Option<Link>,
    /// Seed for whatever the experiment draws, different in each process.
    pub seed: u64,
}

/// What a sampler hands on.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Output {
    /// A sample.
    Sample(Sample),
    /// Something about the circumstances that a reader of the numbers should know.
    Remark(String),
    /// A loop that did not settle before its samples were taken.
    NotWarm,
}

/// Takes the samples of one point.
pub struct Sampler<'a> {
    clock: &'a dyn Clock,
    task: &'a Task,
    sink: &'a mut dyn FnMut(Output) -> io::Result<()>,
}

/// A sample is at least this many times as long as the clock's error: 0.1 % of it.
const CLOCK_ERRORS_IN_A_SAMPLE: f64 = 1000.0;
/// Two legs in a row this close to each other show that the loop is warm.
const WARM_DIFFERENCE: f64 = 0.05;
/// Legs that a loop has to become warm.
const WARM_ATTEMPTS: u32 = 20;
/// The part of a batch's time that warming up may take.
const WARM_SHARE: u64 = 2;
/// Single operations that take longer count as this long: a minute.
const LONGEST_LATENCY_NS: u64 = 60_000_000_000;
/// The largest step by which the number of iterations grows while a sample's length is sought.
const GROWTH_LIMIT: f64 = 16.0;

impl<'a> Sampler<'a> {
    /// A sampler that reads `clock` and gives what it takes to `sink`.
    pub fn new(
        clock: &'a dyn Clock,
        task: &'a Task,
        sink: &'a mut dyn FnMut(Output) -> io::Result<()>,
    ) -> Self {
        Self { clock, task, sink }
    }

    /// The experiment's scratch directory.
    pub fn scratch(&self) -> &Path {
        &self.task.scratch
    }

    /// The run's second scratch directory, on another machine.
    ///
    /// # Errors
    /// [`MeasureError::Unsupported`] if the run has none.
    pub fn remote(&self) -> Result<&Path, MeasureError> {
        self.task.remote.as_deref().ok_or_else(|| {
            MeasureError::Unsupported("the run has no directory on another machine".into())
        })
    }

    /// The receiver on another machine that files are sent to, if there is one.
    pub fn link(&self) -> Option<&Link> {
        self.task.link.as_ref()
    }

    /// Seed for whatever the experiment draws.
    pub fn seed(&self) -> u64 {
        self.task.seed
    }

    /// Samples wanted of each metric, for experiments that count or look up.
    pub fn samples(&self) -> usize {
        self.task.samples.max(1)
    }

    /// States something about the circumstances that a reader of the numbers should know.
    ///
    /// # Errors
    /// [`MeasureError::Output`] if nobody reads any more.
    pub fn remark(&mut self, remark: impl Into<String>) -> Result<(), MeasureError> {
        self.put(Output::Remark(remark.into()))
    }

    /// Hands on a number that was counted or looked up, in the metric's unit.
    ///
    /// # Errors
    /// [`MeasureError::Output`] if nobody reads any more.
    pub fn value(&mut self, metric: impl AsRef<str>, value: f64) -> Result<(), MeasureError> {
        let usage = Usage::default();
        self.sample(metric, Reading::Value(value), usage)
    }

    /// Times `body`, which does as many iterations as it is told, each worth `work` bytes or
    /// operations: n of them, then 2n, where n is found so that the clock's error is below 0.1 %.
    ///
    /// # Errors
    /// Those of `body`, and [`MeasureError::Output`] if nobody reads any more.
    pub fn repeat(
        &mut self,
        metric: impl AsRef<str>,
        work: f64,
        mut body: impl FnMut(u64) -> Result<(), MeasureError>,
    ) -> Result<(), MeasureError> {
        let (iterations, leg_ns) = self.calibrate(self.task.sample_ns, &mut body)?;
        if !self.warm_up(iterations, leg_ns, &mut body)? {
            self.put(Output::NotWarm)?;
        }
        let started_ns = self.clock.now_ns();
        for _ in 0..self.task.samples.max(1) {
            let before = self.clock.usage()?;
            let short_ns = self.time(iterations, &mut body)?;
            let long_ns = self.time(2 * iterations, &mut body)?;
            let usage = self.clock.usage()?.since(&before);
            let reading = Reading::Difference {
                iterations,
                work,
                short_ns,
                long_ns,
            };
            self.sample(metric.as_ref(), reading, usage)?;
            if self.is_over(started_ns) {
                break;
            }
        }
        Ok(())
    }

    /// Times runs of `body` that last `least_ns` at least, so that what a run pays once is a small part
    /// of it: for work whose cost comes in large pieces now and then, as where the kernel takes the
    /// processor from who holds a lock, and the difference of two runs would be chance. The runs by
    /// which the number of iterations is found are its warming up.
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
        let least_ns = least_ns.max(self.task.sample_ns);
        let (iterations, _) = self.calibrate(least_ns, &mut body)?;
        let run = || body(iterations);
        self.once(metric, work * iterations as f64, |_| Ok(()), run)
    }

    /// Times `body` once for each sample, after `prepare` has brought about the state it starts
    /// from, such as an empty cache. `work` is in bytes or operations.
    ///
    /// # Errors
    /// Those of `prepare` and `body`, and [`MeasureError::Output`] if nobody reads any more.
    pub fn once(
        &mut self,
        metric: impl AsRef<str>,
        work: f64,
        prepare: impl FnMut(&mut Self) -> Result<(), MeasureError>,
        body: impl FnMut() -> Result<(), MeasureError>,
    ) -> Result<(), MeasureError> {
        self.once_as(&[(metric, work)], prepare, body)
    }

    /// As [`Sampler::once`], where the same time is told by several metrics, each with the work
    /// that it counts: the calls of a pass, its bytes, or the pass itself.
    ///
    /// # Errors
    /// As for [`Sampler::once`].
    pub fn once_as(
        &mut self,
        metrics: &[(impl AsRef<str>, f64)],
        mut prepare: impl FnMut(&mut Self) -> Result<(), MeasureError>,
        mut body: impl FnMut() -> Result<(), MeasureError>,
    ) -> Result<(), MeasureError> {
        let started_ns = self.clock.now_ns();
        for _ in 0..self.task.samples.max(1) {
            prepare(self)?;
            self.time_once(metrics, &mut body)?;
            if self.is_over(started_ns) {
                break;
            }
        }
        Ok(())
    }

    /// Times `body` a single time, however many samples are wanted: for what a process can do only
    /// once, since it leaves the system in another state. `work` is in bytes or operations.
    ///
    /// # Errors
    /// Those of `body`, and [`MeasureError::Output`] if nobody reads any more.
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
        let before = self.clock.usage()?;
        let begin_ns = self.clock.now_ns();
        body()?;
        let wall_ns = self.clock.now_ns().saturating_sub(begin_ns);
        let usage = self.clock.usage()?.since(&before);
        for (metric, work) in metrics {
            self.sample(
                metric,
                Reading::Once {
                    work: *work,
                    wall_ns,
                },
                usage,
            )?;
        }
        Ok(())
    }

    /// Takes samples of several metrics in one go, for work that consists of phases: `body` does the
    /// work once for each sample, and names the metrics that each part of it belongs to. `work` is
    /// in bytes or operations, the same for all of them.
    ///
    /// # Errors
    /// Those of `body`, and [`MeasureError::Output`] if nobody reads any more.
    pub fn phases(
        &mut self,
        work: f64,
        mut body: impl FnMut(&mut Phases<'_>) -> Result<(), MeasureError>,
    ) -> Result<(), MeasureError> {
        let started_ns = self.clock.now_ns();
        for _ in 0..self.task.samples.max(1) {
            let mut phases = Phases::new(self.clock, self.task.calibration.cost_ns);
            body(&mut phases)?;
            for spent in phases.into_spent() {
                let wall_ns = spent.net_ns();
                self.sample(&spent.metric, Reading::Once { work, wall_ns }, spent.usage)?;
            }
            if self.is_over(started_ns) {
                break;
            }
        }
        Ok(())
    }

    /// Times single operations, each net of the clock's cost, and hands on their percentiles:
    /// as many operations as fit into half of the batch's time.
    ///
    /// # Errors
    /// Those of `body`, and [`MeasureError::Output`] if nobody reads any more.
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

    /// As [`latencies`](Self::latencies), for operations that consist of `work` equal ones, whose
    /// latencies are told, or whose latency is not the time of the call: `body` does one and returns
    /// its latency in ns, taken between two readings of the clock. Tells the median that it handed
    /// on, for metrics that are what one cost exceeds another by.
    ///
    /// # Errors
    /// Those of `body`, and [`MeasureError::Output`] if nobody reads any more.
    pub fn latencies_of(
        &mut self,
        metric: impl AsRef<str>,
        work: f64,
        mut body: impl FnMut() -> Result<u64, MeasureError>,
    ) -> Result<f64, MeasureError> {
        let mut histogram = Histogram::<u64>::new_with_max(LONGEST_LATENCY_NS, 3)
            .expect("three significant digits are within what a histogram offers");
        let before = self.clock.usage()?;
        let started_ns = self.clock.now_ns();
        let half_batch_ns = self.task.batch_ns / 2;
        while histogram.is_empty() || self.clock.now_ns().saturating_sub(started_ns) < half_batch_ns
        {
            histogram.saturating_record(body()?);
        }
        let usage = self.clock.usage()?.since(&before);
        let net = |quantile: f64| {
            let gross_ns = histogram.value_at_quantile(quantile) as f64;
            (gross_ns - self.task.calibration.cost_ns).max(0.0) / work
        };
        let p50_ns = net(0.50);
        let reading = Reading::Latencies {
            count: histogram.len(),
            p5_ns: net(0.05),
            p50_ns,
            p95_ns: net(0.95),
            p99_ns: net(0.99),
        };
        self.sample(metric, reading, usage)?;
        Ok(p50_ns)
    }

    /// The number of iterations that take `sample_ns`, or as long as the clock demands, and their time
    /// in ns.
    fn calibrate(
        &self,
        sample_ns: u64,
        body: &mut impl FnMut(u64) -> Result<(), MeasureError>,
    ) -> Result<(u64, u64), MeasureError> {
        let clock_error_ns = self.task.calibration.resolution_ns + self.task.calibration.cost_ns;
        let wanted_ns = f64::max(sample_ns as f64, clock_error_ns * CLOCK_ERRORS_IN_A_SAMPLE);
        let mut iterations: u64 = 1;
        loop {
            let leg_ns = self.time(iterations, body)?;
            if leg_ns as f64 >= wanted_ns || iterations > u64::MAX / 64 {
                return Ok((iterations, leg_ns));
            }
            // A little more than what the last leg predicts, so that the next is the last.
            let growth = 1.1 * wanted_ns / leg_ns.max(1) as f64;
            let growth = growth.clamp(1.0, GROWTH_LIMIT);
            iterations = ((iterations as f64 * growth) as u64).max(iterations + 1);
        }
    }

    /// Runs legs until two in a row take the same time; whether they did within the time there is.
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
            if spent_ns > self.task.batch_ns / WARM_SHARE {
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
        self.clock.now_ns().saturating_sub(started_ns) > self.task.batch_ns
    }

    fn sample(
        &mut self,
        metric: impl AsRef<str>,
        reading: Reading,
        usage: Usage,
    ) -> Result<(), MeasureError> {
        let at_ns = self.clock.now_ns();
        self.put(Output::Sample(Sample {
            metric: metric.as_ref().to_owned(),
            reading,
            usage,
            at_ns,
        }))
    }

    fn put(&mut self, output: Output) -> Result<(), MeasureError> {
        (self.sink)(output).map_err(MeasureError::Output)
    }
}
