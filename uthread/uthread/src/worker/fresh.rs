//! Threads that have not started yet: any worker may steal them.

use crate::atomic::{AtomicBool, Ordering};
use crate::scheduler::{Priority, Ready, Schedulable};
use crate::spin::SpinCell;

/// The unstarted threads that a worker has spawned.
pub(crate) struct Fresh<T> {
    ready: SpinCell<Ready<T>>,
    /// Changed together with the queue. Idle workers poll it without the lock.
    occupied: AtomicBool,
}

// SAFETY: the queue is used only with its spin lock held, and its members are `Sync`.
unsafe impl<T> Sync for Fresh<T> {}
// SAFETY: as above.
unsafe impl<T> Send for Fresh<T> {}

impl<T: Schedulable> Fresh<T> {
    pub(crate) fn new() -> Self {
        Self {
            ready: SpinCell::new(AtomicBool::new(false), Ready::new()),
            occupied: AtomicBool::new(false),
        }
    }

    /// True if there are none, according to the last value that this kernel thread saw.
    pub(crate) fn is_empty(&self) -> bool {
        !self.occupied.load(Ordering::Relaxed)
    }

    /// # Safety
    /// Preemption must be disabled; `thread` must be in no queue and stay alive until it is taken
    /// out.
    pub(crate) unsafe fn push(&self, thread: *const T) {
        // SAFETY: the caller's contract.
        unsafe {
            self.ready.with(true, |ready| {
                ready.push_back(thread);
                self.occupied.store(true, Ordering::Relaxed);
            });
        }
    }

    /// Takes the first thread of the highest priority, if that is at least `priority`.
    ///
    /// # Safety
    /// Preemption must be disabled.
    pub(crate) unsafe fn pop(&self, priority: Priority) -> Option<*const T> {
        if self.is_empty() {
            return None;
        }
        // SAFETY: the caller's contract.
        unsafe {
            self.ready.with(true, |ready| {
                let thread = (ready.highest()? >= priority)
                    .then(|| ready.pop())
                    .flatten();
                self.occupied.store(!ready.is_empty(), Ordering::Relaxed);
                thread
            })
        }
    }
}
