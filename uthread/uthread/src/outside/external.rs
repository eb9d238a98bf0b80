//! The handle that keeps a runtime awake for others.

use core::fmt;
use core::sync::atomic::Ordering;
use std::sync::Arc;

use crate::worker::{Shared, enter, leave, require_worker, stayed_in_parent};

/// Keeps the runtime awake: while it exists, threads that all wait are no deadlock, since another kernel thread may
/// wake one of them. [`external`] makes it.
///
/// It may be cloned, moved and dropped anywhere, also after the end of the runtime, which does not wait for it: a run
/// ends when all its threads have ended. In the child of a fork, a handle from
/// before has no effect.
pub struct External {
    shared: Arc<Shared>,
    /// The number of the runtime in the process that made this.
    runtime: u32,
}

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
    External::of(&worker.shared, worker.shared.id())
}

impl External {
    fn of(shared: &Arc<Shared>, runtime: u32) -> Self {
        if !stayed_in_parent(runtime) {
            shared.external.fetch_add(1, Ordering::Relaxed);
        }
        let shared = Arc::clone(shared);
        Self { shared, runtime }
    }

    /// True in the child of a fork, if this was made before: it keeps nobody awake.
    pub(super) fn stayed_in_parent(&self) -> bool {
        stayed_in_parent(self.runtime)
    }

    /// True if the run has ended, or is about to; in the child of a fork, also if it goes on in the parent.
    pub(super) fn has_ended(&self) -> bool {
        self.stayed_in_parent() || self.shared.stop.load(Ordering::Acquire)
    }

    pub(super) fn shared(&self) -> &Shared {
        &self.shared
    }
}

impl Clone for External {
    fn clone(&self) -> Self {
        Self::of(&self.shared, self.runtime)
    }
}

impl Drop for External {
    fn drop(&mut self) {
        if self.stayed_in_parent() {
            return;
        }
        enter();
        self.shared.without_helper();
        leave();
    }
}

impl fmt::Debug for External {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("External").finish_non_exhaustive()
    }
}
