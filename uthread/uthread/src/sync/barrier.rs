//! The barrier.

use core::fmt;
use core::time::Duration;

use super::homed::Homed;
use crate::atomic::AtomicBool;
use crate::scheduler::Waiters;
use crate::spin::SpinCell;
use crate::thread::{Control, Wait, Woken};
use crate::worker::{Home, Worker, leave_blocking, require_worker};

struct State {
    arrived: usize,
    waiters: Waiters<Control>,
}

// SAFETY: the queue only links threads, and is used with the spin lock around the state held.
unsafe impl Send for State {}

/// A reusable barrier: each of a number of threads waits there for the others.
///
/// ```
/// use std::sync::Arc;
/// use uthread::Barrier;
///
/// uthread::run(|| {
///     let barrier = Arc::new(Barrier::new(3));
///     let wait = |_| {
///         let barrier = Arc::clone(&barrier);
///         uthread::spawn(move || barrier.wait().is_leader())
///     };
///     let threads: Vec<_> = (0..3).map(wait).collect();
///     let leaders = threads.into_iter().filter_map(|t| t.join().unwrap().then_some(())).count();
///     assert_eq!(leaders, 1);
/// });
/// ```
pub struct Barrier {
    home: Home,
    threads: usize,
    state: SpinCell<State>,
}

/// Result of [`Barrier::wait`].
///
/// ```
/// let barrier = uthread::Barrier::new(1);
/// assert!(uthread::run(|| barrier.wait()).is_leader());
/// ```
#[derive(Clone, Copy, Debug)]
pub struct BarrierWaitResult(bool);

impl BarrierWaitResult {
    /// True if this thread was the last to arrive.
    ///
    /// ```
    /// let barrier = uthread::Barrier::new(1);
    /// assert!(uthread::run(|| barrier.wait().is_leader()));
    /// ```
    pub fn is_leader(&self) -> bool {
        self.0
    }
}

impl Homed for Barrier {
    fn home(&self) -> &Home {
        &self.home
    }

    #[cold]
    fn forget_waiters(&self) {
        let forget = |state: &mut State, _| {
            state.arrived = 0;
            state.waiters.forget();
        };
        // SAFETY: nobody uses the object while a runtime claims it.
        unsafe { self.state.take_over(forget) };
    }
}

impl Barrier {
    /// A barrier that opens each time this many threads wait at it.
    ///
    /// ```
    /// static BARRIER: uthread::Barrier = uthread::Barrier::new(2);
    ///
    /// uthread::run(|| {
    ///     let other = uthread::spawn(|| drop(BARRIER.wait()));
    ///     BARRIER.wait();
    ///     other.join().unwrap();
    /// });
    /// ```
    pub const fn new(threads: usize) -> Self {
        let state = State {
            arrived: 0,
            waiters: Waiters::new(),
        };
        Self {
            home: Home::new(),
            threads,
            state: SpinCell::new(AtomicBool::new(false), state),
        }
    }

    /// Waits until enough threads have arrived.
    ///
    /// # Panics
    /// Outside a runtime, and while preemption is disabled.
    ///
    /// ```
    /// static BARRIER: uthread::Barrier = uthread::Barrier::new(2);
    ///
    /// uthread::run(|| {
    ///     let other = uthread::spawn(|| BARRIER.wait().is_leader());
    ///     let leads = BARRIER.wait().is_leader();
    ///     assert_ne!(leads, other.join().unwrap());
    /// });
    /// ```
    pub fn wait(&self) -> BarrierWaitResult {
        let (_, result) = self.wait_within("Barrier::wait", None);
        result
    }

    /// Waits until enough threads have arrived, but not longer than `limit`. A thread whose time is
    /// up leaves the barrier as if it had not arrived, and gets `None`.
    ///
    /// # Panics
    /// Outside a runtime, and while preemption is disabled.
    ///
    /// ```
    /// use std::time::Duration;
    ///
    /// let barrier = uthread::Barrier::new(2);
    /// uthread::run(|| assert!(barrier.wait_timeout(Duration::from_millis(1)).is_none()));
    /// ```
    pub fn wait_timeout(&self, limit: Duration) -> Option<BarrierWaitResult> {
        let (opened, result) = self.wait_within("Barrier::wait_timeout", Some(limit));
        opened.then_some(result)
    }

    fn with<R>(&self, worker: &Worker, work: impl FnOnce(&mut State) -> R) -> R {
        // SAFETY: preemption is disabled at every caller, and all threads of the home runtime pass the
        // same `several`.
        unsafe { self.state.with(worker.several, work) }
    }

    fn wait_within(&self, operation: &str, limit: Option<Duration>) -> (bool, BarrierWaitResult) {
        let worker = require_worker(operation);
        self.check(worker, operation);
        worker.enter_blocking(operation);
        let me = worker.current();
        let waiters = self.with(worker, |state| {
            state.arrived += 1;
            if state.arrived < self.threads {
                // SAFETY: a running thread is in no queue; it stays alive while it waits.
                unsafe { state.waiters.push_back(me) };
                return None;
            }
            state.arrived = 0;
            Some(state.waiters.take_all())
        });
        let woken = match &waiters {
            None => {
                let deadline_ns = limit.map(|limit| worker.deadline_ns(limit));
                let withdraw = |state: &mut State| {
                    // SAFETY: this thread waits here or did so last.
                    let withdrawn = unsafe { state.waiters.withdraw(me) };
                    state.arrived -= usize::from(withdrawn);
                    withdrawn
                };
                worker.block_until(Wait::Barrier, deadline_ns, || self.with(worker, withdraw))
            }
            Some(waiters) => {
                while let Some(waiter) = waiters.pop_front() {
                    // SAFETY: a waiting thread is alive until woken.
                    worker.wake(unsafe { &*waiter });
                }
                Woken::Granted
            }
        };
        leave_blocking();
        (woken.in_time(), BarrierWaitResult(waiters.is_some()))
    }
}

impl Barrier {
    /// True if threads wait here, or may wait in a runtime that the caller is not in.
    #[doc(hidden)]
    pub fn is_awaited(&self) -> bool {
        self.home
            .is_awaited(|worker| self.with(worker, |state| !state.waiters.is_empty()))
    }
}

impl fmt::Debug for Barrier {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Barrier")
            .field("threads", &self.threads)
            .finish_non_exhaustive()
    }
}
