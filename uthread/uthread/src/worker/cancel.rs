//! Cancelling the waits of threads.

use core::sync::atomic::{Ordering, fence};

use super::Worker;
use super::local::leave;
use crate::thread::{Control, Woken, unwind_cancelled};

impl Worker {
    /// Ends the current wait of `thread`, or else its next one. Preemption must be disabled.
    pub(crate) fn cancel(&self, thread: &Control) {
        thread.request_cancel();
        // Either this finds the worker on which the thread starts, or the thread finds the request.
        fence(Ordering::SeqCst);
        let home = thread.home();
        if home == self.index {
            self.end_wait(thread, Woken::Cancelled);
        } else if let Some(remote) = self.shared.remotes.get(home) {
            remote.cancellations.push(thread);
            remote.bell.ring();
        }
    }

    /// Ends the waits that other workers have cancelled.
    pub(super) fn admit_cancelled(&self) {
        let cancellations = &self.remote().cancellations;
        if cancellations.is_empty() {
            return;
        }
        cancellations.take_all(|thread| {
            // Otherwise a wait has obeyed the request meanwhile.
            if thread.is_cancelled() {
                self.end_wait(thread, Woken::Cancelled);
            }
        });
    }
}

/// Unwinds the running thread, which was cancelled. Preemption must be disabled once.
#[cold]
pub(super) fn obey_cancel(me: &Control) {
    if me.take_cancel() {
        leave();
        unwind_cancelled();
    }
}
