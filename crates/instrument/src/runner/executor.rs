//! Executors: take batches of samples.

use crate::experiment::Confinement;
use crate::point::Point;
use crate::sample::Batch;
use crate::sampler::Task;
use serde::{Deserialize, Serialize};

/// The request for one batch.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Request {
    /// Id of the experiment.
    pub experiment: String,
    /// The point.
    pub point: Point,
    /// Limits for the worker; `None` sets no extra limits.
    pub confinement: Option<Confinement>,
    /// Disk space of the experiment's scratch files, in bytes.
    pub space_bytes: u64,
    /// Sampling instructions.
    pub task: Task,
}

/// Takes batches of samples. The program's executor starts a worker process for each batch; tests
/// use one that makes up the samples.
pub trait Executor {
    /// Takes one batch.
    ///
    /// # Errors
    /// The reason why the batch failed.
    fn execute(&mut self, request: &Request) -> Result<Batch, BatchError>;

    /// True if the user asked to stop.
    fn is_interrupted(&self) -> bool;
}

/// The reason why a batch failed.
#[derive(Debug, thiserror::Error)]
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
