//! The time limits of blocked threads.

use core::cell::RefCell;
use std::collections::BTreeMap;

use crate::thread::Control;

/// The blocked threads of one worker that have a time limit, in the order in which it passes.
#[derive(Default)]
pub(crate) struct Timers(RefCell<BTreeMap<Key, *const Control>>);

/// Deadline in ns on the runtime's clock, and the number of the thread, which has one timer at most.
type Key = (u64, u64);

impl Timers {
    pub(super) fn is_empty(&self) -> bool {
        self.0.borrow().is_empty()
    }

    /// The time at which the next timer expires.
    pub(super) fn next_ns(&self) -> Option<u64> {
        self.0.borrow().keys().next().map(|(next_ns, _)| *next_ns)
    }

    pub(super) fn insert(&self, deadline_ns: u64, thread: &Control) {
        self.0.borrow_mut().insert((deadline_ns, thread.id), thread);
    }

    /// Removes the timer of a thread that was woken; `false` if it has expired before.
    pub(super) fn remove(&self, deadline_ns: u64, thread: &Control) -> bool {
        let mut timers = self.0.borrow_mut();
        timers.remove(&(deadline_ns, thread.id)).is_some()
    }

    /// Takes out the next timer if its time has come.
    pub(super) fn pop(&self, now_ns: u64) -> Option<*const Control> {
        let mut timers = self.0.borrow_mut();
        let next = timers.first_entry()?;
        (next.key().0 <= now_ns).then(|| next.remove())
    }
}
