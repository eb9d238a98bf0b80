//! Executors: take batches of samples.

use crate::experiment::Confinement;
use crate::limits::Used;
use crate::plan::Planned;
use crate::point::Point;
use crate::sample::Batch;
use crate::sampler::Task;
use crate::statistics::random::Random;
use serde::{Deserialize, Serialize};

/// The request for one process.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Request {
    /// Id of the experiment.
    pub experiment: String,
    /// The points that the process visits, in this order, each once.
    pub points: Vec<Point>,
    /// Limits for the worker; `None` sets no extra limits.
    pub confinement: Option<Confinement>,
    /// The library that the worker loads before all others, if any.
    pub preload: Option<String>,
    /// Disk space of the experiment's scratch files, in bytes.
    pub space_bytes: u64,
    /// Wall time that the visits take at the least because their levels ask for it, in ns.
    pub least_ns: u64,
    /// Sampling instructions for each point. Each visit has its own seed
    /// ([`Request::visits`]).
    pub task: Task,
}

impl Request {
    /// A visit to each of these points of an experiment. A point with limits or a preloaded library has a process of
    /// its own.
    pub fn new(planned: &Planned<'_>, points: Vec<Point>, task: Task) -> Self {
        let experiment = planned.experiment;
        let least_ns = |point| experiment.least_ns(point);
        let alone = points.first().filter(|_| points.len() == 1);
        Self {
            experiment: planned.definition.id.clone(),
            confinement: alone.and_then(|point| experiment.confinement(point)),
            preload: alone.and_then(|point| experiment.preload(point)),
            space_bytes: planned.space_bytes,
            least_ns: points.iter().map(least_ns).sum(),
            points,
            task,
        }
    }

    /// Each point with its instructions.
    pub fn visits(&self) -> impl Iterator<Item = (&Point, Task)> {
        let mut seeds = Random::new(self.task.seed);
        self.points.iter().map(move |point| {
            let task = Task {
                seed: seeds.bits(),
                ..self.task.clone()
            };
            (point, task)
        })
    }

    /// The same visits, each in a separate process.
    pub fn apart(&self) -> impl Iterator<Item = Self> {
        self.visits().map(|(point, task)| Self {
            points: vec![point.clone()],
            task,
            ..self.clone()
        })
    }
}

/// Takes batches of samples. The program's executor starts a worker process for each request; tests
/// use one that makes up the samples.
pub trait Executor {
    /// Takes one batch at each point of the request. Returns for each, in the order of the request,
    /// the batch or the reason why it failed.
    fn execute(&mut self, request: &Request) -> Vec<Result<Batch, BatchError>>;

    /// True if the user asked to stop.
    fn is_interrupted(&self) -> bool;

    /// The resources used so far, with the bytes that the request is expected to write; `None` without
    /// limits.
    fn used_with(&self, _: &Request) -> Option<Used> {
        None
    }
}

/// The reason why a batch failed.
#[derive(Debug, thiserror::Error, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum BatchError {
    /// The user asked to stop.
    #[error("interrupted")]
    Interrupted,
    /// The system does not offer what the point needs.
    #[error("{0}")]
    Unsupported(String),
    /// Other activity in the system spoilt the batch; a retry may succeed.
    #[error("{0}")]
    Disturbed(String),
    /// The limits of the run do not allow it.
    #[error("{0}")]
    Beyond(String),
    /// Something failed that should have worked.
    #[error("{0}")]
    Failed(String),
    /// The worker process died or stopped responding.
    #[error("{0}")]
    Worker(String),
}
