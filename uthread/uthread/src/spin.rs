//! A value behind a test-and-set lock, held for a few instructions with preemption disabled.

use core::cell::UnsafeCell;

use crate::atomic::{AtomicBool, Ordering, pause};

pub(crate) struct SpinCell<T> {
    locked: AtomicBool,
    value: UnsafeCell<T>,
}

// SAFETY: `with` gives the value to one kernel thread at a time.
unsafe impl<T: Send> Sync for SpinCell<T> {}

impl<T> SpinCell<T> {
    pub(crate) const fn new(locked: AtomicBool, value: T) -> Self {
        Self {
            locked,
            value: UnsafeCell::new(value),
        }
    }

    /// Calls `work` with the value. If it is not `exposed` to other kernel threads, disabled preemption
    /// alone excludes all others.
    ///
    /// # Safety
    /// Preemption must be disabled, `work` must not use the same cell again, and `exposed` must be
    /// true if any other kernel thread may use it.
    #[inline]
    pub(crate) unsafe fn with<R>(&self, exposed: bool, work: impl FnOnce(&mut T) -> R) -> R {
        if exposed {
            self.acquire();
        }
        // SAFETY: exclusive, by the lock or by the caller's contract.
        let result = work(unsafe { &mut *self.value.get() });
        if exposed {
            self.locked.store(false, Ordering::Release);
        }
        result
    }

    /// Calls `work` with the value, and whether it was locked: by a worker that the child of a fork does not have, so
    /// it may be half changed. It is free afterwards.
    ///
    /// # Safety
    /// No other thread may use the cell.
    pub(crate) unsafe fn take_over<R>(&self, work: impl FnOnce(&mut T, bool) -> R) -> R {
        let was_locked = self.locked.load(Ordering::Relaxed);
        // SAFETY: the caller's contract.
        let result = work(unsafe { &mut *self.value.get() }, was_locked);
        self.locked.store(false, Ordering::Release);
        result
    }

    fn acquire(&self) {
        let mut attempt = 0u32;
        while !self.try_acquire() {
            // A plain load leaves the cache line with its current owner.
            while self.locked.load(Ordering::Relaxed) {
                pause(attempt);
                attempt = attempt.wrapping_add(1);
            }
        }
    }

    #[inline]
    fn try_acquire(&self) -> bool {
        self.locked
            .compare_exchange(false, true, Ordering::Acquire, Ordering::Relaxed)
            .is_ok()
    }
}
