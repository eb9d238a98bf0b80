//! Executors: who takes a batch of samples.

use crate::experiment::Confinement;
use crate::point::Point;
use crate::sample::Batch;
use crate::sampler::Task;
use serde::{Deserialize, Serialize};

/// One batch to be taken: which point, and how.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Request {
    /// Id of the experiment.
    pub experiment: String,
    /// The point.
    pub point: Point,
    /// What the worker may use; `None` leaves it what everybody has.
    pub confinement: Option<Confinement>,
    /// Room for scratch files that the experiment takes, in bytes.
    pub space_bytes: u64,
    /// How its samples are taken.
    pub task: Task,
}

/// Takes batches of samples. The program's executor starts a worker process for each; tests have
/// one that makes samples up.
pub trait Executor {
    /// Takes one batch.
    ///
    /// # Errors
    /// Why there is none.
    fn execute(&mut self, request: &Request) -> Result<Batch, BatchError>;

    /// Whether someone asked to stop.
    fn is_interrupted(&self) -> bool;
}

/// Why a batch could not be taken.
#[derive(Debug, thiserror::Error)]
pub enum BatchError {
    /// Someone asked to stop.
    #[error("interrupted")]
    Interrupted,
    /// The system does not offer what the point needs.
    #[error("{0}")]
    Unsupported(String),
    /// Something else in the system spoilt it; another attempt may have better luck.
    #[error("{0}")]
    Disturbed(String),
    /// The limits of the run do not allow it.
    #[error("{0}")]
    Beyond(String),
    /// Something that should have worked failed.
    #[error("{0}")]
    Failed(String),
    /// The worker process ended by itself or fell silent.
    #[error("{0}")]
    Worker(String),
}
