//! Receiving from sockets.

use core::time::Duration;
use std::io::{self, ErrorKind};
use std::os::fd::{AsFd, AsRawFd, RawFd};

use super::poll::{Interest, poll};
use super::request::Request;
use crate::io::transfer::transfer;
use crate::worker::require_worker;

const PLACES: usize = 64;

/// Sockets that held no more bytes after the last receipt. The next bytes will hardly be there at the next call, so it
/// makes a request at once, and saves the call that finds nothing.
///
/// A stale entry costs only time.
pub(super) struct EmptySockets([RawFd; PLACES]);

impl EmptySockets {
    pub(super) const fn new() -> Self {
        Self([-1; PLACES])
    }

    fn contains(&self, fd: RawFd) -> bool {
        self.0[fd as usize % PLACES] == fd
    }

    pub(super) fn set(&mut self, fd: RawFd, is_empty: bool) {
        let place = &mut self.0[fd as usize % PLACES];
        if is_empty {
            *place = fd;
        } else if *place == fd {
            *place = -1;
        }
    }
}

/// Receives some bytes from a connected socket, like recv(2), while other threads run.
///
/// # Errors
/// The errors of recv(2).
///
/// # Panics
/// Outside a runtime, and if it has to wait while preemption is disabled.
#[doc(hidden)]
pub fn receive(
    socket: impl AsFd,
    buffer: &mut [u8],
    operation: &str,
    limit: Option<Duration>,
) -> io::Result<usize> {
    let worker = require_worker(operation);
    let deadline_ns = limit.map(|limit| worker.deadline_ns(limit));
    let left_ns = |end_ns: u64| end_ns.saturating_sub(worker.now_ns());
    let left = || deadline_ns.map(|end_ns| Duration::from_nanos(left_ns(end_ns)));
    let fd = socket.as_fd().as_raw_fd();
    let request = Request::Receive {
        socket: fd,
        buffer: buffer.as_mut_ptr(),
        bytes: buffer.len(),
    };
    // A ring waits for bytes in place of a helper thread.
    let is_empty = worker.with_ring(|ring| ring.empty_sockets.contains(fd))?;
    let mut looks_first = buffer.is_empty() || is_empty != Some(true);
    loop {
        let mut result = Err(ErrorKind::WouldBlock.into());
        if looks_first {
            // SAFETY: the buffer is borrowed, and the call does not wait.
            result = answer(unsafe { request.perform(None) });
            if result.as_ref().is_ok_and(|bytes| *bytes < buffer.len()) {
                worker.with_ring(|ring| ring.empty_sockets.set(fd, true))?;
            }
        }
        if would_block(&result) && is_empty.is_some() {
            // SAFETY: the buffer is borrowed until the transfer is over.
            let received = unsafe { transfer(worker, request, operation, left()) };
            result = received.map(|bytes| bytes as usize);
        }
        match result {
            Err(error) if error.kind() == ErrorKind::WouldBlock => {
                poll(socket.as_fd(), Interest::READABLE, operation, left())?;
                looks_first = true;
            }
            Err(error) if error.kind() == ErrorKind::Interrupted => looks_first = true,
            result => return result,
        }
    }
}

/// The result of a system call.
fn answer(result: i32) -> io::Result<usize> {
    usize::try_from(result).map_err(|_| io::Error::from_raw_os_error(-result))
}

fn would_block<T>(result: &io::Result<T>) -> bool {
    (result.as_ref()).is_err_and(|error| error.kind() == ErrorKind::WouldBlock)
}
