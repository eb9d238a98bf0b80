//! The time limits of blocked threads.

use core::cell::{Cell, RefCell};
use std::collections::BTreeMap;

use crate::thread::Control;

/// The time limit of a blocked thread, on that thread's stack.
pub(super) struct Timer<'a> {
    thread: &'a Control,
    /// Ends the wait; `false` if another thread has woken the waiter, or is about to.
    withdraw: &'a dyn Fn() -> bool,
    expired: Cell<bool>,
}

impl<'a> Timer<'a> {
    pub(super) fn new(thread: &'a Control, withdraw: &'a dyn Fn() -> bool) -> Self {
        Self {
            thread,
            withdraw,
            expired: Cell::new(false),
        }
    }

    /// True if the timer has ended the wait.
    pub(super) fn has_expired(&self) -> bool {
        self.expired.get()
    }

    /// Ends the wait. Returns the thread if the caller must wake it.
    pub(super) fn expire(&self) -> Option<&'a Control> {
        self.expired.set((self.withdraw)());
        self.has_expired().then_some(self.thread)
    }
}

/// The timers of one worker's threads, in the order in which they expire.
#[derive(Default)]
pub(crate) struct Timers(RefCell<BTreeMap<Key, *const Timer<'static>>>);

/// Expiry in ns on the runtime's clock, and the number of the thread, which has one timer at most.
type Key = (u64, u64);

impl Timers {
    pub(super) fn is_empty(&self) -> bool {
        self.0.borrow().is_empty()
    }

    /// The time at which the next timer expires.
    pub(super) fn next_ns(&self) -> Option<u64> {
        self.0.borrow().keys().next().map(|(next_ns, _)| *next_ns)
    }

    pub(super) fn insert(&self, deadline_ns: u64, timer: &Timer<'_>) {
        let key = (deadline_ns, timer.thread.id);
        let timer = core::ptr::from_ref(timer).cast();
        self.0.borrow_mut().insert(key, timer);
    }

    /// Removes the timer of a thread that was woken; `false` if it has expired before.
    pub(super) fn remove(&self, deadline_ns: u64, timer: &Timer<'_>) -> bool {
        let key = (deadline_ns, timer.thread.id);
        self.0.borrow_mut().remove(&key).is_some()
    }

    /// Takes out the next timer if its time has come.
    pub(super) fn pop(&self, now_ns: u64) -> Option<*const Timer<'static>> {
        let mut timers = self.0.borrow_mut();
        let next = timers.first_entry()?;
        (next.key().0 <= now_ns).then(|| next.remove())
    }
}
