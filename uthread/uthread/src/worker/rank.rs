//! Priorities that change while threads are queued.

use core::sync::atomic::Ordering;

use super::Worker;
use crate::thread::{Control, State};

impl Worker {
    /// Moves `thread` to the right queue if it is ready: its priority may have changed.
    pub(crate) fn rank_changed(&self, thread: &Control) {
        let home = thread.home();
        if home == self.index {
            if thread.state() == State::Ready {
                // SAFETY: a ready thread of this worker is in its run queue.
                unsafe { self.scheduler.replace(thread) };
            }
            self.look_later();
        } else if let Some(home) = self.shared.remotes.get(home) {
            home.regroup.store(true, Ordering::Release);
        }
    }
}
