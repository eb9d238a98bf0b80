//! CPU time of the calling thread.

use platform::usage::Usage;
use std::time::Duration;

/// CPU time of the calling thread; zero where the system does not account for it.
pub(crate) fn thread_cpu() -> Duration {
    Usage::of_thread().map_or(Duration::ZERO, |usage| {
        Duration::from_nanos(usage.user_ns + usage.system_ns)
    })
}
