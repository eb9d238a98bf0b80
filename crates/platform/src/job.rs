//! The processes that a launcher such as `mpirun` or `srun` started together on several nodes, through
//! PMIx ([standard, version 4](https://pmix.github.io/pmix-standard/)). Its library is loaded at run time.

use crate::{Error, os};
use std::ffi::CStr;
use std::sync::mpsc::Sender;
use std::time::Duration;

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
    /// The launcher said something of another type.
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
    Lacking(#[from] Error),
}

/// A result with [`JobError`].
pub type Result<T> = std::result::Result<T, JobError>;

/// The bytes that a process published, with its rank.
pub type Published = (u32, Result<Vec<u8>>);

/// This process as a member of a job, until it is dropped.
#[derive(Debug)]
pub struct Job(os::job::Job);

face! {
    os::job;

    /// The name of this node, as its system says.
    pub fn host_name() -> Option<String> = None;

    impl Job {
        /// Joins the job for which a launcher started this process.
        ///
        /// # Errors
        /// If there is no launcher or no library, or the launcher refuses.
        pub fn join() -> Result<Self> = refuse("a job of several processes");

        /// The number of this process, from 0.
        pub fn rank(&self) -> u32;

        /// Number of processes in the job.
        pub fn size(&self) -> u32;

        /// The number of this process among those on its node, from 0.
        ///
        /// # Errors
        /// If the launcher does not say.
        pub fn rank_on_node(&self) -> Result<u16>;

        /// The launcher's name for the node of process `rank`.
        ///
        /// # Errors
        /// If the launcher does not say.
        pub fn host_of(&self, rank: u32) -> Result<String>;

        /// Waits until the processes `ranks` are here, this one among them, at most for `limit`. All of them
        /// must name the same processes. One that gave up still counts as here: after that, the calls of
        /// these processes no longer match.
        ///
        /// # Errors
        /// [`JobError::Late`], or the launcher's refusal.
        pub fn fence(&self, ranks: &[u32], limit: Duration) -> Result<()>;

        /// Publishes `bytes` as `name` to the other processes for as long as this one is in the job. Each
        /// name is published once.
        ///
        /// # Errors
        /// The library's refusal.
        pub fn publish(&self, name: &'static CStr, bytes: &[u8]) -> Result<()>;

        /// Sends what process `rank` publishes as `name` to `receiver`. Of a process that has published
        /// nothing, that is as soon as it does. Of another one it is what is there now, or
        /// [`JobError::NotYet`]: ask again. There may never be an answer, since launchers do not tell that
        /// a process died, and some honour no time limit.
        ///
        /// # Errors
        /// The library's refusal.
        pub fn request(&self, name: &'static CStr, rank: u32, receiver: Sender<Published>) -> Result<()>;
    }
}
