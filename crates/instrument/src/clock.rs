//! The clock that samplers and the runner read, and one that tests set.

use platform::usage::Usage;

/// A source of time and of this process's counters.
pub trait Clock {
    /// Monotonic wall time in ns.
    fn now_ns(&self) -> u64;

    /// What this process has used so far.
    ///
    /// # Errors
    /// If the system does not tell.
    fn usage(&self) -> platform::Result<Usage>;
}

/// The machine's own clock.
#[derive(Clone, Copy, Debug, Default)]
pub struct SystemClock;

impl Clock for SystemClock {
    fn now_ns(&self) -> u64 {
        platform::clock::now_ns()
    }

    fn usage(&self) -> platform::Result<Usage> {
        Usage::of_process()
    }
}
