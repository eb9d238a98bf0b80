//! The threads of a scope that have not ended, and the reasons for which others failed.

use core::ptr;
use core::sync::atomic::AtomicBool;
use std::any::Any;
use std::cell::Cell;
use std::collections::BTreeMap;
use std::sync::Arc;

use crate::spin::SpinCell;
use crate::thread::{Cancelled, Control, Exited, Thread, ThreadId, Wait, Woken, current};
use crate::worker::{
    Home, Worker, current_worker, depth, enter, leave, leave_blocking, require_worker,
};

pub(super) type Payload = Box<dyn Any + Send>;

struct State {
    /// Threads that were spawned and have not ended.
    live: usize,
    /// Those of them that have begun.
    running: BTreeMap<ThreadId, Thread>,
    /// Payloads of the threads that failed, for those that join them.
    failures: BTreeMap<ThreadId, Payload>,
    /// Threads that begin are cancelled at once.
    cancelled: bool,
    timed_out: bool,
    /// The owner runs the scope's function.
    body_runs: bool,
    /// The owner while it waits for the last thread, or null.
    waiter: *const Control,
}

// SAFETY: the waiter is alive until it is woken.
unsafe impl Send for State {}

crate::thread_local! {
    /// The scope whose thread this is, or whose function it runs.
    static INNERMOST: Cell<Option<Arc<Children>>> = Cell::new(None);
}

/// State that a scope shares with its threads, which may hold it longer than the scope lasts.
pub(super) struct Children {
    home: Home,
    owner: Thread,
    state: SpinCell<State>,
}

/// True if the thread ended by its own will, or was cancelled.
fn is_panic(payload: &Payload) -> bool {
    !payload.is::<Cancelled>() && !payload.is::<Exited>()
}

impl Children {
    /// # Panics
    /// Outside a runtime, and while preemption is disabled.
    pub(super) fn new(operation: &str) -> Self {
        let worker = require_worker(operation);
        worker.enter_blocking(operation);
        leave();
        let state = State {
            live: 0,
            running: BTreeMap::new(),
            failures: BTreeMap::new(),
            cancelled: false,
            timed_out: false,
            body_runs: true,
            waiter: ptr::null(),
        };
        Self {
            home: Home::of(&worker.shared),
            owner: current(),
            state: SpinCell::new(AtomicBool::new(false), state),
        }
    }

    fn with<R>(&self, worker: &Worker, work: impl FnOnce(&mut State) -> R) -> R {
        enter();
        // SAFETY: preemption is disabled, all threads of the runtime pass the same `several`, and
        // threads of other runtimes get no worker from `worker`.
        let result = unsafe { self.state.with(worker.several, work) };
        leave();
        result
    }

    fn worker(&self) -> Option<&'static Worker> {
        current_worker()
            .filter(|worker| self.home.go_on(&worker.shared, || self.forget_gone(worker)))
    }

    /// In the child of a fork, the scope has the running thread only.
    #[cold]
    fn forget_gone(&self, worker: &Worker) {
        let me = worker.current().id;
        let is_owner = self.owner.id().number() == me;
        let forget = |state: &mut State, was_locked| {
            let running = core::mem::take(&mut state.running);
            if was_locked {
                core::mem::forget((running, core::mem::take(&mut state.failures)));
            } else {
                state.running = running;
                state.running.retain(|id, _| id.number() == me);
            }
            state.live = usize::from(!is_owner);
            state.waiter = ptr::null();
        };
        // SAFETY: nobody uses the state while a runtime claims it.
        unsafe { self.state.take_over(forget) };
    }

    /// Makes this the innermost scope of the running thread, and returns the one before.
    pub(super) fn replace_innermost(new: Option<Arc<Self>>) -> Option<Arc<Self>> {
        INNERMOST.with(|innermost| innermost.replace(new))
    }

    /// True if the running thread belongs to this scope and is to end: a scope in it ends as well, also
    /// if the thread has caught the request.
    pub(super) fn condemns_caller(&self) -> bool {
        self.worker().is_some_and(|worker| {
            let is_owner = worker.current().id == self.owner.id().number();
            self.with(worker, |state| {
                state.timed_out || (state.cancelled && !is_owner)
            })
        })
    }

    /// Counts a thread that is about to be spawned.
    ///
    /// # Panics
    /// Outside the scope's runtime.
    pub(super) fn announce(&self) {
        let Some(worker) = self.worker() else {
            panic!("Scope::spawn was called outside the runtime of the scope");
        };
        self.with(worker, |state| state.live += 1);
    }

    /// The thread could not be spawned.
    pub(super) fn withdraw(&self) {
        self.end_one(None);
    }

    /// First step of each thread of the scope.
    pub(super) fn begin(self: &Arc<Self>) -> ThreadId {
        Self::replace_innermost(Some(Arc::clone(self)));
        let worker = require_worker("the begin of a scoped thread");
        let me = current();
        let id = me.id();
        let cancelled = self.with(worker, |state| {
            state.running.insert(id, me.clone());
            state.cancelled
        });
        if cancelled {
            me.cancel();
        }
        id
    }

    /// Last step of each thread of the scope. A panic cancels the others.
    pub(super) fn end(&self, id: ThreadId, failure: Option<Payload>) {
        if failure.as_ref().is_some_and(is_panic) {
            self.cancel();
        }
        self.end_one(Some((id, failure)));
    }

    /// Nothing that the scope's owner lends may be used after this.
    fn end_one(&self, ended: Option<(ThreadId, Option<Payload>)>) {
        let Some(worker) = self.worker() else {
            unreachable!("a scoped thread runs in the runtime of its scope");
        };
        enter();
        let waiter = self.with(worker, |state| {
            if let Some((id, failure)) = ended {
                state.running.remove(&id);
                state.failures.extend(failure.map(|payload| (id, payload)));
            }
            state.live -= 1;
            if state.live == 0 {
                core::mem::replace(&mut state.waiter, ptr::null())
            } else {
                ptr::null()
            }
        });
        // SAFETY: a waiting thread is alive until woken.
        if let Some(waiter) = unsafe { waiter.as_ref() } {
            worker.wake(waiter);
        }
        leave();
    }

    /// Cancels the threads of the scope, also those that begin later.
    pub(super) fn cancel(&self) {
        let Some(worker) = self.worker() else { return };
        let running: Vec<_> = self.with(worker, |state| {
            state.cancelled = true;
            state.running.values().cloned().collect()
        });
        for thread in running {
            thread.cancel();
        }
    }

    /// Cancels the threads of the scope, and its function in the owner.
    pub(super) fn time_is_up(&self) {
        let worker = require_worker("the deadline of a scope");
        self.with(worker, |state| {
            state.timed_out = state.body_runs || state.live > 0;
            // With the state locked, since the owner must not have gone on to other waits. It does not
            // wait in this scope, whose lock the end of that wait would need.
            if state.body_runs {
                self.owner.cancel();
            }
        });
        self.cancel();
    }

    /// The scope's function has ended in the owner, which runs in the scope `around`.
    pub(super) fn leave_body(&self, around: Option<Arc<Self>>) {
        if let Some(worker) = self.worker() {
            self.with(worker, |state| state.body_runs = false);
            Self::replace_innermost(around);
        }
    }

    /// Waits until all threads have ended. A request to cancel the caller cancels them; `true` if there
    /// was one. Never unwinds.
    pub(super) fn join_all(&self) -> bool {
        let mut cancelled = false;
        while self.join_or_cancelled() == Woken::Cancelled {
            cancelled = true;
            self.cancel();
        }
        cancelled
    }

    fn join_or_cancelled(&self) -> Woken {
        // In another runtime, or in none, the one of these threads has ended.
        let Some(worker) = self.worker() else {
            return Woken::Granted;
        };
        if self.with(worker, |state| state.live == 0) {
            return Woken::Granted;
        }
        if depth() > 0 {
            give_up();
        }
        worker.enter_blocking("scope");
        let me = worker.current();
        let waits = self.with(worker, |state| {
            let waits = state.live > 0;
            if waits {
                state.waiter = me;
            }
            waits
        });
        let woken = if waits {
            worker.block_until(Wait::Join, None, || {
                self.with(worker, |state| {
                    !core::mem::replace(&mut state.waiter, ptr::null()).is_null()
                })
            })
        } else {
            Woken::Granted
        };
        leave_blocking();
        woken
    }

    /// Takes the payload of a thread that has failed.
    pub(super) fn take_failure(&self, id: ThreadId) -> Option<Payload> {
        let worker = self.worker()?;
        self.with(worker, |state| state.failures.remove(&id))
    }

    /// The first panic that nobody has joined, and whether the time was up. All threads have ended.
    pub(super) fn conclude(&self) -> (Option<Payload>, bool) {
        let Some(worker) = self.worker() else {
            return (None, false);
        };
        let (failures, timed_out) = self.with(worker, |state| {
            (core::mem::take(&mut state.failures), state.timed_out)
        });
        if timed_out {
            // The request of the deadline, unless a wait has obeyed it.
            worker.current().take_cancel();
        }
        (failures.into_values().find(is_panic), timed_out)
    }
}

/// The threads use what the caller lends, so a panic here would let them use what is gone.
#[cold]
fn give_up() -> ! {
    crate::print::print_error_line(format_args!(
        "uthread: a scope whose threads still run ends while preemption is held off"
    ));
    std::process::abort()
}
