//! What the ends of a channel share.

use core::sync::atomic::AtomicBool;
use std::collections::VecDeque;
use std::sync::Arc;

use crate::scheduler::Queue;
use crate::spin::SpinCell;
use crate::thread::Control;
use crate::worker::{Home, Worker, current_worker, enter, leave};

/// What is in a channel, and who waits for it.
pub(super) struct State<T> {
    pub(super) buffer: VecDeque<T>,
    pub(super) capacity: usize,
    /// Each has the place of its value in its parcel; one that is woken with the value still there
    /// has nobody left to receive it.
    pub(super) blocked_senders: Queue<Control>,
    /// Each has an empty place in its parcel; one that is woken with nothing there has nobody left
    /// to send.
    pub(super) blocked_receivers: Queue<Control>,
    pub(super) senders: usize,
    pub(super) receivers: usize,
}

// SAFETY: the queues are only chains of threads, used under the spin lock around the state.
unsafe impl<T: Send> Send for State<T> {}

impl<T> State<T> {
    /// The place of a thread that is blocked here.
    pub(super) fn parcel(thread: *const Control) -> *mut Option<T> {
        // SAFETY: who waits is alive until woken.
        unsafe { &*thread }
            .parcel
            .get()
            .cast::<Option<T>>()
            .cast_mut()
    }

    /// Takes the next value, and lets in that of a sender who waits.
    pub(super) fn take(&mut self) -> (Option<T>, Option<*const Control>) {
        let value = self.buffer.pop_front();
        let sender = self.blocked_senders.pop_front();
        // SAFETY: the place of a blocked sender is on its stack, and its own value is in it.
        let sent = sender.and_then(|sender| unsafe { (*Self::parcel(sender)).take() });
        match (value, sent) {
            (None, sent) => (sent, sender),
            (value, sent) => {
                self.buffer.extend(sent);
                (value, sender)
            }
        }
    }
}

/// What the ends of a channel share.
pub(super) struct Shared<T> {
    pub(super) home: Home,
    state: SpinCell<State<T>>,
}

impl<T> Shared<T> {
    pub(super) fn new(capacity: usize) -> Arc<Self> {
        let state = State {
            buffer: VecDeque::new(),
            capacity,
            blocked_senders: Queue::new(),
            blocked_receivers: Queue::new(),
            senders: 1,
            receivers: 1,
        };
        Arc::new(Self {
            home: Home::new(),
            state: SpinCell::new(AtomicBool::new(false), state),
        })
    }

    pub(super) fn with<R>(&self, worker: &Worker, work: impl FnOnce(&mut State<T>) -> R) -> R {
        // SAFETY: preemption is off at every caller, and all threads of the home runtime say the
        // same of `several`.
        unsafe { self.state.with(worker.several, work) }
    }

    /// Changes the number of ends, from wherever an end is cloned or dropped; `work` returns a
    /// queue to be woken.
    pub(super) fn count(&self, work: impl FnOnce(&mut State<T>) -> Queue<Control>) {
        enter();
        match current_worker() {
            Some(worker) if self.home.is(&worker.shared) => {
                let woken = self.with(worker, work);
                while let Some(thread) = woken.pop_front() {
                    // SAFETY: who waits is alive until woken.
                    worker.wake(unsafe { &*thread });
                }
            }
            _ => self.home.unless_live(|| {
                // SAFETY: no runtime uses the channel now or begins to; kernel threads exclude each
                // other by the spin lock.
                let woken = unsafe { self.state.with(true, work) };
                debug_assert!(
                    woken.is_empty(),
                    "all threads of the former runtime have ended"
                );
            }),
        }
        leave();
    }
}

pub(super) fn wake(worker: &Worker, thread: Option<*const Control>) {
    if let Some(thread) = thread {
        // SAFETY: who waits is alive until woken.
        worker.wake(unsafe { &*thread });
    }
}
