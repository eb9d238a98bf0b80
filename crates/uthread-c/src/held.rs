//! A place for the guard of a lock, beside the lock.

use core::cell::Cell;
use core::sync::atomic::{AtomicU64, Ordering};

use crate::error::Errno;

/// The guard, while the lock is held. Only the owner touches it.
pub(crate) struct Held<G> {
    /// The number of the owner; 0 while nobody holds the lock.
    owner: AtomicU64,
    guard: Cell<Option<G>>,
}

// SAFETY: the guard is set and taken by the owner of the lock alone, whom the lock orders.
unsafe impl<G> Sync for Held<G> {}
// SAFETY: a lock that can be moved is not held.
unsafe impl<G> Send for Held<G> {}

impl<G> Held<G> {
    pub(crate) const fn nothing() -> Self {
        Self {
            owner: AtomicU64::new(0),
            guard: Cell::new(None),
        }
    }

    /// The running thread has locked.
    pub(crate) fn put(&self, guard: G) {
        self.guard.set(Some(guard));
        self.owner.store(me(), Ordering::Relaxed);
    }

    /// The running thread is about to unlock.
    ///
    /// # Errors
    /// `EPERM` if it does not hold the lock.
    pub(crate) fn take(&self) -> Result<G, Errno> {
        if self.owner.load(Ordering::Relaxed) != me() {
            return Err(libc::EPERM);
        }
        self.owner.store(0, Ordering::Relaxed);
        self.guard.take().ok_or(libc::EPERM)
    }

    pub(crate) fn is_held(&self) -> bool {
        self.owner.load(Ordering::Relaxed) != 0
    }
}

fn me() -> u64 {
    uthread::current().id().number()
}
