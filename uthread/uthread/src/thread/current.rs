//! Operations of a thread on itself.

use core::time::Duration;

use super::control::Permit;
use super::handle::Thread;
use super::wait::Wait;
use super::waiting::Woken;
use crate::worker::{Worker, current_worker, depth, leave_blocking, require_worker};

/// The running thread.
///
/// # Panics
/// Outside a runtime.
///
/// ```
/// uthread::run(|| assert_eq!(uthread::current().name(), Some("main")));
/// ```
pub fn current() -> Thread {
    Thread::of(require_worker("current").current())
}

/// A number of the running thread, which no other thread has as long as this one runs or holds a lock.
///
/// # Panics
/// Outside a runtime.
#[doc(hidden)]
#[inline]
pub fn current_key() -> usize {
    core::ptr::from_ref(require_worker("current").current()).addr()
}

/// True inside a user thread, where [`current`] has an answer.
///
/// ```
/// assert!(!uthread::is_user_thread());
/// assert!(uthread::run(uthread::is_user_thread));
/// ```
#[inline]
pub fn is_user_thread() -> bool {
    current_worker().is_some()
}

/// True in a user thread without a [`NoPreempt`](crate::NoPreempt) guard: elsewhere, waits panic.
///
/// ```
/// assert!(!uthread::may_wait());
/// uthread::run(|| {
///     assert!(uthread::may_wait());
///     let _guard = uthread::no_preempt();
///     assert!(!uthread::may_wait());
/// });
/// ```
pub fn may_wait() -> bool {
    is_user_thread() && depth() == 0
}

/// Lets another ready thread of at least this priority run. Outside a runtime, the kernel thread
/// yields.
///
/// # Panics
/// While a [`NoPreempt`](crate::NoPreempt) guard exists.
///
/// ```
/// uthread::run(|| {
///     let other = uthread::spawn(|| {});
///     uthread::yield_now();
///     assert!(other.is_finished());
/// });
/// ```
#[inline]
pub fn yield_now() {
    match current_worker() {
        Some(worker) => worker.yield_now(),
        None => std::thread::yield_now(),
    }
}

/// [`yield_now`] for a library of C: `false`, and nothing is done, where that would unwind.
#[doc(hidden)]
#[inline]
pub fn yield_quickly() -> bool {
    current_worker().is_some_and(Worker::yield_quickly)
}

/// Blocks the running thread until [`Thread::resume`]. If a `resume` came before, this consumes it
/// and returns at once. Several earlier `resume` calls count as one.
///
/// # Panics
/// Outside a runtime, and while a [`NoPreempt`](crate::NoPreempt) guard exists.
///
/// ```
/// uthread::run(|| {
///     let thread = uthread::spawn(|| {
///         uthread::suspend();
///         7
///     });
///     uthread::yield_now();
///     thread.thread().resume();
///     assert_eq!(thread.join().unwrap(), 7);
/// });
/// ```
pub fn suspend() {
    suspend_within("suspend", None);
}

/// Like [`suspend`], but not longer than `limit`; `false` if no `resume` came in all that time.
///
/// # Panics
/// Same as [`suspend`].
///
/// ```
/// use std::time::Duration;
///
/// uthread::run(|| {
///     assert!(!uthread::suspend_timeout(Duration::from_millis(1)));
///     uthread::current().resume();
///     assert!(uthread::suspend_timeout(Duration::from_millis(1)));
/// });
/// ```
pub fn suspend_timeout(limit: Duration) -> bool {
    suspend_within("suspend_timeout", Some(limit))
}

fn suspend_within(operation: &str, limit: Option<Duration>) -> bool {
    let worker = require_worker(operation);
    worker.enter_blocking(operation);
    let me = worker.current();
    // SAFETY: preemption is disabled, and all users of the permit pass the same `exposed`.
    let given = unsafe {
        worker.shared.graph.with(worker.exposed(), |()| {
            let given = me.permit.get() == Permit::Given;
            me.permit
                .set(if given { Permit::None } else { Permit::Awaited });
            given
        })
    };
    let woken = if given {
        Woken::Granted
    } else {
        let deadline_ns = limit.map(|limit| worker.deadline_ns(limit));
        worker.block_until(Wait::Suspended, deadline_ns, || {
            // SAFETY: as above.
            unsafe {
                worker.shared.graph.with(worker.exposed(), |()| {
                    let awaited = me.permit.get() == Permit::Awaited;
                    if awaited {
                        me.permit.set(Permit::None);
                    }
                    awaited
                })
            }
        })
    };
    leave_blocking();
    woken.in_time()
}

/// Takes a request to cancel that no wait has obeyed; `true` if there was one. For threads that compute
/// for long without a wait.
///
/// # Panics
/// Outside a runtime.
///
/// ```
/// uthread::run(|| {
///     uthread::current().cancel();
///     assert!(uthread::take_cancel());
///     assert!(!uthread::take_cancel());
/// });
/// ```
#[must_use = "the request is gone"]
pub fn take_cancel() -> bool {
    require_worker("take_cancel").current().take_cancel()
}

/// The error that [`JoinHandle::join`](super::JoinHandle::join) returns for a thread that called
/// [`exit`].
///
/// ```
/// uthread::run(|| {
///     let thread = uthread::spawn(|| uthread::exit());
///     assert_eq!(thread.join().unwrap_err().downcast_ref(), Some(&uthread::Exited));
/// });
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Exited;

/// Ends the running thread: unwinds its stack like a panic, but without a message.
///
/// ```
/// uthread::run(|| {
///     let thread = uthread::spawn(|| -> u32 { uthread::exit() });
///     assert!(thread.join().unwrap_err().is::<uthread::Exited>());
/// });
/// ```
pub fn exit() -> ! {
    std::panic::resume_unwind(Box::new(Exited))
}
