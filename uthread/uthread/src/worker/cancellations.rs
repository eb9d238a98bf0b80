//! Threads of a worker that other workers cancel.

use core::ptr::NonNull;
use core::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, PoisonError};

use crate::thread::Control;

/// Each thread with a reference of its own.
#[derive(Default)]
pub(crate) struct Cancellations {
    threads: Mutex<Vec<Thread>>,
    any: AtomicBool,
}

struct Thread(NonNull<Control>);

// SAFETY: a control block that its reference keeps alive.
unsafe impl Send for Thread {}

impl Cancellations {
    #[inline]
    pub(super) fn is_empty(&self) -> bool {
        !self.any.load(Ordering::Relaxed)
    }

    pub(super) fn push(&self, thread: &Control) {
        thread.retain();
        let mut threads = self.threads.lock().unwrap_or_else(PoisonError::into_inner);
        threads.push(Thread(NonNull::from(thread)));
        self.any.store(true, Ordering::Relaxed);
    }

    pub(super) fn take_all(&self, mut each: impl FnMut(&Control)) {
        let mut threads = self.threads.lock().unwrap_or_else(PoisonError::into_inner);
        let taken = core::mem::take(&mut *threads);
        self.any.store(false, Ordering::Relaxed);
        drop(threads);
        for Thread(thread) in taken {
            // SAFETY: the reference of `push`, which ends here.
            unsafe {
                each(thread.as_ref());
                Control::release(thread);
            }
        }
    }
}
