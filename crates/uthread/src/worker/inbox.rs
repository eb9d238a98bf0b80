//! Threads that other workers have woken: pushed by anyone, taken by one.

use core::ptr;

use crate::atomic::{AtomicPtr, Ordering};
use crate::scheduler::Linked;

/// A stack that many push to and its owner takes as a whole (Treiber's stack; without single pops
/// it has no ABA problem).
pub(crate) struct Inbox<T> {
    newest: AtomicPtr<T>,
}

impl<T: Linked> Inbox<T> {
    pub(crate) fn new() -> Self {
        Self {
            newest: AtomicPtr::new(ptr::null_mut()),
        }
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.newest.load(Ordering::Relaxed).is_null()
    }

    /// # Safety
    /// `thread` must be in no queue and stay alive and in place until it is taken out.
    pub(crate) unsafe fn push(&self, thread: *const T) {
        let mut newest = self.newest.load(Ordering::Relaxed);
        loop {
            // SAFETY: alive, and until it is published nobody else looks at its links.
            unsafe { &*thread }.links().next().set(newest);
            let new = thread.cast_mut();
            match self
                .newest
                .compare_exchange(newest, new, Ordering::Release, Ordering::Relaxed)
            {
                Ok(_) => return,
                Err(now) => newest = now,
            }
        }
    }

    /// Takes all, and hands them to `each` in the order in which they came.
    pub(crate) fn take_all(&self, mut each: impl FnMut(*const T)) {
        let mut newest = self
            .newest
            .swap(ptr::null_mut(), Ordering::Acquire)
            .cast_const();
        let mut oldest = ptr::null();
        // SAFETY: what was taken belongs to this worker now and is alive.
        while let Some(thread) = unsafe { newest.as_ref() } {
            newest = thread.links().next().replace(oldest);
            oldest = thread;
        }
        // SAFETY: as above; the successor is read before the thread is handed over.
        while let Some(thread) = unsafe { oldest.as_ref() } {
            oldest = thread.links().next().get();
            each(thread);
        }
    }
}
