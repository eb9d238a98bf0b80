//! Sleeping.

use core::time::Duration;

use crate::thread::{Wait, Woken};
use crate::worker::{leave_blocking, require_worker};

/// Blocks the running thread for at least `duration` while others run. If all threads of the worker
/// compute, a tick wakes it.
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
    sleep_or_cancelled(duration).in_time();
}

/// Like [`sleep`], but returns if it is cancelled.
pub(super) fn sleep_or_cancelled(duration: Duration) -> Woken {
    let worker = require_worker("io::sleep");
    worker.enter_blocking("io::sleep");
    let deadline_ns = worker.deadline_ns(duration);
    let woken = worker.block_until(Wait::Sleep, Some(deadline_ns), || true);
    leave_blocking();
    woken
}
