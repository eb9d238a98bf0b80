//! Calls of sockets that do not block.

use core::time::Duration;
use std::io::{self, ErrorKind};
use std::os::fd::AsFd;

use crate::io::{Interest, poll};
use crate::worker::{Worker, require_worker};

/// The end of an operation's waits, if it has a time limit.
#[derive(Clone, Copy)]
pub(super) struct Deadline {
    worker: &'static Worker,
    end_ns: Option<u64>,
}

impl Deadline {
    /// # Panics
    /// Outside a runtime.
    pub(super) fn new(operation: &str, limit: Option<Duration>) -> Self {
        let worker = require_worker(operation);
        Self {
            worker,
            end_ns: limit.map(|limit| worker.deadline_ns(limit)),
        }
    }

    /// The time that is left; `None` without a limit.
    pub(super) fn left(self) -> Option<Duration> {
        let left_ns = |end_ns: u64| end_ns.saturating_sub(self.worker.now_ns());
        self.end_ns
            .map(|end_ns| Duration::from_nanos(left_ns(end_ns)))
    }

    pub(super) fn wait(
        self,
        fd: &impl AsFd,
        interest: Interest,
        operation: &str,
    ) -> io::Result<()> {
        poll(fd.as_fd(), interest, operation, self.left()).map(drop)
    }
}

/// Makes a call that does not block, again each time the descriptor is ready.
pub(super) fn when_ready<T>(
    fd: &impl AsFd,
    interest: Interest,
    operation: &str,
    limit: Option<Duration>,
    mut call: impl FnMut() -> io::Result<T>,
) -> io::Result<T> {
    let deadline = Deadline::new(operation, limit);
    loop {
        match call() {
            Err(error) if error.kind() == ErrorKind::WouldBlock => {
                deadline.wait(fd, interest, operation)?;
            }
            Err(error) if error.kind() == ErrorKind::Interrupted => {}
            result => return result,
        }
    }
}
