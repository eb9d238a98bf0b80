//! The processes that a launcher such as `mpirun` or `srun` started together on several nodes, through
//! PMIx ([standard, version 4](https://pmix.github.io/pmix-standard/)). Its library is loaded at run time.

use crate::Error;
use std::time::Duration;

pub use crate::os::job::{Job, host_name};

/// A reason why processes of a job cannot work together.
#[derive(Debug, thiserror::Error)]
pub enum JobError {
    /// No launcher that speaks PMIx started this process.
    #[error("no launcher that speaks PMIx started this process")]
    NoLauncher,
    /// The library is missing or too old.
    #[error("cannot load the library of PMIx: {0}")]
    NoLibrary(String),
    /// The library or the launcher refused.
    #[error("PMIx cannot {action}: {reason}")]
    Refused {
        /// The refused action, as a verb.
        action: &'static str,
        /// The library's word for it.
        reason: String,
    },
    /// The launcher sent something of another type.
    #[error("PMIx gave no usable {0}")]
    Unexpected(&'static str),
    /// A process has published other things, and this not yet.
    #[error("it has not been published yet")]
    NotYet,
    /// The time limit passed.
    #[error("no answer within {0:?}")]
    Late(Duration),
    /// This system has no such jobs.
    #[error(transparent)]
    Unsupported(#[from] Error),
}

/// A result with [`JobError`].
pub type Result<T> = std::result::Result<T, JobError>;

/// The bytes that a process published, with its rank.
pub type Published = (u32, Result<Vec<u8>>);
