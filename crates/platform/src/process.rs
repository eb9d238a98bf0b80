//! Worker processes: children that read and write lines, and never outlive their parent.

pub(crate) mod buffer;

use std::fmt;
use std::io;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::confinement::MemoryGroup;
use crate::usage::Usage;
use crate::{Error, os};

pub use crate::os::process::{Twin, Worker};

/// Exit of a process.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Exit {
    /// The process exited with this code; 0 is success.
    Code(i32),
    /// This signal killed it.
    Signal(i32),
}

impl Exit {
    /// True for exit code 0.
    pub fn is_success(self) -> bool {
        self == Self::Code(0)
    }
}

impl fmt::Display for Exit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Code(code) => write!(f, "exit code {code}"),
            Self::Signal(signal) => match os::process::signal_name(*signal) {
                Some(name) => write!(f, "signal {signal} ({name})"),
                None => write!(f, "signal {signal}"),
            },
        }
    }
}

/// Exit of a process and its resource usage.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Finished {
    /// The exit.
    pub exit: Exit,
    /// Usage of the process and its own children.
    pub usage: Usage,
}

/// Options of a worker.
#[derive(Clone, Debug, Default)]
pub struct WorkerOptions<'a> {
    /// The only CPU on which it may run; `None` keeps the CPUs of its parent. On Windows this holds for
    /// its first thread only: new threads may run on all CPUs of the process.
    pub pin_cpu: Option<usize>,
    /// The group that it enters before its program starts; `None` keeps the group of its parent.
    pub memory_group: Option<&'a MemoryGroup>,
    /// Its limits.
    pub limits: WorkerLimits,
}

/// Limits of a worker, and of each process that it starts
/// ([setrlimit(2)](https://man7.org/linux/man-pages/man2/setrlimit.2.html)). An existing lower
/// limit stays. Windows limits the committed memory instead of the address space, and no file size.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct WorkerLimits {
    /// The largest address space of one process, in bytes.
    pub address_space_bytes: Option<u64>,
    /// The largest file that it may create, in bytes. A write beyond that fails.
    pub file_bytes: Option<u64>,
}

/// The reason for a missing answer of a worker.
#[derive(Debug, thiserror::Error)]
pub enum WorkerError {
    /// The deadline passed. The worker still runs: drop or kill it.
    #[error("the worker did not answer in time")]
    TimedOut,
    /// The caller's flag was set. The worker still runs: drop or kill it.
    #[error("interrupted while waiting for the worker")]
    Interrupted,
    /// The worker exited too early, or without a request.
    #[error("the worker ended with {}{}", finished.exit, quoted(stderr))]
    Died {
        /// Its exit and its usage.
        finished: Finished,
        /// The end of its standard error.
        stderr: String,
    },
    /// It could not be started.
    #[error("cannot start the worker: {0}")]
    Spawn(#[source] io::Error),
    /// Its pipes failed.
    #[error("cannot talk to the worker: {0}")]
    Io(#[source] io::Error),
    /// The system refused.
    #[error(transparent)]
    Platform(#[from] Error),
}

/// The worker's last words, if any.
fn quoted(stderr: &str) -> String {
    match stderr.trim() {
        "" => String::new(),
        said => format!(": {said}"),
    }
}
