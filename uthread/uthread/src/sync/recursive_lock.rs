//! The lock that its owner may take again.

use core::cell::Cell;
use core::fmt;
use core::marker::PhantomData;
use core::ops::Deref;
use core::time::Duration;

use super::{Protocol, RawLock};

/// A lock that the thread which holds it may take again. It is free once all of that thread's guards are dropped. The
/// guards give shared access only, since a thread may have several.
///
/// ```
/// use std::cell::Cell;
/// use uthread::RecursiveLock;
///
/// uthread::run(|| {
///     let lock = RecursiveLock::new(Cell::new(0));
///     let outer = lock.lock();
///     lock.lock().set(outer.get() + 1);
///     assert_eq!(outer.get(), 1);
/// });
/// ```
pub struct RecursiveLock<T: ?Sized> {
    raw: RawLock,
    /// Number of guards. Only the owner uses it.
    guards: Cell<usize>,
    value: T,
}

// SAFETY: only the owner of the lock uses the value and the number.
unsafe impl<T: ?Sized + Send> Sync for RecursiveLock<T> {}

impl<T> RecursiveLock<T> {
    /// A lock that nobody holds. Running threads go first, as with [`Lock::new`](crate::Lock::new).
    ///
    /// ```
    /// static LOCK: uthread::RecursiveLock<u32> = uthread::RecursiveLock::new(7);
    ///
    /// uthread::run(|| assert_eq!(*LOCK.lock(), 7));
    /// ```
    pub const fn new(value: T) -> Self {
        Self {
            raw: RawLock::new(Protocol::None, true),
            guards: Cell::new(0),
            value,
        }
    }

    /// The value.
    pub fn into_inner(self) -> T {
        self.value
    }
}

impl<T: ?Sized> RecursiveLock<T> {
    /// Waits for the lock, unless the running thread holds it.
    ///
    /// # Panics
    /// Outside a runtime, while preemption is disabled, and where the wait would be a deadlock.
    pub fn lock(&self) -> RecursiveLockGuard<'_, T> {
        if !self.raw.is_mine() {
            self.raw.lock();
        }
        self.guard()
    }

    /// Like [`lock`](Self::lock), but waits not longer than `limit`; `None` if another thread held the lock for all that
    /// time.
    ///
    /// # Panics
    /// Outside a runtime, and while preemption is disabled.
    pub fn lock_timeout(&self, limit: Duration) -> Option<RecursiveLockGuard<'_, T>> {
        let operation = "RecursiveLock::lock_timeout";
        let held = self.raw.is_mine() || self.raw.lock_within(operation, Some(limit));
        held.then(|| self.guard())
    }

    /// Takes the lock if that needs no wait.
    ///
    /// # Panics
    /// Outside a runtime.
    pub fn try_lock(&self) -> Option<RecursiveLockGuard<'_, T>> {
        let held = self.raw.is_mine() || self.raw.try_lock();
        held.then(|| self.guard())
    }

    /// The running thread holds the lock.
    fn guard(&self) -> RecursiveLockGuard<'_, T> {
        self.guards.set(self.guards.get() + 1);
        RecursiveLockGuard {
            lock: self,
            not_send: PhantomData,
        }
    }
}

impl RecursiveLock<()> {
    /// Drops a guard that was forgotten; `false` if the running thread does not hold the lock.
    #[doc(hidden)]
    pub fn unlock_forgotten(&self) -> bool {
        let held = self.raw.is_mine();
        if held {
            drop(RecursiveLockGuard {
                lock: self,
                not_send: PhantomData,
            });
        }
        held
    }

    /// True if a thread holds it.
    #[doc(hidden)]
    pub fn is_held(&self) -> bool {
        self.raw.owner().is_some()
    }
}

impl<T: Default> Default for RecursiveLock<T> {
    fn default() -> Self {
        Self::new(T::default())
    }
}

impl<T: ?Sized> fmt::Debug for RecursiveLock<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RecursiveLock").finish_non_exhaustive()
    }
}

/// Shared access to the value of a [`RecursiveLock`].
#[must_use = "the lock is held only while the guard lives"]
pub struct RecursiveLockGuard<'a, T: ?Sized> {
    lock: &'a RecursiveLock<T>,
    not_send: PhantomData<*const ()>,
}

// SAFETY: a shared guard gives only shared access to the value.
unsafe impl<T: ?Sized + Sync> Sync for RecursiveLockGuard<'_, T> {}

impl<T: ?Sized> Deref for RecursiveLockGuard<'_, T> {
    type Target = T;

    fn deref(&self) -> &T {
        &self.lock.value
    }
}

impl<T: ?Sized> Drop for RecursiveLockGuard<'_, T> {
    fn drop(&mut self) {
        let guards = self.lock.guards.get() - 1;
        self.lock.guards.set(guards);
        if guards == 0 {
            self.lock.raw.unlock();
        }
    }
}

impl<T: ?Sized + fmt::Debug> fmt::Debug for RecursiveLockGuard<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        (**self).fmt(f)
    }
}
