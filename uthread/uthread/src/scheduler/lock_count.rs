//! The number of locks that a thread holds.

use core::cell::Cell;

/// Counts those taken and those released. With one count for both, each would wait for the last one to be written, which
/// takes longer than the rest of taking and releasing a free lock.
#[derive(Debug)]
pub(crate) struct LockCount {
    taken: Cell<u32>,
    released: Cell<u32>,
}

impl LockCount {
    #[inline]
    pub(crate) const fn new() -> Self {
        Self {
            taken: Cell::new(0),
            released: Cell::new(0),
        }
    }

    #[inline]
    pub(crate) fn take(&self) {
        self.taken.set(self.taken.get().wrapping_add(1));
    }

    #[inline]
    pub(crate) fn release(&self) {
        self.released.set(self.released.get().wrapping_add(1));
    }

    /// The number of those that are held.
    #[inline]
    pub(crate) fn get(&self) -> u32 {
        self.taken.get().wrapping_sub(self.released.get())
    }
}
