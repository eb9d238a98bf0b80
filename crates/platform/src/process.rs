//! Worker processes: children that read and write lines, and never outlive their parent.

use std::process::Command;
use std::sync::atomic::{AtomicBool, Ordering};
use std::{fmt, io};

use crate::clock::now_ns;
use crate::confinement::MemoryGroup;
use crate::os;
use crate::usage::Usage;

pub use crate::os::partner::Twin;

/// Exit of a process.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
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
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
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
}

/// Conditions to give up: a deadline in ns, and the caller's flag.
#[derive(Clone, Copy)]
pub(crate) struct Limit<'a>(pub(crate) u64, pub(crate) &'a AtomicBool);

impl Limit<'_> {
    /// Time left, in ns.
    pub(crate) fn left_ns(self) -> Result<u64, WorkerError> {
        let Self(deadline_ns, interrupted) = self;
        if interrupted.load(Ordering::Acquire) {
            return Err(WorkerError::Interrupted);
        }
        match deadline_ns.saturating_sub(now_ns()) {
            0 => Err(WorkerError::TimedOut),
            left_ns => Ok(left_ns),
        }
    }
}

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
pub struct Worker(os::process::RawWorker);

impl Worker {
    /// Starts a worker. Replaces the command's own settings of standard input, output and error.
    ///
    /// # Errors
    /// [`WorkerError::Spawn`] if the program does not exist, cannot be executed, or cannot be
    /// pinned.
    pub fn spawn(command: Command, options: &WorkerOptions<'_>) -> Result<Self, WorkerError> {
        os::process::RawWorker::spawn(command, options).map(Self)
    }

    /// The process id.
    pub fn id(&self) -> u32 {
        self.0.id()
    }

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
    ) -> Result<(), WorkerError> {
        let limit = Limit(deadline_ns, interrupted);
        if self.0.send(bytes, limit)? {
            return Ok(());
        }
        let finished = self.end(limit)?;
        Err(self.died(finished))
    }

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
    ) -> Result<Option<String>, WorkerError> {
        let limit = Limit(deadline_ns, interrupted);
        loop {
            if let Some(line) = self.0.lines.next_line().map_err(WorkerError::Io)? {
                return Ok(Some(line));
            }
            if !self.0.has_output() {
                let finished = self.end(limit)?;
                return if finished.exit.is_success() {
                    self.0.lines.last_line().map_err(WorkerError::Io)
                } else {
                    Err(self.died(finished))
                };
            }
            self.0.wait_for_output(limit)?;
        }
    }

    /// Closes its standard input and waits for its exit, and discards its remaining output. Any
    /// exit is a result here, not an error.
    pub fn wait(
        &mut self,
        deadline_ns: u64,
        interrupted: &AtomicBool,
    ) -> Result<Finished, WorkerError> {
        self.0.close_input();
        self.end(Limit(deadline_ns, interrupted))
    }

    /// Kills it and its process group, and waits for its exit.
    pub fn kill(&mut self) -> Result<Finished, WorkerError> {
        match self.0.finished {
            Some(finished) => Ok(finished),
            None => self.0.reap(),
        }
    }

    /// The last 16 KiB of its standard error so far.
    pub fn stderr_tail(&self) -> String {
        self.0.tail.text()
    }

    fn died(&self, finished: Finished) -> WorkerError {
        if os::process::is_console_event(finished.exit) {
            return WorkerError::Interrupted;
        }
        WorkerError::Died {
            finished,
            stderr: self.stderr_tail(),
        }
    }

    /// Waits for its exit. Keeps the lines read so far if its output is closed, otherwise discards
    /// output.
    fn end(&mut self, limit: Limit<'_>) -> Result<Finished, WorkerError> {
        let discards = self.0.has_output();
        loop {
            if discards {
                self.0.lines.clear();
            }
            if let Some(finished) = self.0.finished {
                return Ok(finished);
            }
            self.0.wait_for_output(limit)?;
        }
    }
}

impl Drop for Worker {
    fn drop(&mut self) {
        // No caller is left to get the error.
        let _ = self.kill();
    }
}

/// The worker's last words, if any.
fn quoted(stderr: &str) -> String {
    match stderr.trim() {
        "" => String::new(),
        said => format!(": {said}"),
    }
}

/// Bytes that arrive in pieces and leave in lines.
#[derive(Debug, Default)]
pub(crate) struct LineBuffer {
    bytes: Vec<u8>,
    /// There is no line feed before this index.
    searched: usize,
}

impl LineBuffer {
    pub(crate) const LONGEST_LINE_BYTES: usize = 16 << 20;

    /// True if more bytes may be added before a line is taken.
    pub(crate) fn has_room(&self) -> bool {
        self.bytes.len() <= Self::LONGEST_LINE_BYTES
    }

    pub(crate) fn push(&mut self, bytes: &[u8]) {
        self.bytes.extend_from_slice(bytes);
    }

    pub(crate) fn clear(&mut self) {
        *self = Self::default();
    }

    /// The next line, without its line feed.
    pub(crate) fn next_line(&mut self) -> io::Result<Option<String>> {
        let end = self.bytes[self.searched..]
            .iter()
            .position(|byte| *byte == b'\n');
        match end {
            Some(end) => {
                let end = self.searched + end;
                let rest = self.bytes.split_off(end + 1);
                let mut line = std::mem::replace(&mut self.bytes, rest);
                line.truncate(end);
                self.searched = 0;
                text(line).map(Some)
            }
            None if !self.has_room() => Err(io::Error::new(
                io::ErrorKind::InvalidData,
                "the worker's line is too long",
            )),
            None => {
                self.searched = self.bytes.len();
                Ok(None)
            }
        }
    }

    /// The last line, if it has no line feed.
    pub(crate) fn last_line(&mut self) -> io::Result<Option<String>> {
        self.searched = 0;
        match std::mem::take(&mut self.bytes) {
            empty if empty.is_empty() => Ok(None),
            line => text(line).map(Some),
        }
    }
}

fn text(line: Vec<u8>) -> io::Result<String> {
    String::from_utf8(line).map_err(|error| io::Error::new(io::ErrorKind::InvalidData, error))
}

/// The last bytes of a long output.
#[derive(Debug, Default)]
pub(crate) struct Tail {
    bytes: Vec<u8>,
}

impl Tail {
    const LEN: usize = 16 << 10;

    pub(crate) fn push(&mut self, bytes: &[u8]) {
        self.bytes.extend_from_slice(bytes);
        // Truncated rarely, so that not every push moves the kept bytes.
        if self.bytes.len() > 4 * Self::LEN {
            self.bytes.drain(..self.bytes.len() - Self::LEN);
        }
    }

    pub(crate) fn text(&self) -> String {
        let start = self.bytes.len().saturating_sub(Self::LEN);
        String::from_utf8_lossy(&self.bytes[start..]).into_owned()
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn lines_come_out_as_they_went_in(lines in prop::collection::vec("[^\\n]{0,20}", 0..10), piece in 1_usize..9) {
            let mut text = lines.join("\n");
            text.push('\n');
            let mut buffer = LineBuffer::default();
            let mut out = Vec::new();
            for piece in text.as_bytes().chunks(piece) {
                buffer.push(piece);
                while let Some(line) = buffer.next_line().unwrap() {
                    out.push(line);
                }
            }
            prop_assert_eq!(out.join("\n"), lines.join("\n"));
            prop_assert_eq!(buffer.last_line().unwrap(), None);
        }

        #[test]
        fn a_tail_is_the_end(lens in prop::collection::vec(0_usize..40_000, 0..8)) {
            let pieces: Vec<Vec<u8>> = (b'a'..).zip(lens).map(|(byte, len)| vec![byte; len]).collect();
            let mut tail = Tail::default();
            for piece in &pieces {
                tail.push(piece);
            }
            let all = pieces.concat();
            let end = &all[all.len().saturating_sub(Tail::LEN)..];
            prop_assert_eq!(tail.text().into_bytes(), end);
        }
    }

    #[test]
    fn a_line_without_end_or_meaning_is_an_error() {
        let mut buffer = LineBuffer::default();
        buffer.push(&vec![b'x'; LineBuffer::LONGEST_LINE_BYTES]);
        assert!(buffer.next_line().unwrap().is_none());
        buffer.push(b"xx");
        buffer.next_line().unwrap_err();

        let mut buffer = LineBuffer::default();
        buffer.push(b"\xff\nlast");
        buffer.next_line().unwrap_err();
        assert_eq!(buffer.last_line().unwrap().as_deref(), Some("last"));
    }
}
