//! Who is at the door: connections that have not proven yet that they may send, apart from those that
//! have.

use std::collections::VecDeque;
use std::net::{Shutdown, TcpStream};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// So many may be at the door at a time. Whoever comes then takes the place of the one that has been
/// there longest, so that nobody is kept out by those who say nothing.
const MOST_AT_THE_DOOR: usize = 64;

/// The door of a receiver.
#[derive(Default)]
pub(super) struct Door {
    waiting: Mutex<VecDeque<Waiting>>,
    /// Those that were let in.
    inside: AtomicUsize,
    /// All that have a thread.
    threads: AtomicUsize,
}

/// A connection at the door.
struct Waiting {
    number: u64,
    socket: Arc<TcpStream>,
}

/// A place inside, until this is dropped.
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

    /// A connection has come, and gets this number.
    pub(super) fn come(&self, number: u64, socket: Arc<TcpStream>) {
        self.threads.fetch_add(1, Ordering::AcqRel);
        let mut waiting = self.waiting();
        if waiting.len() >= MOST_AT_THE_DOOR
            && let Some(oldest) = waiting.pop_front()
        {
            // Its thread notices, wherever it waits. It may be gone by itself.
            let _ = oldest.socket.shutdown(Shutdown::Both);
        }
        waiting.push_back(Waiting { number, socket });
    }

    /// A connection has gone away from the door, in or out.
    pub(super) fn leave(&self, number: u64) {
        self.waiting().retain(|waiting| waiting.number != number);
    }

    /// Takes a place inside, of which there are `most`; `None` if all are taken.
    pub(super) fn enter(&self, most: usize) -> Option<Inside<'_>> {
        let add = |inside| (inside < most).then_some(inside + 1);
        let added = self
            .inside
            .fetch_update(Ordering::AcqRel, Ordering::Acquire, add);
        added.is_ok().then_some(Inside(self))
    }

    /// The thread of a connection is over.
    pub(super) fn end(&self) {
        self.threads.fetch_sub(1, Ordering::AcqRel);
    }

    /// Whether nobody is there.
    pub(super) fn is_idle(&self) -> bool {
        self.threads.load(Ordering::Acquire) == 0
    }
}
