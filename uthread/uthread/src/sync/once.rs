//! A function that runs once.

use core::fmt;
use core::ptr;
use core::time::Duration;

use super::homed::Homed;
use crate::atomic::{AtomicBool, Ordering};
use crate::scheduler::Waiters;
use crate::spin::SpinCell;
use crate::thread::{Control, Wait, Woken};
use crate::worker::{Home, Worker, enter, leave, leave_blocking, require_worker};

struct State {
    /// The thread that runs the function, or null.
    runner: *const Control,
    waiters: Waiters<Control>,
}

// SAFETY: the queue only links threads, and is used with the spin lock around the state held.
unsafe impl Send for State {}

/// Runs a function once, however many threads ask for it. The others wait until it has returned.
///
/// ```
/// use std::sync::atomic::{AtomicU32, Ordering};
/// use uthread::Once;
///
/// static ONCE: Once = Once::new();
/// static TIMES: AtomicU32 = AtomicU32::new(0);
///
/// uthread::run(|| {
///     let run = || ONCE.call(|| drop(TIMES.fetch_add(1, Ordering::Relaxed)));
///     let threads: Vec<_> = (0..3).map(|_| uthread::spawn(run)).collect();
///     threads.into_iter().for_each(|thread| thread.join().unwrap());
///     assert_eq!(TIMES.load(Ordering::Relaxed), 1);
/// });
/// ```
pub struct Once {
    home: Home,
    done: AtomicBool,
    state: SpinCell<State>,
}

impl Homed for Once {
    fn home(&self) -> &Home {
        &self.home
    }

    /// A thread that stayed in the parent does not return from the function: the next caller runs it again.
    #[cold]
    fn forget_waiters(&self) {
        let forget = |state: &mut State, _| {
            // SAFETY: a thread that runs the function is alive.
            let gone = unsafe { state.runner.as_ref() }.is_some_and(Control::stayed_in_parent);
            if gone {
                state.runner = ptr::null();
            }
            state.waiters.forget();
        };
        // SAFETY: nobody uses the object while a runtime claims it.
        unsafe { self.state.take_over(forget) };
    }
}

/// The next step of a caller.
enum Turn {
    Runs,
    Waits,
    /// The function has returned.
    Over,
    /// The caller is in the function.
    Recurs,
}

impl Once {
    /// A function that has not run.
    pub const fn new() -> Self {
        let state = State {
            runner: ptr::null(),
            waiters: Waiters::new(),
        };
        Self {
            home: Home::new(),
            done: AtomicBool::new(false),
            state: SpinCell::new(AtomicBool::new(false), state),
        }
    }

    /// Runs the function, unless that was done. If another thread runs one, waits until it has returned. If that thread
    /// unwinds, one of those that wait runs its own.
    ///
    /// # Panics
    /// Outside a runtime; if it has to wait while preemption is disabled; in the function itself.
    pub fn call(&self, function: impl FnOnce()) {
        self.call_within("Once::call", None, function);
    }

    /// Like [`call`](Self::call), but waits not longer than `limit` for another thread; `false` if that has not returned
    /// in all that time.
    ///
    /// # Panics
    /// Same as [`call`](Self::call).
    pub fn call_timeout(&self, limit: Duration, function: impl FnOnce()) -> bool {
        self.call_within("Once::call_timeout", Some(limit), function)
    }

    /// True if the function has returned.
    pub fn is_completed(&self) -> bool {
        self.done.load(Ordering::Acquire)
    }

    fn call_within(
        &self,
        operation: &str,
        limit: Option<Duration>,
        function: impl FnOnce(),
    ) -> bool {
        if self.is_completed() {
            return true;
        }
        let worker = require_worker(operation);
        self.check(worker, operation);
        let deadline_ns = limit.map(|limit| worker.deadline_ns(limit));
        loop {
            let me = worker.current();
            enter();
            let turn = self.with(worker, |state| self.turn(state, me));
            leave();
            match turn {
                Turn::Over => return true,
                Turn::Runs => break,
                Turn::Recurs => panic!("deadlock: {} waits for its own Once", me.label()),
                Turn::Waits if !self.wait(worker, operation, deadline_ns) => return false,
                Turn::Waits => {}
            }
        }
        let running = Running(self);
        function();
        self.done.store(true, Ordering::Release);
        drop(running);
        true
    }

    fn turn(&self, state: &mut State, me: &Control) -> Turn {
        if self.done.load(Ordering::Acquire) {
            Turn::Over
        } else if state.runner.is_null() {
            state.runner = me;
            Turn::Runs
        } else if ptr::eq(state.runner, me) {
            Turn::Recurs
        } else {
            Turn::Waits
        }
    }

    /// Waits until the thread that runs the function leaves it; `false` if the time was up.
    fn wait(&self, worker: &Worker, operation: &str, deadline_ns: Option<u64>) -> bool {
        worker.enter_blocking(operation);
        let me = worker.current();
        let runs = self.with(worker, |state| {
            let runs = !state.runner.is_null();
            if runs {
                // SAFETY: a running thread is in no queue; it stays alive while it waits.
                unsafe { state.waiters.push_back(me) };
            }
            runs
        });
        let woken = if runs {
            worker.block_until(Wait::Once, deadline_ns, || {
                // SAFETY: this thread waits here or did so last.
                self.with(worker, |state| unsafe { state.waiters.withdraw(me) })
            })
        } else {
            Woken::Granted
        };
        leave_blocking();
        woken.in_time()
    }

    fn with<R>(&self, worker: &Worker, work: impl FnOnce(&mut State) -> R) -> R {
        // SAFETY: preemption is disabled at every caller, and all threads of the home runtime pass the
        // same `several`.
        unsafe { self.state.with(worker.several, work) }
    }
}

/// The running thread is in the function.
struct Running<'a>(&'a Once);

impl Drop for Running<'_> {
    /// Wakes all: they find that it is over, or one of them runs its function.
    fn drop(&mut self) {
        let worker = require_worker("Once::call");
        self.0.check(worker, "Once::call");
        enter();
        let waiters = self.0.with(worker, |state| {
            state.runner = ptr::null();
            state.waiters.take_all()
        });
        while let Some(waiter) = waiters.pop_front() {
            // SAFETY: a waiting thread is alive until woken.
            worker.wake(unsafe { &*waiter });
        }
        leave();
    }
}

impl Default for Once {
    fn default() -> Self {
        Self::new()
    }
}

impl fmt::Debug for Once {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Once")
            .field("completed", &self.is_completed())
            .finish_non_exhaustive()
    }
}
