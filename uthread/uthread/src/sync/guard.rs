//! Taking a lock, and the guard that releases it.

use core::marker::PhantomData;
use core::ops::{Deref, DerefMut};
use core::time::Duration;
use core::{fmt, mem};
use std::sync::{PoisonError, TryLockError};
use std::thread::panicking;

use super::lock::{Lock, LockResult, TryLockResult, unless_poisoned};

/// Access to the value of a [`Lock`]. Dropping the guard releases the lock. A guard stays with its
/// thread: unlocking from another thread does not compile.
///
/// ```
/// uthread::run(|| {
///     let lock = uthread::Lock::new(1);
///     let mut guard = lock.lock().unwrap();
///     *guard += 1;
///     assert!(lock.try_lock().is_err());
///     drop(guard);
///     assert_eq!(*lock.lock().unwrap(), 2);
/// });
/// ```
#[must_use = "the lock is held only while the guard lives"]
pub struct LockGuard<'a, T: ?Sized> {
    pub(super) lock: &'a Lock<T>,
    /// The thread was already unwinding when it took the lock.
    pub(super) panicking: bool,
    not_send: PhantomData<*const ()>,
}

impl<T: ?Sized> Lock<T> {
    /// Waits for the lock.
    ///
    /// # Errors
    /// The guard as well, if the lock is poisoned.
    ///
    /// ```
    /// uthread::run(|| {
    ///     let lock = uthread::Lock::new(1);
    ///     *lock.lock().unwrap() += 1;
    ///     assert_eq!(*lock.lock().unwrap(), 2);
    /// });
    /// ```
    #[inline]
    pub fn lock(&self) -> LockResult<LockGuard<'_, T>> {
        self.raw.lock();
        LockGuard::new(self)
    }

    /// Waits for the lock, but not longer than `limit`.
    ///
    /// Such a wait may be part of a cycle of threads that wait for each other, since it ends.
    ///
    /// # Errors
    /// [`TryLockError::WouldBlock`] if the lock was held for all that time; or the guard as well, if
    /// the lock is poisoned.
    ///
    /// ```
    /// use std::time::Duration;
    ///
    /// static LOCK: uthread::Lock<()> = uthread::Lock::new(());
    ///
    /// uthread::run(|| {
    ///     let guard = LOCK.lock().unwrap();
    ///     let wait = || LOCK.lock_timeout(Duration::from_millis(1)).is_ok();
    ///     assert!(!uthread::spawn(wait).join().unwrap());
    ///     drop(guard);
    ///     assert!(uthread::spawn(wait).join().unwrap());
    /// });
    /// ```
    pub fn lock_timeout(&self, limit: Duration) -> TryLockResult<LockGuard<'_, T>> {
        if self.raw.lock_within("Lock::lock_timeout", Some(limit)) {
            Ok(LockGuard::new(self)?)
        } else {
            Err(TryLockError::WouldBlock)
        }
    }

    /// Takes the lock if it is free.
    ///
    /// # Errors
    /// [`TryLockError::WouldBlock`] if it is held; or the guard as well, if the lock is poisoned.
    ///
    /// ```
    /// uthread::run(|| {
    ///     let lock = uthread::Lock::new(());
    ///     let guard = lock.try_lock().unwrap();
    ///     assert!(lock.try_lock().is_err());
    ///     drop(guard);
    ///     assert!(lock.try_lock().is_ok());
    /// });
    /// ```
    #[inline]
    pub fn try_lock(&self) -> TryLockResult<LockGuard<'_, T>> {
        if self.raw.try_lock() {
            Ok(LockGuard::new(self)?)
        } else {
            Err(TryLockError::WouldBlock)
        }
    }

    /// The guard again that was forgotten, if the running thread holds the lock.
    ///
    /// # Safety
    /// The running thread has no other guard of this lock.
    #[doc(hidden)]
    #[inline]
    pub unsafe fn guard_again(&self) -> Option<LockGuard<'_, T>> {
        let guard = || LockGuard::new(self).unwrap_or_else(PoisonError::into_inner);
        self.raw.is_mine().then(guard)
    }
}

// SAFETY: a shared guard gives only shared access to the value.
unsafe impl<T: ?Sized + Sync> Sync for LockGuard<'_, T> {}

impl<'a, T: ?Sized> LockGuard<'a, T> {
    /// The guard for a lock that the running thread now owns.
    #[inline]
    pub(super) fn new(lock: &'a Lock<T>) -> LockResult<Self> {
        let guard = Self {
            lock,
            panicking: panicking(),
            not_send: PhantomData,
        };
        unless_poisoned(lock.is_poisoned(), guard)
    }

    /// Consumes the guard without unlocking.
    pub(super) fn into_lock(self) -> &'a Lock<T> {
        let lock = self.lock;
        mem::forget(self);
        lock
    }
}

impl<T: ?Sized> Deref for LockGuard<'_, T> {
    type Target = T;

    #[inline]
    fn deref(&self) -> &T {
        // SAFETY: the thread that holds the guard owns the lock.
        unsafe { &*self.lock.value.get() }
    }
}

impl<T: ?Sized> DerefMut for LockGuard<'_, T> {
    #[inline]
    fn deref_mut(&mut self) -> &mut T {
        // SAFETY: as above, and the guard is borrowed exclusively.
        unsafe { &mut *self.lock.value.get() }
    }
}

impl<T: ?Sized> Drop for LockGuard<'_, T> {
    #[inline]
    fn drop(&mut self) {
        if !self.panicking && panicking() {
            self.lock.poison();
        }
        self.lock.raw.unlock();
    }
}

impl<T: ?Sized + fmt::Debug> fmt::Debug for LockGuard<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        (**self).fmt(f)
    }
}
