//! Idle workers: falling asleep without a lost wake-up, and detecting a deadlock when the last
//! worker becomes idle.

use std::io;
use std::sync::{Mutex, PoisonError};

use super::slumber::Slumber;
use super::system::Event;
use crate::atomic::AtomicBool;

/// The bell of one worker: a flag that it sleeps, and an event that wakes it.
pub(crate) struct Bell {
    slumber: Slumber,
    event: Event,
}

impl Bell {
    pub(crate) fn new() -> io::Result<Self> {
        Ok(Self {
            slumber: Slumber::new(AtomicBool::new(false)),
            event: Event::new()?,
        })
    }

    /// The event that wakes the worker.
    pub(crate) fn event(&self) -> &Event {
        &self.event
    }

    /// Announces sleep. A thread that publishes work after this rings the bell. Work published
    /// before is found by the check that the caller must make next.
    pub(crate) fn announce_sleep(&self) {
        self.slumber.announce();
    }

    /// Withdraws the announcement and clears the event.
    pub(crate) fn awake(&self) {
        self.slumber.withdraw();
        self.event.clear();
    }

    /// Wakes the worker if it sleeps; `true` if it did. Call this after publishing the work.
    pub(crate) fn ring(&self) -> bool {
        let asleep = self.slumber.end();
        if asleep {
            self.ring_always();
        }
        asleep
    }

    /// Wakes the worker now or at its next sleep.
    pub(crate) fn ring_always(&self) {
        self.event.set();
    }
}

/// Number of idle workers.
pub(crate) struct Idlers {
    count: Mutex<usize>,
    workers: usize,
}

impl Idlers {
    pub(crate) const fn new(workers: usize) -> Self {
        Self {
            count: Mutex::new(0),
            workers,
        }
    }

    /// Counts a worker as idle. If it is the last one, calls `verdict` while no other worker can
    /// start or stop idling.
    pub(crate) fn begin(&self, verdict: impl FnOnce()) {
        let mut count = self.count.lock().unwrap_or_else(PoisonError::into_inner);
        *count += 1;
        if *count == self.workers {
            verdict();
        }
    }

    /// Counts a worker as busy. It must not look for work before this call.
    pub(crate) fn end(&self) {
        *self.count.lock().unwrap_or_else(PoisonError::into_inner) -= 1;
    }
}
