//! The lock of readers and writers.

use core::cell::UnsafeCell;
use core::fmt;
use core::marker::PhantomData;
use core::ops::{Deref, DerefMut};
use core::ptr::NonNull;
use core::sync::atomic::{AtomicBool, Ordering};
use core::time::Duration;
use std::sync::TryLockError;
use std::thread::panicking;

use super::lock::{LockResult, TryLockResult, unless_poisoned};
use super::raw_rw_lock::{Access, RawRwLock};

/// A lock that many readers hold at the same time, or one writer. Threads get it in the order of coming, so a reader
/// waits while a writer waits before it. A thread must not lock it again while it holds it: a writer that waits for itself
/// panics, but a reader that does so waits for ever.
///
/// A writer that panics poisons it, as a [`Lock`](crate::Lock).
///
/// ```
/// use uthread::{RwLock, scope};
///
/// uthread::run(|| {
///     let lock = RwLock::new(vec![1, 2]);
///     scope(|scope| {
///         scope.spawn(|| lock.write().unwrap().push(3));
///     });
///     let (one, other) = (lock.read().unwrap(), lock.read().unwrap());
///     assert_eq!(*one, [1, 2, 3]);
///     assert_eq!(one.len(), other.len());
/// });
/// ```
pub struct RwLock<T: ?Sized> {
    raw: RawRwLock,
    poisoned: AtomicBool,
    value: UnsafeCell<T>,
}

// SAFETY: readers share the value, and a writer has it alone.
unsafe impl<T: ?Sized + Send + Sync> Sync for RwLock<T> {}
// SAFETY: a lock that can be moved is not borrowed.
unsafe impl<T: ?Sized + Send> Send for RwLock<T> {}

impl<T> RwLock<T> {
    /// A lock that nobody holds.
    ///
    /// ```
    /// static LOCK: uthread::RwLock<u32> = uthread::RwLock::new(7);
    ///
    /// uthread::run(|| assert_eq!(*LOCK.read().unwrap(), 7));
    /// ```
    pub const fn new(value: T) -> Self {
        Self {
            raw: RawRwLock::new(),
            poisoned: AtomicBool::new(false),
            value: UnsafeCell::new(value),
        }
    }

    /// The value.
    ///
    /// # Errors
    /// The value as well, if the lock is poisoned.
    pub fn into_inner(self) -> LockResult<T> {
        let poisoned = self.is_poisoned();
        unless_poisoned(poisoned, self.value.into_inner())
    }
}

impl<T: ?Sized> RwLock<T> {
    /// Waits until no thread writes.
    ///
    /// # Errors
    /// The guard as well, if the lock is poisoned.
    ///
    /// # Panics
    /// Outside a runtime, while preemption is disabled, and if the caller writes.
    pub fn read(&self) -> LockResult<RwLockReadGuard<'_, T>> {
        self.raw.lock(Access::Read, "RwLock::read", None);
        self.reads()
    }

    /// Like [`read`](Self::read), but waits not longer than `limit`.
    ///
    /// # Errors
    /// [`TryLockError::WouldBlock`] if a thread wrote for all that time; or the guard as well, if the lock is poisoned.
    ///
    /// # Panics
    /// Same as [`read`](Self::read).
    pub fn read_timeout(&self, limit: Duration) -> TryLockResult<RwLockReadGuard<'_, T>> {
        let operation = "RwLock::read_timeout";
        if self.raw.lock(Access::Read, operation, Some(limit)) {
            Ok(self.reads()?)
        } else {
            Err(TryLockError::WouldBlock)
        }
    }

    /// Reads if that needs no wait.
    ///
    /// # Errors
    /// [`TryLockError::WouldBlock`] if a thread writes, or waits to write; or the guard as well, if the lock is poisoned.
    ///
    /// # Panics
    /// Outside a runtime.
    pub fn try_read(&self) -> TryLockResult<RwLockReadGuard<'_, T>> {
        if self.raw.try_lock(Access::Read, "RwLock::try_read") {
            Ok(self.reads()?)
        } else {
            Err(TryLockError::WouldBlock)
        }
    }

    /// Waits until no other thread holds the lock.
    ///
    /// # Errors
    /// The guard as well, if the lock is poisoned.
    ///
    /// # Panics
    /// Same as [`read`](Self::read).
    pub fn write(&self) -> LockResult<RwLockWriteGuard<'_, T>> {
        self.raw.lock(Access::Write, "RwLock::write", None);
        self.writes()
    }

    /// Like [`write`](Self::write), but waits not longer than `limit`.
    ///
    /// # Errors
    /// [`TryLockError::WouldBlock`] if others held the lock for all that time; or the guard as well, if the lock is
    /// poisoned.
    ///
    /// # Panics
    /// Same as [`write`](Self::write).
    pub fn write_timeout(&self, limit: Duration) -> TryLockResult<RwLockWriteGuard<'_, T>> {
        let operation = "RwLock::write_timeout";
        if self.raw.lock(Access::Write, operation, Some(limit)) {
            Ok(self.writes()?)
        } else {
            Err(TryLockError::WouldBlock)
        }
    }

    /// Writes if that needs no wait.
    ///
    /// # Errors
    /// [`TryLockError::WouldBlock`] if others hold the lock; or the guard as well, if the lock is poisoned.
    ///
    /// # Panics
    /// Outside a runtime.
    pub fn try_write(&self) -> TryLockResult<RwLockWriteGuard<'_, T>> {
        if self.raw.try_lock(Access::Write, "RwLock::try_write") {
            Ok(self.writes()?)
        } else {
            Err(TryLockError::WouldBlock)
        }
    }

    /// True if a writer has panicked.
    pub fn is_poisoned(&self) -> bool {
        self.poisoned.load(Ordering::Relaxed)
    }

    /// Makes the lock usable again.
    pub fn clear_poison(&self) {
        self.poisoned.store(false, Ordering::Relaxed);
    }

    /// The value, which nobody else can use meanwhile.
    pub fn get_mut(&mut self) -> &mut T {
        self.value.get_mut()
    }

    /// The running thread reads.
    fn reads(&self) -> LockResult<RwLockReadGuard<'_, T>> {
        // SAFETY: a cell is not null.
        let value = unsafe { NonNull::new_unchecked(self.value.get()) };
        unless_poisoned(
            self.is_poisoned(),
            RwLockReadGuard {
                value,
                hold: Hold {
                    raw: &self.raw,
                    access: Access::Read,
                    poisons: None,
                    not_send: PhantomData,
                },
                shared: PhantomData,
            },
        )
    }

    /// The running thread writes.
    fn writes(&self) -> LockResult<RwLockWriteGuard<'_, T>> {
        // SAFETY: a cell is not null.
        let value = unsafe { NonNull::new_unchecked(self.value.get()) };
        unless_poisoned(
            self.is_poisoned(),
            RwLockWriteGuard {
                value,
                hold: Hold {
                    raw: &self.raw,
                    access: Access::Write,
                    poisons: (!panicking()).then_some(&self.poisoned),
                    not_send: PhantomData,
                },
                alone: PhantomData,
            },
        )
    }
}

impl RwLock<()> {
    /// Releases the lock for the running thread if it writes, else for one that reads; `false` if another thread writes, or
    /// nobody holds the lock.
    ///
    /// # Safety
    /// The guard was forgotten.
    #[doc(hidden)]
    pub unsafe fn unlock_forgotten(&self) -> bool {
        self.raw.unlock_forgotten("RwLock::unlock")
    }

    /// True if a thread holds the lock or waits for it, or may do so in a runtime that the caller is not in.
    #[doc(hidden)]
    pub fn is_used(&self) -> bool {
        self.raw.is_used()
    }
}

impl<T: Default> Default for RwLock<T> {
    fn default() -> Self {
        Self::new(T::default())
    }
}

impl<T> From<T> for RwLock<T> {
    fn from(value: T) -> Self {
        Self::new(value)
    }
}

impl<T: ?Sized> fmt::Debug for RwLock<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RwLock")
            .field("poisoned", &self.is_poisoned())
            .finish_non_exhaustive()
    }
}

/// The lock until it is released. The thread stays its holder.
struct Hold<'a> {
    raw: &'a RawRwLock,
    access: Access,
    /// Set if the thread panics while it holds the lock.
    poisons: Option<&'a AtomicBool>,
    not_send: PhantomData<*const ()>,
}

impl Drop for Hold<'_> {
    fn drop(&mut self) {
        if let Some(poisoned) = self.poisons
            && panicking()
        {
            poisoned.store(true, Ordering::Relaxed);
        }
        self.raw.unlock(self.access, "RwLock::unlock");
    }
}

/// Shared access to the value of an [`RwLock`], or to a part of it. Dropping the guard releases the lock.
#[must_use = "the lock is held only while the guard lives"]
pub struct RwLockReadGuard<'a, T: ?Sized> {
    value: NonNull<T>,
    hold: Hold<'a>,
    shared: PhantomData<&'a T>,
}

// SAFETY: a shared guard gives only shared access to the value.
unsafe impl<T: ?Sized + Sync> Sync for RwLockReadGuard<'_, T> {}

impl<'a, T: ?Sized> RwLockReadGuard<'a, T> {
    /// A guard for a part of the value.
    ///
    /// ```
    /// use uthread::{RwLock, RwLockReadGuard};
    ///
    /// uthread::run(|| {
    ///     let lock = RwLock::new((1, "one"));
    ///     let name = RwLockReadGuard::map(lock.read().unwrap(), |(_, name)| name);
    ///     assert_eq!(*name, "one");
    /// });
    /// ```
    pub fn map<U: ?Sized>(guard: Self, part: impl FnOnce(&T) -> &U) -> RwLockReadGuard<'a, U> {
        RwLockReadGuard {
            value: NonNull::from(part(&guard)),
            hold: guard.hold,
            shared: PhantomData,
        }
    }
}

impl<T: ?Sized> Deref for RwLockReadGuard<'_, T> {
    type Target = T;

    fn deref(&self) -> &T {
        // SAFETY: the thread that holds the guard reads, so nobody writes.
        unsafe { self.value.as_ref() }
    }
}

/// Access to the value of an [`RwLock`], or to a part of it. Dropping the guard releases the lock.
#[must_use = "the lock is held only while the guard lives"]
pub struct RwLockWriteGuard<'a, T: ?Sized> {
    value: NonNull<T>,
    hold: Hold<'a>,
    alone: PhantomData<&'a mut T>,
}

// SAFETY: a shared guard gives only shared access to the value.
unsafe impl<T: ?Sized + Sync> Sync for RwLockWriteGuard<'_, T> {}

impl<'a, T: ?Sized> RwLockWriteGuard<'a, T> {
    /// A guard for a part of the value.
    ///
    /// ```
    /// use uthread::{RwLock, RwLockWriteGuard};
    ///
    /// uthread::run(|| {
    ///     let lock = RwLock::new((1, "one"));
    ///     *RwLockWriteGuard::map(lock.write().unwrap(), |(number, _)| number) = 2;
    ///     assert_eq!(lock.read().unwrap().0, 2);
    /// });
    /// ```
    pub fn map<U: ?Sized>(
        mut guard: Self,
        part: impl FnOnce(&mut T) -> &mut U,
    ) -> RwLockWriteGuard<'a, U> {
        RwLockWriteGuard {
            value: NonNull::from(part(&mut guard)),
            hold: guard.hold,
            alone: PhantomData,
        }
    }
}

impl<T: ?Sized> Deref for RwLockWriteGuard<'_, T> {
    type Target = T;

    fn deref(&self) -> &T {
        // SAFETY: the thread that holds the guard has the value alone.
        unsafe { self.value.as_ref() }
    }
}

impl<T: ?Sized> DerefMut for RwLockWriteGuard<'_, T> {
    fn deref_mut(&mut self) -> &mut T {
        // SAFETY: as above, and the guard is borrowed exclusively.
        unsafe { self.value.as_mut() }
    }
}

impl<T: ?Sized + fmt::Debug> fmt::Debug for RwLockReadGuard<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        (**self).fmt(f)
    }
}

impl<T: ?Sized + fmt::Debug> fmt::Debug for RwLockWriteGuard<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        (**self).fmt(f)
    }
}
