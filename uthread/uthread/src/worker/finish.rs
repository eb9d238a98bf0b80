//! The end of a thread, as its worker sees it.

use core::ptr::NonNull;
use core::sync::atomic::Ordering;

use super::Worker;
use crate::thread::{Control, DETACHED, FINISHED, add_orphan};

impl Worker {
    /// Publishes the end of a thread, and returns the one that the caller must wake; preemption must be disabled.
    #[inline]
    pub(super) fn finish(&self, thread: NonNull<Control>) -> Option<&'static Control> {
        // SAFETY: alive until it is released below, or by the joining thread.
        let control = unsafe { thread.as_ref() };
        if control.locks.get() > 0 {
            // A guard was forgotten: the lock keeps this thread as its owner.
            control.retain();
        }
        #[cfg(uthread_tsan)]
        // SAFETY: the thread has ended.
        unsafe {
            crate::context::Context::bury(control.context());
        }
        self.live.set(self.live.get() - 1);
        let joiner = if self.several {
            control.joiner.swap(FINISHED, Ordering::AcqRel)
        } else {
            // All threads that may join or detach it are on this worker, and do not run now.
            let joiner = control.joiner.load(Ordering::Relaxed);
            control.joiner.store(FINISHED, Ordering::Release);
            joiner
        };
        if joiner == DETACHED {
            if control.result_gone.get() {
                // SAFETY: this is the shared reference of thread and handle, and the thread has ended.
                unsafe { Control::release(thread) };
            } else {
                // Detached just now. The result's destructor may block, so it must not run here.
                add_orphan(thread);
            }
            return None;
        }
        // SAFETY: a joining thread is alive until it is woken.
        unsafe { joiner.as_ref() }
    }
}
