//! Worker processes: children that read and write lines, and never outlive their parent.

pub(crate) mod buffer;

use std::fmt;
use std::io;
use std::process::Command;
use std::sync::atomic::AtomicBool;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::confinement::MemoryGroup;
use crate::usage::Usage;
use crate::{Error, os};

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

/// A copy of this process that only shares its memory: until one of them writes to a page, both
/// have the same page ([fork(2)](https://man7.org/linux/man-pages/man2/fork.2.html)). It exits when
/// this value is dropped, or with its parent.
#[derive(Debug)]
pub struct Twin(#[allow(dead_code, reason = "it is held until it is dropped")] os::process::Twin);

/// A child process with pipes to its standard input, output and error.
///
/// It has its own process group, so that Ctrl-C on a terminal reaches only its parent. It is killed
/// when the thread that started it exits, so that it never outlives it (on Linux
/// `PR_SET_PDEATHSIG`): start it from a long-lived thread. Dropping it kills it and the rest of its
/// group. On Windows, the group is a job, which ends when its parent does.
///
/// If this process is stopped and continued (Ctrl-Z), so is the worker: see
/// [`pauses`](crate::signal::pauses).
///
/// Its standard error is read continuously, and the last 16 KiB are kept.
#[derive(Debug)]
pub struct Worker(os::process::Worker);

face! {
    os::process;

    fn signal_name(signal: i32) -> Option<&'static str> = None;

    impl Twin {
        /// Creates the copy.
        ///
        /// # Errors
        /// If the system allows no more processes, or has too little memory.
        pub fn fork() -> crate::Result<Self> = refuse("a copy of this process");
    }

    impl Worker {
        /// Starts a worker. Replaces the command's own settings of standard input, output and error.
        ///
        /// # Errors
        /// [`WorkerError::Spawn`] if the program does not exist, cannot be executed, or cannot be
        /// pinned.
        pub fn spawn(command: Command, options: &WorkerOptions<'_>) -> Result<Self, WorkerError>
            = refuse("a worker process");

        /// The process id.
        pub fn id(&self) -> u32;

        /// Writes to its standard input and reads its output at the same time, so that neither process
        /// blocks the other. Gives up at `deadline_ns` (of [`crate::clock::now_ns`]) or soon after
        /// `interrupted` becomes true.
        ///
        /// # Errors
        /// [`WorkerError::Died`] if it no longer reads.
        pub fn send(
            &mut self,
            bytes: &[u8],
            deadline_ns: u64,
            interrupted: &AtomicBool,
        ) -> Result<(), WorkerError>;

        /// The next line of its standard output, without the line feed; `None` after the last line if
        /// it exited with success. Gives up at `deadline_ns` (of [`crate::clock::now_ns`]) or soon
        /// after `interrupted` becomes true.
        ///
        /// # Errors
        /// [`WorkerError::Died`] if it exited otherwise; [`WorkerError::Io`] if a line is not UTF-8 or
        /// is longer than 16 MiB.
        pub fn read_line_until(
            &mut self,
            deadline_ns: u64,
            interrupted: &AtomicBool,
        ) -> Result<Option<String>, WorkerError>;

        /// Closes its standard input and waits for its exit, and discards its remaining output. Any
        /// exit is a result here, not an error.
        ///
        /// # Errors
        /// If it does not exit in time.
        pub fn wait(
            &mut self,
            deadline_ns: u64,
            interrupted: &AtomicBool,
        ) -> Result<Finished, WorkerError>;

        /// Kills it and its process group, and waits for its exit.
        ///
        /// # Errors
        /// If the system does not report its exit.
        pub fn kill(&mut self) -> Result<Finished, WorkerError>;

        /// The last 16 KiB of its standard error so far.
        pub fn stderr_tail(&self) -> String;
    }
}
