//! A number behind a lock of the system, of whatever type.

use std::cell::UnsafeCell;

/// A lock type of the system.
pub trait Raw {
    /// Does not return to a thread that holds it already.
    ///
    /// # Safety
    /// The lock must not move.
    unsafe fn lock(&self);

    /// # Safety
    /// The calling thread must hold it.
    unsafe fn unlock(&self);
}

/// A number behind a lock. What the system identifies by its address is boxed in `L`.
#[derive(Debug)]
pub struct Locked<L> {
    raw: L,
    number: UnsafeCell<u64>,
}

// SAFETY: one thread at a time uses the number. Locks of the system may be shared, and may be
// moved while nothing borrows them: the part with an address stays in its box.
unsafe impl<L> Sync for Locked<L> {}
// SAFETY: as above.
unsafe impl<L> Send for Locked<L> {}

impl<L: Raw> Locked<L> {
    pub(crate) fn around(number: u64, raw: L) -> Self {
        Self {
            raw,
            number: UnsafeCell::new(number),
        }
    }

    /// Calls `work` with the number while the lock is held. `work` must not lock it again.
    #[inline]
    pub fn with(&self, work: impl FnOnce(&mut u64)) {
        struct Unlock<'l, L: Raw>(&'l L);
        impl<L: Raw> Drop for Unlock<'_, L> {
            fn drop(&mut self) {
                // SAFETY: locked below by the same thread.
                unsafe { self.0.unlock() };
            }
        }
        // SAFETY: it stays in its box.
        unsafe { self.raw.lock() };
        let _unlock = Unlock(&self.raw);
        // SAFETY: only this thread holds the lock, and has entered it once.
        work(unsafe { &mut *self.number.get() });
    }
}
