//! The guard of a lock.

use core::marker::PhantomData;
use core::ops::{Deref, DerefMut};
use core::{fmt, mem};
use std::sync::PoisonError;
use std::thread::panicking;

use super::Lock;

/// A guard, or a guard in an error because a thread panicked while it held the lock.
///
/// ```
/// use uthread::{Lock, LockGuard, LockResult};
///
/// fn enter(lock: &Lock<u32>) -> LockResult<LockGuard<'_, u32>> {
///     lock.lock()
/// }
/// assert_eq!(uthread::run(|| *enter(&Lock::new(7)).unwrap()), 7);
/// ```
pub type LockResult<G> = std::sync::LockResult<G>;

/// As [`LockResult`], or that the lock is held.
///
/// ```
/// use uthread::{Lock, LockGuard, TryLockResult};
///
/// fn look(lock: &Lock<u32>) -> TryLockResult<LockGuard<'_, u32>> {
///     lock.try_lock()
/// }
/// assert_eq!(uthread::run(|| *look(&Lock::new(7)).unwrap()), 7);
/// ```
pub type TryLockResult<G> = std::sync::TryLockResult<G>;

/// Access to the value of a [`Lock`], which is unlocked when the guard is dropped. It stays with
/// its thread: unlocking by another does not compile.
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
    /// The thread was unwinding already when it locked.
    panicking: bool,
    not_send: PhantomData<*const ()>,
}

// SAFETY: a shared guard gives a shared value.
unsafe impl<T: ?Sized + Sync> Sync for LockGuard<'_, T> {}

impl<'a, T: ?Sized> LockGuard<'a, T> {
    /// The guard for a lock that the running thread has just become the owner of.
    #[inline]
    pub(super) fn new(lock: &'a Lock<T>) -> LockResult<Self> {
        let guard = Self {
            lock,
            panicking: panicking(),
            not_send: PhantomData,
        };
        if lock.is_poisoned() {
            Err(PoisonError::new(guard))
        } else {
            Ok(guard)
        }
    }

    /// Gives up the guard without unlocking.
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
        // SAFETY: the thread that has the guard owns the lock.
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
