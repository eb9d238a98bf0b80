//! A place for the guard of a spin lock next to it, and the number of threads that wait for a lock.

use core::cell::Cell;
use core::sync::atomic::{AtomicUsize, Ordering};

use uthread::current_key;

use crate::error::Errno;

/// The guard, while the lock is held. Only the owner touches it.
pub(crate) struct Held<G> {
    /// The key of the owner; 0 while nobody holds the lock.
    owner: AtomicUsize,
    guard: Cell<Option<G>>,
}

// SAFETY: the guard is set and taken by the owner of the lock alone, whom the lock orders.
unsafe impl<G> Sync for Held<G> {}
// SAFETY: a lock that can be moved is not held.
unsafe impl<G> Send for Held<G> {}

impl<G> Held<G> {
    pub(crate) const fn nothing() -> Self {
        Self {
            owner: AtomicUsize::new(0),
            guard: Cell::new(None),
        }
    }

    /// The running thread has locked.
    pub(crate) fn put(&self, guard: G) {
        self.guard.set(Some(guard));
        self.owner.store(current_key(), Ordering::Relaxed);
    }

    /// The running thread is about to unlock.
    ///
    /// # Errors
    /// `EPERM` if it does not hold the lock.
    pub(crate) fn take(&self) -> Result<G, Errno> {
        if self.owner.load(Ordering::Relaxed) != current_key() {
            return Err(libc::EPERM);
        }
        self.owner.store(0, Ordering::Relaxed);
        self.guard.take().ok_or(libc::EPERM)
    }

    /// True if a thread holds the lock.
    pub(crate) fn is_some(&self) -> bool {
        self.owner.load(Ordering::Relaxed) != 0
    }
}

/// The number of threads that wait for a lock, or with it for a condition.
pub(crate) struct Waiters(AtomicUsize);

impl Waiters {
    pub(crate) const fn none() -> Self {
        Self(AtomicUsize::new(0))
    }

    pub(crate) fn any(&self) -> bool {
        self.0.load(Ordering::Relaxed) != 0
    }

    /// Counts threads where no other thread does so at the same time: without a locked instruction.
    pub(crate) fn add_alone(&self, more: isize) {
        let number = self.0.load(Ordering::Relaxed).wrapping_add_signed(more);
        self.0.store(number, Ordering::Relaxed);
    }

    pub(crate) fn remove(&self) {
        self.0.fetch_sub(1, Ordering::Relaxed);
    }

    /// Counts the running thread as one that waits, until this is dropped.
    pub(crate) fn enter(&self) -> Waiting<'_> {
        self.0.fetch_add(1, Ordering::Relaxed);
        Waiting(&self.0)
    }
}

/// A thread that waits.
pub(crate) struct Waiting<'a>(&'a AtomicUsize);

impl Drop for Waiting<'_> {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::Relaxed);
    }
}
