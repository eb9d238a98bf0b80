//! Waits that can end early: at a point in time, or because they are cancelled.

use core::sync::atomic::Ordering;
use core::time::Duration;

use super::Worker;
use crate::thread::{Control, Wait, Waiting, Woken};

impl Worker {
    /// The end of `limit` on the runtime's clock, in ns.
    pub(crate) fn deadline_ns(&self, limit: Duration) -> u64 {
        let limit_ns = u64::try_from(limit.as_nanos()).unwrap_or(u64::MAX);
        self.now_ns().saturating_add(limit_ns)
    }

    /// The runtime's clock.
    pub(crate) fn now_ns(&self) -> u64 {
        self.shared.clock.now_ns()
    }

    /// Like [`Worker::block`], but the wait ends early at the deadline, if there is one, or if it is
    /// cancelled. For that, `withdraw` takes the thread out of what it waits for, in its worker's
    /// loop or in another thread of this worker. It returns `false` if a thread has woken the waiter
    /// or is about to. So the waiter is woken exactly once.
    #[expect(
        clippy::inline_always,
        reason = "returning after a switch misses the predictor"
    )]
    #[inline(always)]
    pub(crate) fn block_until(
        &self,
        wait: Wait,
        deadline_ns: Option<u64>,
        withdraw: impl Fn() -> bool,
    ) -> Woken {
        let me = self.current();
        let waiting = Waiting::new(&withdraw);
        if !me.begin_wait(&waiting) {
            match deadline_ns {
                None => self.block(wait),
                Some(deadline_ns) => self.block_with_timer(wait, deadline_ns, me),
            }
        }
        me.finish_wait();
        waiting.woken()
    }

    #[cold]
    fn block_with_timer(&self, wait: Wait, deadline_ns: u64, me: &Control) {
        self.timers.insert(deadline_ns, me);
        self.shared.external.fetch_add(1, Ordering::Relaxed);
        self.attention.set(true);
        // From here on, other threads may run without ever yielding.
        self.arm_by(deadline_ns);
        self.block(wait);
        if self.timers.remove(deadline_ns, me) {
            self.shared.external.fetch_sub(1, Ordering::Relaxed);
        }
    }

    /// Ends the waits whose time is up.
    pub(super) fn expire_timers(&self) {
        if self.timers.is_empty() {
            return;
        }
        let now_ns = self.shared.clock.now_ns();
        while let Some(thread) = self.timers.pop(now_ns) {
            self.shared.external.fetch_sub(1, Ordering::Relaxed);
            // SAFETY: a thread of this worker, which is alive until it has waited.
            self.end_wait(unsafe { &*thread }, Woken::TimedOut);
        }
    }

    /// Ends the wait of a thread of this worker early, if it waits.
    pub(super) fn end_wait(&self, thread: &Control, cause: Woken) {
        if thread.end_wait(cause) {
            self.make_ready(thread);
        }
    }
}
