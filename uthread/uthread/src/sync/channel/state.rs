//! State that the ends of a channel share.

use core::time::Duration;
use std::collections::VecDeque;
use std::sync::Arc;

use super::super::homed::Homed;
use crate::atomic::{AtomicBool, AtomicUsize, Ordering};
use crate::scheduler::Waiters;
use crate::spin::SpinCell;
use crate::thread::{Control, Wait, Woken};
use crate::worker::{Home, Visit, Worker, current_worker, enter, leave};

/// Called on any kernel thread, with preemption disabled, when a channel has changed.
pub(crate) type Notice = Arc<dyn Fn() + Send + Sync>;

/// Values in a channel, and its waiting threads.
pub(super) struct State<T> {
    pub(super) buffer: VecDeque<T>,
    pub(super) capacity: usize,
    /// Each has the slot of its value in its parcel. A sender that is woken with the value still
    /// there has no receiver left.
    pub(super) blocked_senders: Waiters<Control>,
    /// Each has an empty slot in its parcel. A receiver that is woken with the slot still empty
    /// has no sender left.
    pub(super) blocked_receivers: Waiters<Control>,
    /// For those who watch the channel: each is called once, at the next change.
    pub(super) notices: Vec<Notice>,
}

// SAFETY: the queues only link threads, and are used with the spin lock around the state held.
unsafe impl<T: Send> Send for State<T> {}

impl<T> State<T> {
    /// The value slot of a thread that is blocked here.
    pub(super) fn parcel(thread: *const Control) -> *mut Option<T> {
        // SAFETY: a waiting thread is alive until woken.
        unsafe { &*thread }
            .parcel
            .get()
            .cast::<Option<T>>()
            .cast_mut()
    }

    /// Passes a value on: to a waiting receiver, which the caller must wake, or into the buffer. If there is no room, it
    /// comes back.
    #[inline]
    pub(super) fn put(&mut self, value: T) -> Result<Option<*const Control>, T> {
        if let Some(receiver) = self.blocked_receivers.pop_front() {
            // SAFETY: the slot of a blocked receiver is on its stack, and empty.
            unsafe { *Self::parcel(receiver) = Some(value) };
            return Ok(Some(receiver));
        }
        if self.buffer.len() < self.capacity {
            self.buffer.push_back(value);
            return Ok(None);
        }
        Err(value)
    }

    /// Takes the next value, then moves in the value of a waiting sender.
    pub(super) fn take(&mut self) -> (Option<T>, Option<*const Control>) {
        let value = self.buffer.pop_front();
        let sender = self.blocked_senders.pop_front();
        // SAFETY: the slot of a blocked sender is on its stack, and holds its value.
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

/// Added to the numbers of ends when a channel is closed.
const CLOSED: usize = 1 << (usize::BITS - 1);

/// State that the ends of a channel share, and their counters.
pub(super) struct Shared<T> {
    pub(super) home: Home,
    /// Numbers of ends. An end may be cloned and dropped anywhere, so they are not part of the state,
    /// which only threads of the home runtime may use.
    senders: AtomicUsize,
    receivers: AtomicUsize,
    /// True while the state has notices.
    watched: AtomicBool,
    state: SpinCell<State<T>>,
}

impl<T> Homed for Shared<T> {
    #[inline]
    fn home(&self) -> &Home {
        &self.home
    }

    #[cold]
    fn forget_waiters(&self) {
        let forget = |state: &mut State<T>, was_locked| {
            state.blocked_senders.forget();
            state.blocked_receivers.forget();
            core::mem::forget(core::mem::take(&mut state.notices));
            if was_locked {
                core::mem::forget(core::mem::take(&mut state.buffer));
            }
        };
        // SAFETY: nobody uses the object while a runtime claims it.
        unsafe { self.state.take_over(forget) };
    }
}

impl<T> Shared<T> {
    pub(super) fn new(capacity: usize) -> Arc<Self> {
        let state = State {
            buffer: VecDeque::new(),
            capacity,
            blocked_senders: Waiters::new(),
            blocked_receivers: Waiters::new(),
            notices: Vec::new(),
        };
        Arc::new(Self {
            home: Home::new(),
            senders: AtomicUsize::new(1),
            receivers: AtomicUsize::new(1),
            watched: AtomicBool::new(false),
            state: SpinCell::new(AtomicBool::new(false), state),
        })
    }

    /// Works with the state in a thread of the home runtime, and calls the notices. Preemption must be disabled.
    pub(super) fn with<R>(&self, worker: &Worker, work: impl FnOnce(&mut State<T>) -> R) -> R {
        let result = self.look(worker, work);
        if self.watched.load(Ordering::Relaxed) {
            let notices = self.look(worker, |state| self.take_notices(state));
            for notice in notices {
                notice();
            }
        }
        result
    }

    /// Puts a value into the buffer, if nobody must be woken for it.
    pub(super) fn put_alone(&self, worker: &Worker, value: T) -> Result<(), T> {
        self.look(worker, |state| {
            let room = state.buffer.len() < state.capacity && state.blocked_receivers.is_empty();
            if !room || !self.has_receivers() || self.watched.load(Ordering::Relaxed) {
                return Err(value);
            }
            state.buffer.push_back(value);
            Ok(())
        })
    }

    /// Takes a value from the buffer, if nobody must be woken for it.
    pub(super) fn take_alone(&self, worker: &Worker) -> Option<T> {
        self.look(worker, |state| {
            let alone = state.blocked_senders.is_empty() && !self.watched.load(Ordering::Relaxed);
            alone.then(|| state.buffer.pop_front()).flatten()
        })
    }

    /// True if the channel is known to belong to the runtime of the caller.
    pub(super) fn is_known(&self, worker: &Worker) -> bool {
        self.home.is_known(&worker.shared)
    }

    fn take_notices(&self, state: &mut State<T>) -> Vec<Notice> {
        self.watched.store(false, Ordering::Relaxed);
        core::mem::take(&mut state.notices)
    }

    /// Adds a notice for the next change.
    pub(super) fn add_notice(&self, state: &mut State<T>, notice: &Notice) {
        self.watched.store(true, Ordering::Relaxed);
        state.notices.push(Arc::clone(notice));
    }

    /// The same without notices. Preemption must be disabled.
    pub(super) fn look<R>(&self, worker: &Worker, work: impl FnOnce(&mut State<T>) -> R) -> R {
        // SAFETY: preemption is disabled at every caller, and all threads of the home runtime pass the
        // same `exposed`.
        unsafe { self.state.with(worker.exposed(), work) }
    }

    /// Blocks the running thread, which is in `queue`.
    #[expect(
        clippy::inline_always,
        reason = "returning after a switch misses the predictor"
    )]
    #[inline(always)]
    pub(super) fn block(
        &self,
        worker: &Worker,
        limit: Option<Duration>,
        queue: impl Fn(&State<T>) -> &Waiters<Control>,
    ) -> Woken {
        let me = worker.current();
        let deadline_ns = limit.map(|limit| worker.deadline_ns(limit));
        worker.block_until(Wait::Channel, deadline_ns, || {
            // SAFETY: this thread waits there or did so last.
            self.with(worker, |state| unsafe { queue(state).withdraw(me) })
        })
    }

    pub(super) fn has_senders(&self) -> bool {
        (1..CLOSED).contains(&self.senders.load(Ordering::Acquire))
    }

    pub(super) fn has_receivers(&self) -> bool {
        (1..CLOSED).contains(&self.receivers.load(Ordering::Acquire))
    }

    /// Makes both kinds of ends appear to be gone; `false` if the caller may not use the channel.
    pub(super) fn close(&self) -> bool {
        self.wake_all(|state| {
            self.senders.fetch_or(CLOSED, Ordering::AcqRel);
            self.receivers.fetch_or(CLOSED, Ordering::AcqRel);
            &mut state.blocked_receivers
        })
    }

    pub(super) fn add_sender(&self) {
        self.senders.fetch_add(1, Ordering::Relaxed);
    }

    pub(super) fn add_receiver(&self) {
        self.receivers.fetch_add(1, Ordering::Relaxed);
    }

    pub(super) fn remove_sender(&self) {
        if self.senders.fetch_sub(1, Ordering::AcqRel) == 1 {
            self.wake_all(|state| &mut state.blocked_receivers);
        }
    }

    pub(super) fn remove_receiver(&self) {
        if self.receivers.fetch_sub(1, Ordering::AcqRel) == 1 {
            self.wake_all(|state| &mut state.blocked_senders);
        }
    }

    /// Works with the state on another kernel thread, and wakes the thread that `work` returns.
    pub(super) fn visit<R>(
        &self,
        operation: &str,
        work: impl FnOnce(&mut State<T>) -> (R, Option<*const Control>),
    ) -> R {
        let work = |visit: &Visit<'_>| {
            // SAFETY: preemption is disabled, and the permission is for use under the spin lock.
            let (result, woken) = unsafe { self.state.with(true, work) };
            if let Some(woken) = woken {
                // SAFETY: a waiting thread is alive until woken.
                visit.wake(unsafe { &*woken });
            }
            result
        };
        let result = self.home.visit(operation, || self.forget_waiters(), work);
        self.notify_from_outside();
        result
    }

    /// Calls the notices, on another kernel thread.
    fn notify_from_outside(&self) {
        if self.watched.load(Ordering::Relaxed) {
            // SAFETY: as in `visit`.
            let take =
                |_: &Visit<'_>| unsafe { self.state.with(true, |state| self.take_notices(state)) };
            let notices = self.home.try_visit(|| self.forget_waiters(), take);
            for notice in notices.into_iter().flatten() {
                notice();
            }
        }
    }

    /// Wakes all threads of a queue, if the caller may use it: else `false`. A thread that comes to the queue later finds the
    /// number of ends that the caller has left.
    fn wake_all(&self, queue: impl FnOnce(&mut State<T>) -> &mut Waiters<Control>) -> bool {
        enter();
        let done = match current_worker() {
            Some(worker) if self.home.is(&worker.shared) => {
                let woken = self.with(worker, |state| queue(state).take_all());
                while let Some(thread) = woken.pop_front() {
                    wake(worker, Some(thread));
                }
                true
            }
            _ => {
                let wake = |visit: &Visit<'_>| {
                    // SAFETY: as in `visit`.
                    let woken = unsafe { self.state.with(true, |state| queue(state).take_all()) };
                    while let Some(thread) = woken.pop_front() {
                        // SAFETY: as in `visit`.
                        visit.wake(unsafe { &*thread });
                    }
                };
                let visited = self.home.try_visit(|| self.forget_waiters(), wake);
                self.notify_from_outside();
                visited.is_some()
            }
        };
        leave();
        done
    }
}

pub(super) fn wake(worker: &Worker, thread: Option<*const Control>) {
    if let Some(thread) = thread {
        // SAFETY: a waiting thread is alive until woken.
        worker.wake(unsafe { &*thread });
    }
}
