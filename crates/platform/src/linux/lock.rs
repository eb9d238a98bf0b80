use std::cell::UnsafeCell;

use crate::error::Result;
pub(crate) use crate::lock::lacking::*;
use crate::locked::{Locked, Raw};

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

pub(crate) type PthreadMutex = Locked<RawMutex>;
pub(crate) type PthreadSpin = Locked<RawSpin>;

impl PthreadMutex {
    #[expect(clippy::unnecessary_wraps, reason = "other systems lack this lock")]
    pub(crate) fn new(number: u64) -> Result<Self> {
        let raw = Box::new(UnsafeCell::new(libc::PTHREAD_MUTEX_INITIALIZER));
        Ok(Self::around(number, RawMutex(raw)))
    }
}

impl PthreadSpin {
    #[expect(clippy::unnecessary_wraps, reason = "other systems lack this lock")]
    pub(crate) fn new(number: u64) -> Result<Self> {
        let raw = Box::new(UnsafeCell::new(0));
        // SAFETY: no other thread has it until it is initialised.
        unsafe { libc::pthread_spin_init(raw.get(), libc::PTHREAD_PROCESS_PRIVATE) };
        Ok(Self::around(number, RawSpin(raw)))
    }
}
