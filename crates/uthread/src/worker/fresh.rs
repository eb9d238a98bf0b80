//! Threads that have not started yet: any worker may take them.

use crate::atomic::AtomicBool;
use crate::scheduler::{Priority, Ready, Schedulable};
use crate::spin::SpinCell;

/// The unstarted threads that a worker has spawned.
pub(crate) struct Fresh<T>(SpinCell<Ready<T>>);

// SAFETY: the queue is only touched under its spin lock, and its members are shared by design.
unsafe impl<T> Sync for Fresh<T> {}
// SAFETY: as above.
unsafe impl<T> Send for Fresh<T> {}

impl<T: Schedulable> Fresh<T> {
    pub(crate) fn new() -> Self {
        Self(SpinCell::new(AtomicBool::new(false), Ready::new()))
    }

    /// # Safety
    /// Preemption must be off; `thread` must be in no queue and stay alive until it is taken out.
    pub(crate) unsafe fn push(&self, thread: *const T) {
        // SAFETY: the caller's contract.
        unsafe { self.0.with(true, |ready| ready.push_back(thread)) }
    }

    /// Takes the first of the highest priority, if that is at least `priority`.
    ///
    /// # Safety
    /// Preemption must be off.
    pub(crate) unsafe fn pop(&self, priority: Priority) -> Option<*const T> {
        // SAFETY: the caller's contract.
        unsafe {
            self.0.with(true, |ready| {
                (ready.highest()? >= priority)
                    .then(|| ready.pop())
                    .flatten()
            })
        }
    }

    /// # Safety
    /// Preemption must be off.
    pub(crate) unsafe fn is_empty(&self) -> bool {
        // SAFETY: the caller's contract.
        unsafe { self.0.with(true, |ready| ready.is_empty()) }
    }
}
