//! Sleeping.

use core::sync::atomic::Ordering;
use core::time::Duration;

use super::sleeper::Sleeper;
use crate::thread::Wait;
use crate::worker::{leave, require_worker};

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
    let sleeper = Sleeper::new(me, deadline_ns);
    worker.sleepers.borrow_mut().push(sleeper);
    worker.shared.external.fetch_add(1, Ordering::Relaxed);
    worker.attention.set(true);
    // From here on, other threads may run without ever yielding.
    worker.arm();
    worker.block(Wait::Sleep);
    leave();
}
