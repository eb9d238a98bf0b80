//! Sleeping.

use core::cmp::Ordering as Order;
use core::sync::atomic::Ordering;
use core::time::Duration;

use crate::thread::{Control, Wait};
use crate::worker::{leave, require_worker};

/// A sleeping thread. The greatest in the order wakes first.
pub(crate) struct Sleeper {
    pub(crate) deadline_ns: u64,
    pub(crate) thread: *const Control,
    id: u64,
}

impl Sleeper {
    fn key(&self) -> (u64, u64) {
        (self.deadline_ns, self.id)
    }
}

impl Ord for Sleeper {
    fn cmp(&self, other: &Self) -> Order {
        other.key().cmp(&self.key())
    }
}

impl PartialOrd for Sleeper {
    fn partial_cmp(&self, other: &Self) -> Option<Order> {
        Some(self.cmp(other))
    }
}

impl PartialEq for Sleeper {
    fn eq(&self, other: &Self) -> bool {
        self.key() == other.key()
    }
}

impl Eq for Sleeper {}

/// Blocks the running thread for at least `duration` while others run. If all threads of the worker
/// compute, it wakes at the end of a time slice.
///
/// # Panics
/// Outside a runtime, and while preemption is disabled.
///
/// ```
/// use std::time::{Duration, Instant};
///
/// let begin = Instant::now();
/// uthread::run(|| uthread::io::sleep(Duration::from_millis(2)));
/// assert!(begin.elapsed() >= Duration::from_millis(2));
/// ```
pub fn sleep(duration: Duration) {
    let worker = require_worker("io::sleep");
    worker.enter_blocking("io::sleep");
    let me = worker.current();
    let duration_ns = u64::try_from(duration.as_nanos()).unwrap_or(u64::MAX);
    let deadline_ns = worker.shared.clock.now_ns().saturating_add(duration_ns);
    worker.sleepers.borrow_mut().push(Sleeper {
        deadline_ns,
        thread: me,
        id: me.id,
    });
    worker.shared.external.fetch_add(1, Ordering::Relaxed);
    worker.attention.set(true);
    // From here on, other threads may run without ever yielding.
    worker.arm();
    worker.block(Wait::Sleep);
    leave();
}
