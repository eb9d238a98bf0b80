//! Measures one duel by visits of worker processes, and records them.

use super::duels::Recording;
use crate::command::ab::results;
use crate::kernel_settings::ChangedSetting;
use crate::progress::LiveLine;
use instrument::ab::{Bench, Block, Contest};
use instrument::runner::{Request, WorkerExecutor};
use instrument::sample::Batch;
use instrument::trial::{self, ATTEMPTS, cost};
use platform::clock::now_ns;
use std::path::PathBuf;

/// The reason why a duel ended early.
pub enum Stop {
    /// The point cannot be measured.
    Point(String),
    /// The comparison cannot go on.
    All(anyhow::Error),
}

/// One way to measure: a point with its surroundings.
#[derive(Clone)]
pub struct Way {
    pub name: String,
    pub request: Request,
    /// The run's scratch directory for it.
    pub scratch: PathBuf,
    pub environment: Vec<(String, String)>,
    /// Value of the setting.
    pub setting: Option<String>,
}

/// The ways at one point as the subjects of a comparison.
pub struct Visits<'a, 's> {
    pub ways: &'a [Way],
    /// The metrics that are timed; the first decides when the duel ends.
    pub metrics: Vec<String>,
    pub executor: &'a mut WorkerExecutor,
    pub changed: Option<&'a ChangedSetting>,
    pub recording: &'a mut Recording<'s>,
    pub progress: &'a mut LiveLine,
    pub seed: u64,
    pub done: u64,
    pub begin_ns: u64,
    /// Time of one visit of each way, as the warm-up shows it.
    pub round_ns: f64,
}

impl Visits<'_, '_> {
    /// Visits each way `warmup` times, at least once, and keeps those of `metrics` that are timed.
    /// These visits do not count. `None` if the user asked to stop.
    pub fn warm_up(mut self, metrics: &[String], warmup: usize) -> Result<Option<Self>, Stop> {
        self.metrics = metrics.to_vec();
        self.round_ns = f64::INFINITY;
        for _ in 0..warmup.max(1) {
            let round_begin_ns = now_ns();
            for way in 0..self.ways.len() {
                let Some(batch) = self.visit(way)? else {
                    return Ok(None);
                };
                self.metrics.retain(|metric| cost(&batch, metric).is_some());
            }
            self.round_ns = self.round_ns.min((now_ns() - round_begin_ns) as f64);
        }
        if self.metrics.is_empty() {
            return Err(Stop::Point(
                "nothing that all ways have is timed there".into(),
            ));
        }
        self.begin_ns = now_ns();
        Ok(Some(self))
    }

    fn visit(&mut self, way: usize) -> Result<Option<Batch>, Stop> {
        let chosen = &self.ways[way];
        if let (Some(changed), Some(value)) = (self.changed, &chosen.setting) {
            changed.set(value).map_err(Stop::All)?;
        }
        self.executor.scratch.clone_from(&chosen.scratch);
        self.executor.environment.clone_from(&chosen.environment);
        let mut request = chosen.request.clone();
        // The ways of one turn do the same work.
        request.task.seed = self.seed.wrapping_add(self.done / self.ways.len() as u64);
        self.done += 1;
        let visited = trial::visit(self.executor, &request);
        visited.map_err(|error| Stop::Point(format!("'{}': {error}", chosen.name)))
    }
}

impl Bench for Visits<'_, '_> {
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
                    self.recording.add(subject, batch).map_err(Stop::All)?;
                    return Ok(Some(costs));
                }
                Err(metric) => lost = Some(metric.clone()),
            }
        }
        Err(Stop::Point(format!(
            "'{}': {} takes too little time for the clock",
            self.ways[subject].name,
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
        let (ways, elapsed_ns) = (self.ways, self.elapsed_ns());
        self.progress.update(|| {
            let pairs = contest.pairs(elapsed_ns);
            let known = pairs
                .first()
                .map(|pair| results::sentence(&ways[0].name, &ways[pair.rival].name, pair));
            format!(
                "{}: {}",
                ways[0].request.points[0],
                known.unwrap_or_default()
            )
        });
        Ok(())
    }
}
