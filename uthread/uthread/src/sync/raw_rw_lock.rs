//! The lock of readers and writers without its value.

use core::ptr;
use core::time::Duration;

use super::homed::Homed;
use crate::atomic::AtomicBool;
use crate::scheduler::{Queue, Waiters};
use crate::spin::SpinCell;
use crate::thread::{Control, Wait, Woken};
use crate::worker::{Home, Worker, enter, leave, leave_blocking, require_worker};

/// The use that a thread makes of the value.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Access {
    Read,
    Write,
}

/// The parcel of a thread that waits to write. One that waits to read has none.
const WRITES: *const () = ptr::without_provenance(1);

impl Access {
    fn mark(self) -> *const () {
        match self {
            Self::Read => ptr::null(),
            Self::Write => WRITES,
        }
    }

    fn of(thread: &Control) -> Self {
        if thread.parcel.get() == WRITES {
            Self::Write
        } else {
            Self::Read
        }
    }
}

struct State {
    writes: bool,
    readers: usize,
    /// Served in the order of coming, so that neither readers nor writers wait for ever.
    waiters: Waiters<Control>,
}

// SAFETY: the queue only links threads, and is used with the spin lock around the state held.
unsafe impl Send for State {}

impl State {
    fn is_free_for(&self, access: Access) -> bool {
        !self.writes && (access == Access::Read || self.readers == 0)
    }

    fn take(&mut self, access: Access) {
        match access {
            Access::Read => self.readers += 1,
            Access::Write => self.writes = true,
        }
    }

    fn free(&mut self, access: Access) {
        match access {
            Access::Read => self.readers -= 1,
            Access::Write => self.writes = false,
        }
    }

    /// Gives the lock to the first waiters. The caller must wake them.
    fn admit(&mut self) -> Queue<Control> {
        let admitted = Queue::new();
        // SAFETY: a waiting thread is alive until woken.
        while let Some(first) = unsafe { self.waiters.front().as_ref() } {
            let access = Access::of(first);
            if !self.is_free_for(access) {
                break;
            }
            self.take(access);
            self.waiters.pop_front();
            // SAFETY: it has just been taken out, and is alive until woken.
            unsafe { admitted.push_back(first) };
        }
        admitted
    }
}

pub(super) struct RawRwLock {
    home: Home,
    state: SpinCell<State>,
}

impl Homed for RawRwLock {
    fn home(&self) -> &Home {
        &self.home
    }

    /// Leaves those who hold the lock as they are: a thread that does not run any more holds it for good.
    #[cold]
    fn forget_waiters(&self) {
        // SAFETY: nobody uses the object while a runtime claims it.
        unsafe { self.state.take_over(|state, _| state.waiters.forget()) };
    }
}

impl RawRwLock {
    pub(super) const fn new() -> Self {
        let state = State {
            writes: false,
            readers: 0,
            waiters: Waiters::new(),
        };
        Self {
            home: Home::new(),
            state: SpinCell::new(AtomicBool::new(false), state),
        }
    }

    fn with<R>(&self, worker: &Worker, work: impl FnOnce(&mut State) -> R) -> R {
        // SAFETY: preemption is disabled at every caller, and all threads of the home runtime pass the
        // same `several`.
        unsafe { self.state.with(worker.several, work) }
    }

    /// Waits for the lock; `false` if the time was up.
    pub(super) fn lock(&self, access: Access, operation: &str, limit: Option<Duration>) -> bool {
        let worker = require_worker(operation);
        self.check(worker, operation);
        worker.enter_blocking(operation);
        let me = worker.current();
        let taken = self.with(worker, |state| {
            let taken = state.waiters.is_empty() && state.is_free_for(access);
            if taken {
                state.take(access);
            } else {
                me.parcel.set(access.mark());
                // SAFETY: a running thread is in no queue; it stays alive while it waits.
                unsafe { state.waiters.push_back(me) };
            }
            taken
        });
        let woken = if taken {
            Woken::Granted
        } else {
            let deadline_ns = limit.map(|limit| worker.deadline_ns(limit));
            worker.block_until(Wait::Lock, deadline_ns, || self.withdraw(worker, me))
        };
        leave_blocking();
        woken.in_time()
    }

    /// Takes a thread out whose time is up. Others that it stood before may have the lock then.
    fn withdraw(&self, worker: &Worker, thread: &Control) -> bool {
        let (withdrawn, admitted) = self.with(worker, |state| {
            // SAFETY: the thread waits here or did so last.
            let withdrawn = unsafe { state.waiters.withdraw(thread) };
            (withdrawn, state.admit())
        });
        wake(worker, &admitted);
        withdrawn
    }

    /// Takes the lock if that needs no wait.
    pub(super) fn try_lock(&self, access: Access, operation: &str) -> bool {
        let worker = require_worker(operation);
        self.check(worker, operation);
        enter();
        let taken = self.with(worker, |state| {
            let taken = state.waiters.is_empty() && state.is_free_for(access);
            if taken {
                state.take(access);
            }
            taken
        });
        leave();
        taken
    }

    /// Releases the lock, which the running thread holds for this access.
    pub(super) fn unlock(&self, access: Access, operation: &str) {
        let worker = require_worker(operation);
        // The thread may hold the lock since before a fork.
        self.check(worker, operation);
        enter();
        let admitted = self.with(worker, |state| {
            state.free(access);
            state.admit()
        });
        wake(worker, &admitted);
        leave();
    }

    /// True if a thread holds the lock or waits for it, or may do so in a runtime that the caller is not in.
    pub(super) fn is_used(&self) -> bool {
        self.home.is_awaited(|worker| {
            self.with(worker, |state| {
                state.writes || state.readers > 0 || !state.waiters.is_empty()
            })
        })
    }
}

fn wake(worker: &Worker, threads: &Queue<Control>) {
    while let Some(thread) = threads.pop_front() {
        // SAFETY: a waiting thread is alive until woken.
        worker.wake(unsafe { &*thread });
    }
}
