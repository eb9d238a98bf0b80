//! The counting semaphore.

use core::fmt;
use core::time::Duration;

use super::homed::Homed;
use crate::atomic::AtomicBool;
use crate::scheduler::Waiters;
use crate::spin::SpinCell;
use crate::thread::{Control, Wait, Woken};
use crate::worker::{
    Home, Worker, current_worker, enter, leave, leave_blocking, refuse, require_worker,
};

struct State {
    permits: usize,
    waiters: Waiters<Control>,
}

// SAFETY: the queue only links threads, and is used with the spin lock around the state held.
unsafe impl Send for State {}

/// A counting semaphore. A thread that finds no permit waits; waiting threads are served in FIFO
/// order.
///
/// ```
/// use std::sync::Arc;
/// use uthread::Semaphore;
///
/// uthread::run(|| {
///     let ready = Arc::new(Semaphore::new(0));
///     let thread = {
///         let ready = Arc::clone(&ready);
///         uthread::spawn(move || ready.acquire())
///     };
///     ready.release(1);
///     thread.join().unwrap();
/// });
/// ```
pub struct Semaphore {
    home: Home,
    state: SpinCell<State>,
}

impl Homed for Semaphore {
    #[inline]
    fn home(&self) -> &Home {
        &self.home
    }

    #[cold]
    fn forget_waiters(&self) {
        // SAFETY: nobody uses the object while a runtime claims it.
        unsafe { self.state.take_over(|state, _| state.waiters.forget()) };
    }
}

impl Semaphore {
    /// A semaphore with this many permits.
    ///
    /// ```
    /// static PLACES: uthread::Semaphore = uthread::Semaphore::new(3);
    ///
    /// uthread::run(|| PLACES.acquire());
    /// ```
    pub const fn new(permits: usize) -> Self {
        let state = State {
            permits,
            waiters: Waiters::new(),
        };
        Self {
            home: Home::new(),
            state: SpinCell::new(AtomicBool::new(false), state),
        }
    }

    fn with<R>(&self, worker: &Worker, work: impl FnOnce(&mut State) -> R) -> R {
        // SAFETY: preemption is disabled at every caller, and all threads of the home runtime pass the
        // same `exposed`.
        unsafe { self.state.with(worker.exposed(), work) }
    }

    /// Takes a permit, or waits for one.
    ///
    /// # Panics
    /// Outside a runtime, and while preemption is disabled.
    ///
    /// ```
    /// static DONE: uthread::Semaphore = uthread::Semaphore::new(0);
    ///
    /// uthread::run(|| {
    ///     uthread::spawn(|| DONE.release(1));
    ///     DONE.acquire();
    /// });
    /// ```
    #[inline]
    pub fn acquire(&self) {
        self.acquire_within("Semaphore::acquire", None);
    }

    /// Takes a permit, or waits for one, but not longer than `limit`; `false` if there was none in
    /// all that time.
    ///
    /// # Panics
    /// Outside a runtime, and while preemption is disabled.
    ///
    /// ```
    /// use std::time::Duration;
    ///
    /// uthread::run(|| {
    ///     let none = uthread::Semaphore::new(0);
    ///     assert!(!none.acquire_timeout(Duration::from_millis(1)));
    /// });
    /// ```
    #[must_use = "without it, it is unknown whether there was a permit"]
    pub fn acquire_timeout(&self, limit: Duration) -> bool {
        self.acquire_within("Semaphore::acquire_timeout", Some(limit))
    }

    #[inline]
    pub(crate) fn acquire_within(&self, operation: &str, limit: Option<Duration>) -> bool {
        let worker = require_worker(operation);
        self.check(worker, operation);
        worker.enter_blocking(operation);
        let me = worker.current();
        let taken = self.with(worker, |state| {
            let taken = state.permits > 0;
            if taken {
                state.permits -= 1;
            } else {
                // SAFETY: a running thread is in no queue; it stays alive while it waits.
                unsafe { state.waiters.push_back(me) };
            }
            taken
        });
        let woken = if taken {
            Woken::Granted
        } else {
            let deadline_ns = limit.map(|limit| worker.deadline_ns(limit));
            worker.block_until(Wait::Semaphore, deadline_ns, || {
                // SAFETY: this thread waits here or did so last.
                self.with(worker, |state| unsafe { state.waiters.withdraw(me) })
            })
        };
        leave_blocking();
        woken.in_time()
    }

    /// Takes a permit if there is one.
    ///
    /// # Panics
    /// Outside a runtime.
    ///
    /// ```
    /// uthread::run(|| {
    ///     let one = uthread::Semaphore::new(1);
    ///     assert!(one.try_acquire());
    ///     assert!(!one.try_acquire());
    /// });
    /// ```
    #[must_use = "without it, it is unknown whether there was a permit"]
    pub fn try_acquire(&self) -> bool {
        let worker = require_worker("Semaphore::try_acquire");
        self.check(worker, "Semaphore::try_acquire");
        enter();
        let taken = self.with(worker, |state| {
            let taken = state.permits > 0;
            state.permits -= usize::from(taken);
            taken
        });
        leave();
        taken
    }

    /// Adds permits. Waiting threads get them first. Other kernel threads may call this while the runtime has a handle
    /// of [`external`](crate::external()), and while no runtime uses the semaphore. A signal handler may not: see
    /// [`Poster`](crate::Poster).
    ///
    /// # Panics
    /// If the semaphore belongs to a runtime that is not open to the caller, or has too many permits.
    ///
    /// ```
    /// uthread::run(|| {
    ///     let permits = uthread::Semaphore::new(0);
    ///     permits.release(2);
    ///     assert!(permits.try_acquire() && permits.try_acquire());
    /// });
    /// ```
    #[inline]
    pub fn release(&self, permits: usize) {
        let all_kept = match current_worker() {
            Some(worker) if self.admits(worker) => self.give_inside(worker, permits),
            inside => match self.give_from_outside(permits) {
                Some(all_kept) => all_kept,
                None => refuse("Semaphore::release", inside.is_some()),
            },
        };
        assert!(
            all_kept,
            "Semaphore::release: there would be too many permits"
        );
    }

    /// Adds permits if the caller may do so and the semaphore can hold them.
    pub(crate) fn add(&self, permits: usize) {
        match current_worker() {
            Some(worker) if self.admits(worker) => {
                self.give_inside(worker, permits);
            }
            _ => {
                self.give_from_outside(permits);
            }
        }
    }

    /// Makes the semaphore one of the caller's runtime.
    pub(crate) fn claim(&self, operation: &str) {
        self.check(require_worker(operation), operation);
    }

    #[inline]
    fn give_inside(&self, worker: &Worker, permits: usize) -> bool {
        enter();
        let all_kept = self.give(permits, worker.exposed(), |waiter| worker.wake(waiter));
        leave();
        all_kept
    }

    /// `None` if the caller may not add any.
    #[cold]
    fn give_from_outside(&self, permits: usize) -> Option<bool> {
        self.home.try_visit(
            || self.forget_waiters(),
            |visit| self.give(permits, true, |waiter| visit.wake(waiter)),
        )
    }

    /// Adds permits; `false` if the semaphore cannot hold all. Preemption must be disabled.
    #[inline]
    fn give(&self, permits: usize, exposed: bool, wake: impl Fn(&Control)) -> bool {
        for left in (1..=permits).rev() {
            // SAFETY: preemption is disabled, and the caller has the right to pass this `exposed`.
            let (waiter, all_kept) = unsafe {
                self.state.with(exposed, |state| {
                    let waiter = state.waiters.pop_front();
                    let all = state.permits.checked_add(left).filter(|_| waiter.is_none());
                    state.permits = all.unwrap_or(state.permits);
                    (waiter, all.is_some())
                })
            };
            let Some(waiter) = waiter else {
                return all_kept;
            };
            // SAFETY: a waiting thread is alive until woken.
            wake(unsafe { &*waiter });
        }
        true
    }
}

impl Semaphore {
    /// True if threads wait here, or may wait in a runtime that the caller is not in.
    #[doc(hidden)]
    pub fn is_awaited(&self) -> bool {
        self.home
            .is_awaited(|worker| self.with(worker, |state| !state.waiters.is_empty()))
    }
}

impl fmt::Debug for Semaphore {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Semaphore").finish_non_exhaustive()
    }
}
