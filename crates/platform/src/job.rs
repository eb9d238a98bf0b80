//! The processes that a launcher such as `mpirun` or `srun` started together on several nodes, through
//! PMIx ([standard, version 4](https://pmix.github.io/pmix-standard/)). Its library is loaded at run time.

use crate::Error;

pub use crate::os::job::{Job, host_name};

/// A reason why processes of a job cannot work together.
#[derive(Debug, thiserror::Error)]
pub enum JobError {
    /// No launcher that speaks PMIx started this process.
    #[error("no launcher that speaks PMIx started this process")]
    NoLauncher,
    /// The library is missing or too old, it or the launcher refused, sent something of another type, or gave no
    /// answer in time.
    #[error("{0}")]
    Failed(String),
    /// A process has published other things, and this not yet.
    #[error("it has not been published yet")]
    NotYet,
    /// This system has no such jobs.
    #[error(transparent)]
    Unsupported(#[from] Error),
}

/// A result with [`JobError`].
pub type Result<T> = std::result::Result<T, JobError>;

/// The bytes that a process published, with its rank.
pub type Published = (u32, Result<Vec<u8>>);
