use std::cell::UnsafeCell;

use windows_sys::Win32::System::Threading::{
    AcquireSRWLockExclusive, CRITICAL_SECTION, DeleteCriticalSection, EnterCriticalSection,
    InitializeCriticalSectionAndSpinCount, LeaveCriticalSection, ReleaseSRWLockExclusive, SRWLOCK,
};

use super::outcome::check;
use crate::error::{Result, absent, refuse};
use crate::lock::{Locked, Raw};

/// The system identifies its locks by address: they must not move after their first use.
pub struct RawSlim(Box<UnsafeCell<SRWLOCK>>);

impl Raw for RawSlim {
    #[inline]
    unsafe fn lock(&self) {
        // SAFETY: initialised on creation. A thread that holds it waits forever.
        unsafe { AcquireSRWLockExclusive(self.0.get()) };
    }

    #[inline]
    unsafe fn unlock(&self) {
        // SAFETY: the caller's contract.
        unsafe { ReleaseSRWLockExclusive(self.0.get()) };
    }
}

/// Boxed like [`RawSlim`].
pub struct RawSection(Box<UnsafeCell<CRITICAL_SECTION>>);

impl Raw for RawSection {
    #[inline]
    unsafe fn lock(&self) {
        let section = self.0.get();
        // SAFETY: initialised on creation.
        unsafe { EnterCriticalSection(section) };
        // SAFETY: this thread holds the section, so no other one changes the count.
        let entries = unsafe { (*section).RecursionCount };
        if entries != 1 {
            // SAFETY: this thread has just entered it.
            unsafe { LeaveCriticalSection(section) };
            panic!("a thread enters a critical section twice");
        }
    }

    #[inline]
    unsafe fn unlock(&self) {
        // SAFETY: the caller's contract.
        unsafe { LeaveCriticalSection(self.0.get()) };
    }
}

impl Drop for RawSection {
    fn drop(&mut self) {
        // SAFETY: initialised, and left, since nothing borrows it.
        unsafe { DeleteCriticalSection(self.0.get()) };
    }
}

pub type SlimLock = Locked<RawSlim>;
pub type CriticalSection = Locked<RawSection>;

impl SlimLock {
    pub fn new(number: u64) -> Result<Self> {
        let raw = Box::new(UnsafeCell::new(SRWLOCK::default()));
        Ok(Self::around(number, RawSlim(raw)))
    }
}

impl CriticalSection {
    pub fn new(number: u64, spin_count: u32) -> Result<Self> {
        let raw = Box::new(UnsafeCell::new(CRITICAL_SECTION::default()));
        // SAFETY: no other thread has it until it is initialised.
        let outcome = unsafe { InitializeCriticalSectionAndSpinCount(raw.get(), spin_count) };
        check(outcome, "make a critical section")?;
        Ok(Self::around(number, RawSection(raw)))
    }
}

absent! {
    enum PthreadMutex = refuse("pthread_mutex_t") => {
        fn new(u64) -> Result<Self>;
        fn with(&self, impl FnOnce(&mut u64)) -> ();
    }

    enum PthreadSpin = refuse("pthread_spinlock_t") => {
        fn new(u64) -> Result<Self>;
        fn with(&self, impl FnOnce(&mut u64)) -> ();
    }
}
