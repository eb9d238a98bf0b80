//! The lock of readers and writers without its value.

use core::ptr;
use core::time::Duration;

use super::homed::Homed;
use crate::atomic::AtomicBool;
use crate::scheduler::{Queue, Waiters};
use crate::spin::SpinCell;
use crate::thread::{Control, Wait};
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

    /// Counts the lock as one that the thread holds, if it writes: readers are not known.
    fn count(self, thread: &Control) {
        if self == Self::Write {
            thread.locks.take();
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
    /// The thread that writes, or null. It counts the lock as one that it holds, so it stays alive.
    writer: *const Control,
    readers: usize,
    /// Served in the order of coming, so that neither readers nor writers wait for ever.
    waiters: Waiters<Control>,
}

// SAFETY: the queue only links threads, and is used with the spin lock around the state held.
unsafe impl Send for State {}

/// What a thread gets that asks for the lock.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Answer {
    Taken,
    Waits,
    /// It would wait for itself.
    Recurs,
}

impl State {
    fn is_free_for(&self, access: Access) -> bool {
        self.writer.is_null() && (access == Access::Read || self.readers == 0)
    }

    fn take(&mut self, access: Access, thread: &Control) {
        match access {
            Access::Read => self.readers += 1,
            Access::Write => self.writer = thread,
        }
    }

    fn free(&mut self, access: Access) {
        match access {
            Access::Read => self.readers -= 1,
            Access::Write => {
                // SAFETY: as the field says, and no other thread changes the count.
                unsafe { (*self.writer).locks.release() };
                self.writer = ptr::null();
            }
        }
    }

    /// The access that `me` may have: who reads is not known.
    fn access_of(&self, me: &Control) -> Option<Access> {
        if ptr::eq(self.writer, me) {
            Some(Access::Write)
        } else {
            (self.writer.is_null() && self.readers > 0).then_some(Access::Read)
        }
    }

    fn try_take(&mut self, access: Access, me: &Control) -> Answer {
        if self.waiters.is_empty() && self.is_free_for(access) {
            self.take(access, me);
            Answer::Taken
        } else if ptr::eq(self.writer, me) {
            Answer::Recurs
        } else {
            Answer::Waits
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
            self.take(access, first);
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
            writer: ptr::null(),
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
        let answer = self.with(worker, |state| {
            let answer = state.try_take(access, me);
            if answer == Answer::Waits {
                me.parcel.set(access.mark());
                // SAFETY: a running thread is in no queue; it stays alive while it waits.
                unsafe { state.waiters.push_back(me) };
            }
            answer
        });
        let in_time = answer != Answer::Waits || {
            let deadline_ns = limit.map(|limit| worker.deadline_ns(limit));
            let woken = worker.block_until(Wait::Lock, deadline_ns, || self.withdraw(worker, me));
            woken.in_time()
        };
        if in_time && answer != Answer::Recurs {
            access.count(me);
        }
        leave_blocking();
        assert!(
            answer != Answer::Recurs,
            "deadlock: {} waits for an RwLock that it writes",
            me.label()
        );
        in_time
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
        let me = worker.current();
        let taken = self.with(worker, |state| state.try_take(access, me)) == Answer::Taken;
        if taken {
            access.count(me);
        }
        leave();
        taken
    }

    /// Releases the lock, which the running thread holds for this access.
    pub(super) fn unlock(&self, access: Access, operation: &str) {
        self.release(operation, |_, _| Some(access));
    }

    /// Releases the lock for the running thread if it writes, else for one that reads; `false` if another thread writes, or
    /// nobody holds the lock.
    pub(super) fn unlock_forgotten(&self, operation: &str) -> bool {
        self.release(operation, State::access_of)
    }

    fn release(
        &self,
        operation: &str,
        access: impl FnOnce(&State, &Control) -> Option<Access>,
    ) -> bool {
        let worker = require_worker(operation);
        // The thread may hold the lock since before a fork.
        self.check(worker, operation);
        enter();
        let admitted = self.with(worker, |state| {
            let access = access(state, worker.current())?;
            state.free(access);
            Some(state.admit())
        });
        if let Some(admitted) = &admitted {
            wake(worker, admitted);
        }
        leave();
        admitted.is_some()
    }

    /// True if a thread holds the lock or waits for it, or may do so in a runtime that the caller is not in.
    pub(super) fn is_used(&self) -> bool {
        self.home.is_awaited(|worker| {
            self.with(worker, |state| {
                !state.writer.is_null() || state.readers > 0 || !state.waiters.is_empty()
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
