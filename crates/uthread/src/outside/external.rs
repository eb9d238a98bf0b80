//! The handle that keeps a runtime awake for others.

use core::fmt;
use core::sync::atomic::Ordering;
use std::sync::Arc;

use crate::worker::{Shared, enter, leave, require_worker};

/// Keeps the runtime awake: while it exists, threads that all wait are no deadlock, since another kernel thread may
/// wake one of them. [`external`] makes it.
///
/// It may be cloned, moved and dropped anywhere, also after the end of the runtime, which does not wait for it: a run
/// ends when all its threads have ended.
pub struct External(Arc<Shared>);

/// Opens the caller's runtime to other kernel threads, until its end, and returns a handle that keeps it awake. They may
/// then use [`Thread::resume`](crate::Thread::resume), [`Semaphore::release`](crate::Semaphore::release),
/// [`Sender::send`](crate::Sender::send) and [`Sender::try_send`](crate::Sender::try_send) as threads of the runtime do. A
/// wake-up takes one system call if the worker of the thread sleeps or gets no ticks, and else none.
///
/// From then on, a runtime with one worker looks for wake-ups at each switch, as one with several does.
///
/// # Panics
/// Outside a runtime.
///
/// ```
/// uthread::run(|| {
///     let (sender, receiver) = uthread::unbounded();
///     let external = uthread::external();
///     std::thread::spawn(move || {
///         (1..=3).for_each(|i| sender.send(i).unwrap());
///         drop(external); // nothing comes from here any more
///     });
///     assert_eq!(receiver.iter().sum::<i32>(), 6);
/// });
/// ```
pub fn external() -> External {
    let worker = require_worker("external");
    enter();
    worker.open();
    leave();
    External::of(&worker.shared)
}

impl External {
    fn of(shared: &Arc<Shared>) -> Self {
        shared.external.fetch_add(1, Ordering::Relaxed);
        Self(Arc::clone(shared))
    }

    /// True if the run has ended, or is about to.
    pub(super) fn has_ended(&self) -> bool {
        self.0.stop.load(Ordering::Acquire)
    }

    pub(super) fn shared(&self) -> &Shared {
        &self.0
    }
}

impl Clone for External {
    fn clone(&self) -> Self {
        Self::of(&self.0)
    }
}

impl Drop for External {
    fn drop(&mut self) {
        enter();
        self.0.without_helper();
        leave();
    }
}

impl fmt::Debug for External {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("External").finish_non_exhaustive()
    }
}
