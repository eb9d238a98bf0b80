//! The flag that a worker sleeps, or is about to.

use crate::atomic::{AtomicBool, Ordering, fence};

/// Either the one who publishes work finds that its worker sleeps, or the worker finds the work.
pub(crate) struct Slumber(AtomicBool);

impl Slumber {
    pub(crate) const fn new(asleep: AtomicBool) -> Self {
        Self(asleep)
    }

    /// Announces sleep. The caller must look for work after this, before it sleeps.
    pub(crate) fn announce(&self) {
        self.0.store(true, Ordering::Relaxed);
        fence(Ordering::SeqCst);
    }

    /// Withdraws the announcement.
    pub(crate) fn withdraw(&self) {
        self.0.store(false, Ordering::Relaxed);
    }

    /// True if the worker has announced sleep, for one caller. Call this after publishing the work.
    ///
    /// The flag of a worker that is awake stays in the caches of all others: this only reads it.
    pub(crate) fn end(&self) -> bool {
        fence(Ordering::SeqCst);
        self.0.load(Ordering::Relaxed) && self.0.swap(false, Ordering::Relaxed)
    }
}
