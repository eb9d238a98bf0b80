use std::cell::UnsafeCell;

use crate::error::Result;

/// One kind of lock of the C library.
pub(crate) trait Raw {
    /// # Safety
    /// The lock must stay in place, and the calling thread not hold it.
    unsafe fn lock(&self);

    /// # Safety
    /// The calling thread must hold it.
    unsafe fn unlock(&self);
}

/// The C library knows its locks by their addresses: they stay where they are first used.
pub(crate) struct RawMutex(Box<UnsafeCell<libc::pthread_mutex_t>>);

impl Raw for RawMutex {
    #[inline]
    unsafe fn lock(&self) {
        // SAFETY: initialised when it was made; the rest is the caller's contract.
        let refused = unsafe { libc::pthread_mutex_lock(self.0.get()) };
        assert_eq!(refused, 0, "pthread_mutex_lock refused a sound lock");
    }

    #[inline]
    unsafe fn unlock(&self) {
        // SAFETY: the caller's contract.
        unsafe { libc::pthread_mutex_unlock(self.0.get()) };
    }
}

impl Drop for RawMutex {
    fn drop(&mut self) {
        // SAFETY: initialised, and free, for nobody borrows it.
        unsafe { libc::pthread_mutex_destroy(self.0.get()) };
    }
}

/// As [`RawMutex`].
pub(crate) struct RawSpin(Box<UnsafeCell<libc::pthread_spinlock_t>>);

impl Raw for RawSpin {
    #[inline]
    unsafe fn lock(&self) {
        // SAFETY: initialised when it was made; the rest is the caller's contract.
        let refused = unsafe { libc::pthread_spin_lock(self.0.get()) };
        assert_eq!(refused, 0, "pthread_spin_lock refused a sound lock");
    }

    #[inline]
    unsafe fn unlock(&self) {
        // SAFETY: the caller's contract.
        unsafe { libc::pthread_spin_unlock(self.0.get()) };
    }
}

impl Drop for RawSpin {
    fn drop(&mut self) {
        // SAFETY: initialised, and free, for nobody borrows it.
        unsafe { libc::pthread_spin_destroy(self.0.get()) };
    }
}

/// A value behind such a lock.
pub(crate) struct Locked<L, T> {
    raw: L,
    value: UnsafeCell<T>,
}

pub(crate) type Mutex<T> = Locked<RawMutex, T>;
pub(crate) type Spin<T> = Locked<RawSpin, T>;

// SAFETY: the value is used by one thread at a time, and locks of the C library are made to be
// shared and, while nobody borrows them, moved: what has an address stays in its box.
unsafe impl<L, T: Send> Sync for Locked<L, T> {}
// SAFETY: as above.
unsafe impl<L, T: Send> Send for Locked<L, T> {}

impl<T> Mutex<T> {
    #[expect(clippy::unnecessary_wraps, reason = "other systems lack this lock")]
    pub(crate) fn new(value: T) -> Result<Self> {
        let raw = Box::new(UnsafeCell::new(libc::PTHREAD_MUTEX_INITIALIZER));
        Ok(Self {
            raw: RawMutex(raw),
            value: UnsafeCell::new(value),
        })
    }
}

impl<T> Spin<T> {
    #[expect(clippy::unnecessary_wraps, reason = "other systems lack this lock")]
    pub(crate) fn new(value: T) -> Result<Self> {
        let raw = Box::new(UnsafeCell::new(0));
        // SAFETY: ours alone until it is initialised.
        unsafe { libc::pthread_spin_init(raw.get(), libc::PTHREAD_PROCESS_PRIVATE) };
        Ok(Self {
            raw: RawSpin(raw),
            value: UnsafeCell::new(value),
        })
    }
}

impl<L: Raw, T> Locked<L, T> {
    #[inline]
    pub(crate) fn with<R>(&self, work: impl FnOnce(&mut T) -> R) -> R {
        struct Unlock<'l, L: Raw>(&'l L);
        impl<L: Raw> Drop for Unlock<'_, L> {
            fn drop(&mut self) {
                // SAFETY: locked below by the same thread.
                unsafe { self.0.unlock() };
            }
        }
        // SAFETY: it stays in its box. A second lock inside `work` cannot get here: the C library's
        // locks of these kinds wait for ever.
        unsafe { self.raw.lock() };
        let _unlock = Unlock(&self.raw);
        // SAFETY: this thread alone is inside.
        work(unsafe { &mut *self.value.get() })
    }
}
