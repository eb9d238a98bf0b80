//! Requests of the signal handlers to a worker.

use crate::worker::Worker;
use crate::worker::local::set_pending;
use crate::worker::shared::count;

impl Worker {
    /// True if the timer is armed.
    pub(crate) fn is_ticking(&self) -> bool {
        self.armed.get()
    }

    /// Retries soon without starting a new slice. Most library calls are short: at the next tick
    /// the thread probably runs the program's own code. For a long library call, frequent retries
    /// would use most of its time, so they become rarer.
    pub(crate) fn retry_tick(&self) {
        /// A retry takes about 5 µs in a virtual machine, mostly to set the timer. At a shorter
        /// interval, the thread would hardly progress between two retries.
        const SOON_NS: u64 = 20_000;
        const LATER_NS: u64 = 50_000;
        const SOON: u32 = 8;
        let slice_ns = self.shared.slice_ns();
        let misses = self.misses.get();
        self.misses.set(misses.saturating_add(1));
        let again_ns = if misses < SOON {
            SOON_NS.max(slice_ns / 50)
        } else {
            LATER_NS.max(slice_ns / 20)
        };
        if let Some(ticker) = self.ticker.get() {
            ticker.arm_first(again_ns.min(slice_ns), slice_ns);
        }
    }

    /// Handles a tick at a point where another thread may run; preemption is enabled.
    pub(crate) fn take_tick(&self) {
        self.tick_due.set(true);
        self.misses.set(0);
        count(&self.remote().counters.taken);
        self.take_deferred(false);
    }

    /// Handles a tick at a point where no other thread may run.
    pub(crate) fn defer_tick(&self) {
        self.tick_due.set(true);
        count(&self.remote().counters.deferred);
        set_pending(true);
    }
}
