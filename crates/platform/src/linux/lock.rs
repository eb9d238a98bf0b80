use std::cell::UnsafeCell;

use crate::error::{Result, absent, refuse};
use crate::lock::{Locked, Raw};

/// The C library identifies its locks by address: they must not move after their first use.
#[derive(Debug)]
pub struct RawMutex(Box<UnsafeCell<libc::pthread_mutex_t>>);

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
pub struct RawSpin(Box<UnsafeCell<libc::pthread_spinlock_t>>);

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

/// A number behind a `pthread_mutex_t` with the default attributes: a thread that finds it locked
/// sleeps in the kernel
/// ([pthread_mutex_lock(3p)](https://man7.org/linux/man-pages/man3/pthread_mutex_lock.3p.html)).
pub type PthreadMutex = Locked<RawMutex>;
/// A number behind a `pthread_spinlock_t`: a thread that finds it locked spins until it is free
/// ([pthread_spin_lock(3p)](https://man7.org/linux/man-pages/man3/pthread_spin_lock.3p.html)).
pub type PthreadSpin = Locked<RawSpin>;

impl PthreadMutex {
    /// An unlocked lock around `number`.
    pub fn new(number: u64) -> Result<Self> {
        let raw = Box::new(UnsafeCell::new(libc::PTHREAD_MUTEX_INITIALIZER));
        Ok(Self::around(number, RawMutex(raw)))
    }
}

impl PthreadSpin {
    /// An unlocked lock around `number`.
    pub fn new(number: u64) -> Result<Self> {
        let raw = Box::new(UnsafeCell::new(0));
        // SAFETY: no other thread has it until it is initialised.
        unsafe { libc::pthread_spin_init(raw.get(), libc::PTHREAD_PROCESS_PRIVATE) };
        Ok(Self::around(number, RawSpin(raw)))
    }
}

absent! {
    /// A number behind an `SRWLOCK`, which one thread at a time holds exclusively: a thread that finds it locked
    /// spins for a moment, then sleeps in the kernel
    /// ([Slim reader/writer locks](https://learn.microsoft.com/en-us/windows/win32/sync/slim-reader-writer--srw--locks)).
    enum SlimLock = refuse("SRWLOCK") => {
        /// An unlocked lock around `number`.
        fn new(u64) -> Result<Self>;
        /// Calls `work` with the number while the lock is held. `work` must not lock it again.
        fn with(&self, impl FnOnce(&mut u64)) -> ();
    }

    /// A number behind a `CRITICAL_SECTION`: a thread that finds it locked looks again as often as its spin count,
    /// then sleeps in the kernel
    /// ([Critical section objects](https://learn.microsoft.com/en-us/windows/win32/sync/critical-section-objects)).
    enum CriticalSection = refuse("CRITICAL_SECTION") => {
        /// An unlocked lock around `number`, for which threads look `spin_count` times again before they sleep.
        fn new(u64, u32) -> Result<Self>;
        /// Calls `work` with the number while the lock is held. `work` panics if it locks it again.
        fn with(&self, impl FnOnce(&mut u64)) -> ();
    }
}
