//! The guard of a part of a lock's value.

use core::fmt;
use core::marker::PhantomData;
use core::mem;
use core::ops::{Deref, DerefMut};
use core::ptr::NonNull;
use core::sync::atomic::{AtomicBool, Ordering};
use std::thread::panicking;

use super::guard::LockGuard;
use super::raw_lock::RawLock;

/// Access to a part of the value of a [`Lock`](crate::Lock), which is held until this is dropped.
/// [`LockGuard::map`] makes it. Condition variables take guards of whole values only.
#[must_use = "the lock is held only while the guard lives"]
pub struct MappedLockGuard<'a, T: ?Sized> {
    part: NonNull<T>,
    raw: &'a RawLock,
    poisoned: &'a AtomicBool,
    /// The thread was already unwinding when it took the lock.
    panicking: bool,
    alone: PhantomData<&'a mut T>,
}

// SAFETY: a shared guard gives only shared access to the part.
unsafe impl<T: ?Sized + Sync> Sync for MappedLockGuard<'_, T> {}

impl<'a, T: ?Sized> LockGuard<'a, T> {
    /// A guard for a part of the value.
    ///
    /// ```
    /// use uthread::{Lock, LockGuard};
    ///
    /// uthread::run(|| {
    ///     let lock = Lock::new((1, "one"));
    ///     *LockGuard::map(lock.lock().unwrap(), |(number, _)| number) = 2;
    ///     assert_eq!(lock.lock().unwrap().0, 2);
    /// });
    /// ```
    pub fn map<U: ?Sized>(
        mut guard: Self,
        part: impl FnOnce(&mut T) -> &mut U,
    ) -> MappedLockGuard<'a, U> {
        let part = NonNull::from(part(&mut guard));
        let (lock, panicking) = (guard.lock, guard.panicking);
        mem::forget(guard);
        MappedLockGuard {
            part,
            raw: &lock.raw,
            poisoned: &lock.poisoned,
            panicking,
            alone: PhantomData,
        }
    }
}

impl<'a, T: ?Sized> MappedLockGuard<'a, T> {
    /// A guard for a part of the part.
    pub fn map<U: ?Sized>(
        mut guard: Self,
        part: impl FnOnce(&mut T) -> &mut U,
    ) -> MappedLockGuard<'a, U> {
        let mapped = MappedLockGuard {
            part: NonNull::from(part(&mut guard)),
            raw: guard.raw,
            poisoned: guard.poisoned,
            panicking: guard.panicking,
            alone: PhantomData,
        };
        mem::forget(guard);
        mapped
    }
}

impl<T: ?Sized> Deref for MappedLockGuard<'_, T> {
    type Target = T;

    fn deref(&self) -> &T {
        // SAFETY: the thread that holds the guard owns the lock.
        unsafe { self.part.as_ref() }
    }
}

impl<T: ?Sized> DerefMut for MappedLockGuard<'_, T> {
    fn deref_mut(&mut self) -> &mut T {
        // SAFETY: as above, and the guard is borrowed exclusively.
        unsafe { self.part.as_mut() }
    }
}

impl<T: ?Sized> Drop for MappedLockGuard<'_, T> {
    fn drop(&mut self) {
        if !self.panicking && panicking() {
            self.poisoned.store(true, Ordering::Relaxed);
        }
        self.raw.unlock();
    }
}

impl<T: ?Sized + fmt::Debug> fmt::Debug for MappedLockGuard<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        (**self).fmt(f)
    }
}
