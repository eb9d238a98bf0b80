//! The ends of channels as those see them who wait for several.

use core::ptr;
use std::sync::Arc;

use super::super::homed::Homed;
use super::state::{Notice, Shared, State};
use super::{Receiver, Sender};
use crate::worker::{Worker, enter, leave};

pub(crate) trait End {
    /// True if an operation of this end would not wait now. Otherwise the notice is called at the next change.
    fn is_ready(&self, worker: &Worker, notice: &Notice) -> bool;

    /// Takes the notice back.
    fn forget(&self, worker: &Worker, notice: &Notice);
}

impl<T> Shared<T> {
    fn watch(
        &self,
        worker: &Worker,
        notice: &Notice,
        is_ready: impl FnOnce(&State<T>) -> bool,
    ) -> bool {
        self.check(worker, "Select::wait");
        enter();
        let ready = self.look(worker, |state| {
            let ready = is_ready(state);
            if !ready {
                self.add_notice(state, notice);
            }
            ready
        });
        leave();
        ready
    }

    fn unwatch(&self, worker: &Worker, notice: &Notice) {
        let is_other = |other: &Notice| !ptr::addr_eq(Arc::as_ptr(other), Arc::as_ptr(notice));
        enter();
        self.look(worker, |state| state.notices.retain(is_other));
        leave();
    }
}

impl<T: Send> End for Receiver<T> {
    fn is_ready(&self, worker: &Worker, notice: &Notice) -> bool {
        self.0.watch(worker, notice, |state| {
            let any = !state.buffer.is_empty() || !state.blocked_senders.is_empty();
            any || !self.0.has_senders()
        })
    }

    fn forget(&self, worker: &Worker, notice: &Notice) {
        self.0.unwatch(worker, notice);
    }
}

impl<T: Send> End for Sender<T> {
    fn is_ready(&self, worker: &Worker, notice: &Notice) -> bool {
        self.0.watch(worker, notice, |state| {
            let room = state.buffer.len() < state.capacity || !state.blocked_receivers.is_empty();
            room || !self.0.has_receivers()
        })
    }

    fn forget(&self, worker: &Worker, notice: &Notice) {
        self.0.unwatch(worker, notice);
    }
}
