//! The parts of a thread that the synchronization objects use.

use std::cell::Cell;
use std::ptr;

use crate::scheduler::{Linked, Links, LockCount, Priority, Rank, Schedulable, Tally, Waits};
pub(crate) use crate::wait::Wait;
pub(crate) use crate::waiting::Woken;

#[repr(align(64))]
pub(crate) struct Control {
    links: Links<Self>,
    rank: Rank,
    level: Cell<Priority>,
    number: usize,
    woken: (loom::sync::Mutex<bool>, loom::sync::Condvar),
    pub(crate) locks: LockCount,
    pub(crate) ceilings: Tally,
    pub(crate) heirs: Tally,
    pub(crate) blocked_on: Cell<*const ()>,
    pub(crate) has_time_limit: Cell<bool>,
    pub(crate) spins: Cell<bool>,
    waits_in: Cell<*const ()>,
    pub(crate) parcel: Cell<*const ()>,
}

// SAFETY: loom runs all threads of a model on one kernel thread.
unsafe impl Sync for Control {}
// SAFETY: as above.
unsafe impl Send for Control {}

impl Control {
    pub(crate) fn new(number: usize) -> Self {
        Self {
            links: Links::new(),
            rank: Rank::new(Priority::Orange),
            level: Cell::new(Priority::Orange),
            number,
            woken: (loom::sync::Mutex::new(false), loom::sync::Condvar::new()),
            locks: LockCount::new(),
            ceilings: Tally::new(),
            heirs: Tally::new(),
            blocked_on: Cell::new(ptr::null()),
            has_time_limit: Cell::new(false),
            spins: Cell::new(false),
            waits_in: Cell::new(ptr::null()),
            parcel: Cell::new(ptr::null()),
        }
    }

    pub(crate) fn label(&self) -> usize {
        self.number
    }

    /// The model has no forks.
    pub(crate) fn stayed_in_parent(&self) -> bool {
        false
    }

    pub(crate) fn home(&self) -> usize {
        self.number
    }

    /// Waits until another thread has woken this one.
    pub(crate) fn block(&self) {
        let (woken, bell) = &self.woken;
        let mut woken = woken.lock().expect("no poison");
        while !*woken {
            woken = bell.wait(woken).expect("no poison");
        }
        *woken = false;
    }

    pub(crate) fn unpark(&self) {
        self.wake();
    }

    /// Wakes the thread; nobody else may do so for the same wait.
    pub(crate) fn wake(&self) {
        let (woken, bell) = &self.woken;
        let before = std::mem::replace(&mut *woken.lock().expect("no poison"), true);
        assert!(!before, "a thread was woken twice");
        bell.notify_one();
    }
}

/// The calling thread, which no worker runs.
pub(crate) struct Parked(Control);

impl Parked {
    pub(crate) fn new() -> Self {
        Self(Control::new(usize::MAX))
    }

    pub(crate) fn control(&self) -> &Control {
        &self.0
    }

    pub(crate) fn wait(&self) {
        self.0.block();
    }
}

impl Linked for Control {
    fn links(&self) -> &Links<Self> {
        &self.links
    }
}

impl Waits for Control {
    fn waits_in(&self) -> &Cell<*const ()> {
        &self.waits_in
    }
}

impl Schedulable for Control {
    fn rank(&self) -> &Rank {
        &self.rank
    }

    fn level(&self) -> &Cell<Priority> {
        &self.level
    }

    fn locks_held(&self) -> u32 {
        self.locks.get()
    }
}
