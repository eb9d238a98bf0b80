//! Worker processes: children that get lines, give lines, and never outlive their parent.

use std::fmt;
use std::io;
use std::process::Command;
use std::sync::atomic::AtomicBool;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::confinement::MemoryGroup;
use crate::usage::Usage;
use crate::{Error, os};

/// How a process ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Exit {
    /// By itself, with this exit code; 0 is success.
    Code(i32),
    /// By this signal.
    Signal(i32),
}

impl Exit {
    /// Whether it ended by itself with exit code 0.
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

/// How a process ended and what it used.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Finished {
    /// How it ended.
    pub exit: Exit,
    /// What it and its own children used.
    pub usage: Usage,
}

/// How a worker is started.
#[derive(Clone, Debug, Default)]
pub struct WorkerOptions<'a> {
    /// The one CPU on which it may run; `None` leaves it where its parent may run.
    pub pin_cpu: Option<usize>,
    /// The group that it enters before its program starts; `None` leaves it in its parent's.
    pub memory_group: Option<&'a MemoryGroup>,
    /// What it may have.
    pub limits: WorkerLimits,
}

/// What a worker, and each process that it starts, may have
/// ([setrlimit(2)](https://man7.org/linux/man-pages/man2/setrlimit.2.html)). A limit that it has
/// already and that is lower stays.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct WorkerLimits {
    /// The largest address space of one process, in bytes.
    pub address_space_bytes: Option<u64>,
    /// The largest file that it may make, in bytes. A write beyond fails.
    pub file_bytes: Option<u64>,
}

/// Why there is no answer from a worker.
#[derive(Debug, thiserror::Error)]
pub enum WorkerError {
    /// The deadline passed. The worker still runs: drop or kill it.
    #[error("the worker did not answer in time")]
    TimedOut,
    /// The caller's flag was raised. The worker still runs: drop or kill it.
    #[error("interrupted while waiting for the worker")]
    Interrupted,
    /// It ended before its time, or unasked.
    #[error("the worker ended with {}{}", finished.exit, quoted(stderr))]
    Died {
        /// How, and what it had used.
        finished: Finished,
        /// The end of what it wrote to its standard error.
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

/// What the worker said last, where it said anything.
fn quoted(stderr: &str) -> String {
    match stderr.trim() {
        "" => String::new(),
        said => format!(": {said}"),
    }
}

/// A copy of this process that does nothing but share its memory: until either writes to a page,
/// both have the same ([fork(2)](https://man7.org/linux/man-pages/man2/fork.2.html)). It ends when
/// this is dropped, or with its parent.
#[derive(Debug)]
pub struct Twin {
    _twin: os::process::Twin,
}

impl Twin {
    /// Makes the copy.
    ///
    /// # Errors
    /// If the system allows no more processes, or has too little memory.
    pub fn fork() -> crate::Result<Self> {
        os::process::Twin::fork().map(|twin| Self { _twin: twin })
    }
}

/// A child process with pipes to its standard input, output and error.
///
/// It is in a process group of its own, so that a terminal's Ctrl-C reaches only its parent, and it
/// is killed when the thread that started it ends, so that it never outlives it (on Linux
/// `PR_SET_PDEATHSIG`): start it from a thread that stays. Dropping it kills it and what is left of
/// its group.
///
/// What it writes to its standard error is read along and the last 16 KiB are kept.
#[derive(Debug)]
pub struct Worker {
    worker: os::process::Worker,
}

impl Worker {
    /// Starts a worker. The command's own settings of standard input, output and error are replaced.
    ///
    /// # Errors
    /// [`WorkerError::Spawn`] if the program is not there, cannot be run, or cannot be pinned.
    pub fn spawn(command: Command, options: &WorkerOptions<'_>) -> Result<Self, WorkerError> {
        os::process::Worker::spawn(command, options).map(|worker| Self { worker })
    }

    /// The number of the process.
    pub fn id(&self) -> u32 {
        self.worker.id()
    }

    /// Writes to its standard input, reading along what it says meanwhile, so that neither waits for
    /// the other. Gives up at `deadline_ns` (of [`crate::clock::now_ns`]) or soon after `interrupted`
    /// becomes true.
    ///
    /// # Errors
    /// [`WorkerError::Died`] if it no longer reads.
    pub fn send(
        &mut self,
        bytes: &[u8],
        deadline_ns: u64,
        interrupted: &AtomicBool,
    ) -> Result<(), WorkerError> {
        self.worker.send(bytes, deadline_ns, interrupted)
    }

    /// The next line from its standard output, without its line feed; `None` if it has ended with
    /// success and said all. Gives up at `deadline_ns` (of [`crate::clock::now_ns`]) or soon after
    /// `interrupted` becomes true.
    ///
    /// # Errors
    /// [`WorkerError::Died`] if it ended otherwise; [`WorkerError::Io`] if a line is no UTF-8 or
    /// longer than 16 MiB.
    pub fn read_line_until(
        &mut self,
        deadline_ns: u64,
        interrupted: &AtomicBool,
    ) -> Result<Option<String>, WorkerError> {
        self.worker.read_line_until(deadline_ns, interrupted)
    }

    /// Closes its standard input and waits for its end, reading along and forgetting what it still
    /// says. Any end is a result here, not an error.
    ///
    /// # Errors
    /// If it does not end in time.
    pub fn wait(
        &mut self,
        deadline_ns: u64,
        interrupted: &AtomicBool,
    ) -> Result<Finished, WorkerError> {
        self.worker.wait(deadline_ns, interrupted)
    }

    /// Kills it and its process group, and waits for its end.
    ///
    /// # Errors
    /// If the system does not tell how it ended.
    pub fn kill(&mut self) -> Result<Finished, WorkerError> {
        self.worker.kill()
    }

    /// The end of what it has written to its standard error so far.
    pub fn stderr_tail(&self) -> String {
        self.worker.stderr_tail()
    }
}
