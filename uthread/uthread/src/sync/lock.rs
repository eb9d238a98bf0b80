//! The blocking lock.

use core::cell::UnsafeCell;
use core::fmt;
use core::sync::atomic::{AtomicBool, Ordering};
use std::sync::PoisonError;

use super::{Protocol, RawLock};

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

/// Same as [`LockResult`], with a further error: the lock is held.
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

/// `value`, as an error if its lock is `poisoned`.
pub(super) fn unless_poisoned<V>(poisoned: bool, value: V) -> LockResult<V> {
    if poisoned {
        Err(PoisonError::new(value))
    } else {
        Ok(value)
    }
}

/// A lock around a value. A thread that finds it held blocks.
///
/// Running threads may take the lock before those that wait. The first of those is overtaken at most 256
/// times, and for a millisecond at most; then the lock is handed over to it. A [`fifo`](Lock::fifo) lock, and one
/// [`with_protocol`](Lock::with_protocol), is always handed over, in the order of coming. Signals of
/// condition variables hand the lock over in any case.
///
/// A panic while the lock is held poisons it, as with the locks of the standard library.
///
/// # Panics
/// Locking is a panic that names the threads in four cases: the running thread already holds the
/// lock; waiting would close a cycle of threads that wait for each other; preemption is disabled;
/// or the lock has a ceiling below the thread's priority.
///
/// ```
/// use std::sync::Arc;
/// use uthread::Lock;
///
/// uthread::run(|| {
///     let total = Arc::new(Lock::new(0));
///     let threads: Vec<_> = (1..=10)
///         .map(|i| {
///             let total = Arc::clone(&total);
///             uthread::spawn(move || *total.lock().unwrap() += i)
///         })
///         .collect();
///     threads.into_iter().for_each(|thread| thread.join().unwrap());
///     assert_eq!(*total.lock().unwrap(), 55);
/// });
/// ```
pub struct Lock<T: ?Sized> {
    pub(super) raw: RawLock,
    pub(super) poisoned: AtomicBool,
    pub(super) value: UnsafeCell<T>,
}

// SAFETY: only the owner of the lock uses the value.
unsafe impl<T: ?Sized + Send> Sync for Lock<T> {}
// SAFETY: a lock that can be moved is not borrowed.
unsafe impl<T: ?Sized + Send> Send for Lock<T> {}

impl<T> Lock<T> {
    /// A lock that running threads may take before those that wait, with a bound. It has no protocol against
    /// priority inversion.
    ///
    /// This is many times faster than handing the lock over, if threads of several workers enter short
    /// sections. If the first waiter runs, it waits some microseconds at most until the next unlocking hands
    /// the lock over.
    ///
    /// ```
    /// static TOTAL: uthread::Lock<u32> = uthread::Lock::new(0);
    ///
    /// uthread::run(|| *TOTAL.lock().unwrap() += 1);
    /// ```
    pub const fn new(value: T) -> Self {
        Self::with_protocol(value, Protocol::None)
    }

    /// A lock that threads get in the order of coming: nobody overtakes a thread that waits. It has no
    /// protocol against priority inversion.
    ///
    /// The price is a switch for each entry while threads wait, and a handover to another worker takes as
    /// long as a hundred entries of a [`new`](Lock::new) lock that is free.
    ///
    /// ```
    /// static TOTAL: uthread::Lock<u32> = uthread::Lock::fifo(0);
    ///
    /// uthread::run(|| *TOTAL.lock().unwrap() += 1);
    /// ```
    pub const fn fifo(value: T) -> Self {
        Self::with_raw(value, RawLock::new(Protocol::None, false))
    }

    /// A lock with a protocol. With [`Protocol::None`] it is the same as [`Lock::new`], and handed over in
    /// the order of coming with the others.
    ///
    /// ```
    /// use uthread::{Lock, Priority, Protocol};
    ///
    /// uthread::run(|| {
    ///     let lock = Lock::with_protocol((), Protocol::Ceiling(Priority::Red));
    ///     let guard = lock.lock().unwrap();
    ///     assert_eq!(uthread::current().priority(), Priority::Red);
    ///     drop(guard);
    ///     assert_eq!(uthread::current().priority(), Priority::Orange);
    /// });
    /// ```
    pub const fn with_protocol(value: T, protocol: Protocol) -> Self {
        let barging = matches!(protocol, Protocol::None);
        Self::with_raw(value, RawLock::new(protocol, barging))
    }

    const fn with_raw(value: T, raw: RawLock) -> Self {
        Self {
            raw,
            poisoned: AtomicBool::new(false),
            value: UnsafeCell::new(value),
        }
    }

    /// Returns the value.
    ///
    /// # Errors
    /// The value as well, if the lock is poisoned.
    ///
    /// ```
    /// let lock = uthread::Lock::new(1);
    /// uthread::run(|| *lock.lock().unwrap() += 1);
    /// assert_eq!(lock.into_inner().unwrap(), 2);
    /// ```
    pub fn into_inner(self) -> LockResult<T> {
        let poisoned = self.is_poisoned();
        unless_poisoned(poisoned, self.value.into_inner())
    }
}

impl<T: ?Sized> Lock<T> {
    /// True if a thread has panicked while it held the lock.
    ///
    /// ```
    /// use uthread::Lock;
    ///
    /// static LOCK: Lock<()> = Lock::new(());
    ///
    /// uthread::run(|| {
    ///     let thread = uthread::spawn(|| {
    ///         let _guard = LOCK.lock().unwrap();
    ///         uthread::exit();
    ///     });
    ///     thread.join().unwrap_err();
    ///     assert!(LOCK.is_poisoned());
    /// });
    /// ```
    #[inline]
    pub fn is_poisoned(&self) -> bool {
        self.poisoned.load(Ordering::Relaxed)
    }

    /// Marks the value as consistent again.
    ///
    /// ```
    /// let lock = uthread::Lock::new(1);
    /// lock.clear_poison();
    /// assert!(!lock.is_poisoned());
    /// ```
    pub fn clear_poison(&self) {
        self.poisoned.store(false, Ordering::Relaxed);
    }

    /// The lock's protocol against priority inversion.
    ///
    /// ```
    /// use uthread::{Lock, Protocol};
    ///
    /// assert_eq!(Lock::new(()).protocol(), Protocol::None);
    /// ```
    pub fn protocol(&self) -> Protocol {
        self.raw.protocol()
    }

    /// Takes the lock without a guard, if it is free; for calls that must not panic or switch. `false` also where
    /// that is not certain.
    #[doc(hidden)]
    #[inline]
    pub fn take_quickly(&self) -> bool {
        self.raw.take_quickly()
    }

    /// Frees the lock whose guard was forgotten, if the running thread holds it and nobody waits; for calls that
    /// must not panic or switch. `false` also where that is not certain.
    ///
    /// # Safety
    /// The running thread has no guard of this lock.
    #[doc(hidden)]
    #[inline]
    pub unsafe fn free_quickly(&self) -> bool {
        self.raw.free_quickly()
    }

    /// True if a thread holds the lock.
    #[doc(hidden)]
    pub fn is_held(&self) -> bool {
        self.raw.owner().is_some()
    }

    pub(super) fn poison(&self) {
        self.poisoned.store(true, Ordering::Relaxed);
    }
}

impl<T: Default> Default for Lock<T> {
    fn default() -> Self {
        Self::new(T::default())
    }
}

impl<T> From<T> for Lock<T> {
    fn from(value: T) -> Self {
        Self::new(value)
    }
}

impl<T: ?Sized> fmt::Debug for Lock<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Lock")
            .field("protocol", &self.protocol())
            .field("poisoned", &self.is_poisoned())
            .finish_non_exhaustive()
    }
}
