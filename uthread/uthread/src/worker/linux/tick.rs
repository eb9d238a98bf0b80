//! Requests of the signal handlers to a worker.

use crate::worker::Worker;
use crate::worker::local::set_pending;
use crate::worker::shared::count;

impl Worker {
    /// True if ticks may come.
    pub(crate) fn may_tick(&self) -> bool {
        self.ticker.get().is_some()
    }

    /// After any tick, others follow at the interval of a slice.
    fn ticks_go_on(&self) {
        self.armed.set(true);
    }

    /// Handles a tick in code that is not the program's own; preemption is enabled.
    pub(crate) fn postpone_tick(&self) {
        self.ticks_go_on();
        if self.scheduler.ready.is_empty() && self.rest_unless_it_waits_often() {
            count(&self.remote().counters.taken);
            return;
        }
        self.defer_tick();
        self.retry_tick();
    }

    /// Retries soon without starting a new slice.
    fn retry_tick(&self) {
        let (clock, slice_ns) = (&self.shared.clock, self.shared.slice_ns());
        if let Some(ticker) = self.ticker.get() {
            let next_ns = self.retries.next_ns(clock.now_ns(), slice_ns);
            ticker.arm_first(next_ns);
            self.retries.set(clock.now_ns());
        }
    }

    /// Handles a tick at a point where another thread may run; preemption is enabled.
    pub(crate) fn take_tick(&self) {
        self.ticks_go_on();
        self.tick_due.set(true);
        self.retries.end();
        count(&self.remote().counters.taken);
        self.take_deferred(false);
    }

    /// Handles a tick at a point where no other thread may run.
    pub(crate) fn defer_tick(&self) {
        self.ticks_go_on();
        self.tick_due.set(true);
        count(&self.remote().counters.deferred);
        set_pending(true);
    }
}
