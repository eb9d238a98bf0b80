use std::cell::UnsafeCell;

use crate::error::Result;

/// A lock type of the C library.
pub(crate) trait Raw {
    /// # Safety
    /// The lock must not move, and the calling thread must not hold it.
    unsafe fn lock(&self);

    /// # Safety
    /// The calling thread must hold it.
    unsafe fn unlock(&self);
}

/// The C library identifies its locks by address: they must not move after their first use.
#[derive(Debug)]
pub(crate) struct RawMutex(Box<UnsafeCell<libc::pthread_mutex_t>>);

impl Raw for RawMutex {
    #[inline]
    unsafe fn lock(&self) {
        // SAFETY: initialised on creation; the rest is the caller's contract.
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
        // SAFETY: initialised, and unlocked, since nothing borrows it.
        unsafe { libc::pthread_mutex_destroy(self.0.get()) };
    }
}

/// Boxed like [`RawMutex`].
#[derive(Debug)]
pub(crate) struct RawSpin(Box<UnsafeCell<libc::pthread_spinlock_t>>);

impl Raw for RawSpin {
    #[inline]
    unsafe fn lock(&self) {
        // SAFETY: initialised on creation; the rest is the caller's contract.
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
        // SAFETY: initialised, and unlocked, since nothing borrows it.
        unsafe { libc::pthread_spin_destroy(self.0.get()) };
    }
}

/// A number behind a lock of the C library.
#[derive(Debug)]
pub(crate) struct Locked<L> {
    raw: L,
    number: UnsafeCell<u64>,
}

pub(crate) type PthreadMutex = Locked<RawMutex>;
pub(crate) type PthreadSpin = Locked<RawSpin>;

// SAFETY: one thread at a time uses the number. Locks of the C library may be shared, and may be
// moved while nothing borrows them: the part with an address stays in its box.
unsafe impl<L> Sync for Locked<L> {}
// SAFETY: as above.
unsafe impl<L> Send for Locked<L> {}

impl PthreadMutex {
    #[expect(clippy::unnecessary_wraps, reason = "other systems lack this lock")]
    pub(crate) fn new(number: u64) -> Result<Self> {
        let raw = Box::new(UnsafeCell::new(libc::PTHREAD_MUTEX_INITIALIZER));
        Ok(Self {
            raw: RawMutex(raw),
            number: UnsafeCell::new(number),
        })
    }
}

impl PthreadSpin {
    #[expect(clippy::unnecessary_wraps, reason = "other systems lack this lock")]
    pub(crate) fn new(number: u64) -> Result<Self> {
        let raw = Box::new(UnsafeCell::new(0));
        // SAFETY: no other thread has it until it is initialised.
        unsafe { libc::pthread_spin_init(raw.get(), libc::PTHREAD_PROCESS_PRIVATE) };
        Ok(Self {
            raw: RawSpin(raw),
            number: UnsafeCell::new(number),
        })
    }
}

impl<L: Raw> Locked<L> {
    #[inline]
    pub(crate) fn with(&self, work: impl FnOnce(&mut u64)) {
        struct Unlock<'l, L: Raw>(&'l L);
        impl<L: Raw> Drop for Unlock<'_, L> {
            fn drop(&mut self) {
                // SAFETY: locked below by the same thread.
                unsafe { self.0.unlock() };
            }
        }
        // SAFETY: it stays in its box. A second lock inside `work` cannot get here: it waits
        // forever in these lock types of the C library.
        unsafe { self.raw.lock() };
        let _unlock = Unlock(&self.raw);
        // SAFETY: only this thread holds the lock.
        work(unsafe { &mut *self.number.get() });
    }
}
