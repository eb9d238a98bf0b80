//! The clock that samplers and the runner read. Tests replace it by one that they set.

use platform::usage::Usage;

/// A source of time and of this process's counters.
pub trait Clock {
    /// Monotonic wall time in ns.
    fn now_ns(&self) -> u64;

    /// CPU time, page faults and context switches of this process so far.
    ///
    /// # Errors
    /// If the system does not report them.
    fn usage(&self) -> platform::Result<Usage>;

    /// Runs the reference loop ([`kernels::reference()`]) and returns its wall time in ns; `None`
    /// for a clock that has none.
    fn reference_ns(&self) -> Option<u64> {
        None
    }

    /// As [`Clock::reference_ns`], after other code or a wait: the shorter of two runs. The first
    /// run in a process takes a fifth longer, since the page of its code is mapped then, and that
    /// looks like another program on the core.
    fn settled_reference_ns(&self) -> Option<u64> {
        let first_ns = self.reference_ns()?;
        Some(first_ns.min(self.reference_ns()?))
    }
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

    fn reference_ns(&self) -> Option<u64> {
        let begin_ns = self.now_ns();
        kernels::reference();
        Some(self.now_ns().saturating_sub(begin_ns))
    }
}
