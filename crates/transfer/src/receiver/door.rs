//! Admission: connections that have not yet proven their right to send are kept apart from accepted
//! ones.

use std::collections::VecDeque;
use std::net::{Shutdown, TcpStream};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// Maximum number of connections that are not yet accepted. A further one replaces the oldest, so
/// that silent connections keep nobody out.
const MOST_AT_THE_DOOR: usize = 64;

/// Admission control of a receiver.
#[derive(Default)]
pub(super) struct Door {
    waiting: Mutex<VecDeque<Waiting>>,
    /// Accepted connections.
    inside: AtomicUsize,
    /// All connections that have a thread.
    threads: AtomicUsize,
}

/// A connection that is not yet accepted.
struct Waiting {
    number: u64,
    socket: Arc<TcpStream>,
}

/// The place of an accepted connection; dropping it frees the place.
pub(super) struct Inside<'d>(&'d Door);

impl Drop for Inside<'_> {
    fn drop(&mut self) {
        self.0.inside.fetch_sub(1, Ordering::AcqRel);
    }
}

impl Door {
    fn waiting(&self) -> MutexGuard<'_, VecDeque<Waiting>> {
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Registers a new connection under this number.
    pub(super) fn come(&self, number: u64, socket: Arc<TcpStream>) {
        self.threads.fetch_add(1, Ordering::AcqRel);
        let mut waiting = self.waiting();
        if waiting.len() >= MOST_AT_THE_DOOR
            && let Some(oldest) = waiting.pop_front()
        {
            // Its thread notices, wherever it blocks. The connection may already be closed.
            let _ = oldest.socket.shutdown(Shutdown::Both);
        }
        waiting.push_back(Waiting { number, socket });
    }

    /// Removes a connection that is accepted or has ended.
    pub(super) fn leave(&self, number: u64) {
        self.waiting().retain(|waiting| waiting.number != number);
    }

    /// Takes one of `most` places for accepted connections; `None` if all are taken.
    pub(super) fn enter(&self, most: usize) -> Option<Inside<'_>> {
        let add = |inside| (inside < most).then_some(inside + 1);
        let added = self
            .inside
            .fetch_update(Ordering::AcqRel, Ordering::Acquire, add);
        added.is_ok().then_some(Inside(self))
    }

    /// Counts the end of a connection's thread.
    pub(super) fn end(&self) {
        self.threads.fetch_sub(1, Ordering::AcqRel);
    }

    /// True if there are no connections.
    pub(super) fn is_idle(&self) -> bool {
        self.threads.load(Ordering::Acquire) == 0
    }
}
