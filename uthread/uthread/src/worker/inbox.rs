//! Threads woken by other workers: many producers, one consumer.

use core::ptr;

use crate::atomic::{AtomicPtr, Ordering};
use crate::scheduler::Linked;

/// A stack that many threads push to and its owner takes as a whole (Treiber's stack; without
/// single pops it has no ABA problem).
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
            // SAFETY: alive, and no other thread uses its links before it is published.
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

    /// Takes all threads, and passes them to `each` in FIFO order.
    pub(crate) fn take_all(&self, mut each: impl FnMut(*const T)) {
        let mut newest = self
            .newest
            .swap(ptr::null_mut(), Ordering::Acquire)
            .cast_const();
        let mut oldest = ptr::null();
        // Not references: `each` gets the pointer that was pushed, with all that it may be used for.
        while !newest.is_null() {
            let thread = newest;
            // SAFETY: the threads taken belong to this worker now and are alive.
            newest = unsafe { &*thread }.links().next().replace(oldest);
            oldest = thread;
        }
        while !oldest.is_null() {
            let thread = oldest;
            // SAFETY: as above; the successor is read before the thread is passed on.
            oldest = unsafe { &*thread }.links().next().get();
            each(thread);
        }
    }
}
