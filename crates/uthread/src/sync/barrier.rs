//! The barrier.

use core::fmt;
use core::sync::atomic::AtomicBool;

use crate::scheduler::Queue;
use crate::spin::SpinCell;
use crate::thread::{Control, Wait};
use crate::worker::{Home, leave, require_worker};

struct State {
    arrived: usize,
    waiters: Queue<Control>,
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
            waiters: Queue::new(),
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
        let worker = require_worker("Barrier::wait");
        self.home.check(&worker.shared, "Barrier::wait");
        worker.enter_blocking("Barrier::wait");
        let me = worker.current();
        // SAFETY: preemption is disabled, and all threads of the home runtime pass the same
        // `several`.
        let opened = unsafe {
            self.state.with(worker.several, |state| {
                state.arrived += 1;
                if state.arrived < self.threads {
                    state.waiters.push_back(me);
                    return None;
                }
                state.arrived = 0;
                Some(core::mem::replace(&mut state.waiters, Queue::new()))
            })
        };
        match &opened {
            None => worker.block(Wait::Barrier),
            Some(waiters) => {
                while let Some(waiter) = waiters.pop_front() {
                    // SAFETY: a waiting thread is alive until woken.
                    worker.wake(unsafe { &*waiter });
                }
            }
        }
        leave();
        BarrierWaitResult(opened.is_some())
    }
}

impl fmt::Debug for Barrier {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Barrier")
            .field("threads", &self.threads)
            .finish_non_exhaustive()
    }
}
