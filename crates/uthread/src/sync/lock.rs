//! The lock that blocks.

use core::cell::UnsafeCell;
use core::fmt;
use core::sync::atomic::{AtomicBool, Ordering};
use std::sync::{PoisonError, TryLockError};

use super::{LockGuard, LockResult, Protocol, RawLock, TryLockResult};

/// A lock around a value. A thread that finds it held blocks; threads get it in the order in which
/// they came, handed over directly, so that nobody can overtake them.
///
/// It is poisoned as the locks of the standard library are: by a panic while it is held.
///
/// # Panics
/// Locking is a panic that names the threads: if the running thread holds the lock already; if it
/// would close a circle of threads that wait for each other; while preemption is held off; and, for
/// a lock with a ceiling, in a thread of a higher priority.
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
    poisoned: AtomicBool,
    pub(super) value: UnsafeCell<T>,
}

// SAFETY: the value is used by the owner of the lock only.
unsafe impl<T: ?Sized + Send> Sync for Lock<T> {}
// SAFETY: a lock that can be moved is not borrowed.
unsafe impl<T: ?Sized + Send> Send for Lock<T> {}

impl<T> Lock<T> {
    /// A lock without a protocol against priority inversion.
    ///
    /// ```
    /// static TOTAL: uthread::Lock<u32> = uthread::Lock::new(0);
    ///
    /// uthread::run(|| *TOTAL.lock().unwrap() += 1);
    /// ```
    pub const fn new(value: T) -> Self {
        Self::with_protocol(value, Protocol::None)
    }

    /// A lock with a protocol.
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
        Self {
            raw: RawLock::new(protocol),
            poisoned: AtomicBool::new(false),
            value: UnsafeCell::new(value),
        }
    }

    /// Gives the value back.
    ///
    /// # Errors
    /// The value all the same, if the lock is poisoned.
    ///
    /// ```
    /// let lock = uthread::Lock::new(1);
    /// uthread::run(|| *lock.lock().unwrap() += 1);
    /// assert_eq!(lock.into_inner().unwrap(), 2);
    /// ```
    pub fn into_inner(self) -> LockResult<T> {
        let poisoned = self.is_poisoned();
        let value = self.value.into_inner();
        if poisoned {
            Err(PoisonError::new(value))
        } else {
            Ok(value)
        }
    }
}

impl<T: ?Sized> Lock<T> {
    /// Waits for the lock.
    ///
    /// # Errors
    /// The guard all the same, if the lock is poisoned.
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

    /// Takes the lock if it is free.
    ///
    /// # Errors
    /// [`TryLockError::WouldBlock`] if it is held, or the guard all the same, if the lock is
    /// poisoned.
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

    /// Whether a thread has panicked while it held the lock.
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

    /// Declares the value to be in order again.
    ///
    /// ```
    /// let lock = uthread::Lock::new(1);
    /// lock.clear_poison();
    /// assert!(!lock.is_poisoned());
    /// ```
    pub fn clear_poison(&self) {
        self.poisoned.store(false, Ordering::Relaxed);
    }

    /// What the lock does against priority inversion.
    ///
    /// ```
    /// use uthread::{Lock, Protocol};
    ///
    /// assert_eq!(Lock::new(()).protocol(), Protocol::None);
    /// ```
    pub fn protocol(&self) -> Protocol {
        self.raw.protocol()
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
