//! Blocking until a point in time.

use core::sync::atomic::Ordering;
use core::time::Duration;

use super::Worker;
use super::timers::Timer;
use crate::thread::Wait;

impl Worker {
    /// The end of `limit` on the runtime's clock, in ns.
    pub(crate) fn deadline_ns(&self, limit: Duration) -> u64 {
        let limit_ns = u64::try_from(limit.as_nanos()).unwrap_or(u64::MAX);
        self.shared.clock.now_ns().saturating_add(limit_ns)
    }

    /// Like [`Worker::block`], but with a time limit if there is a deadline. At the deadline,
    /// `withdraw` takes the thread out of what it waits for, in its worker's loop or in another
    /// thread of this worker. It returns `false` if a thread has woken the waiter or is about to.
    /// So the waiter is woken exactly once. Returns `false` if it was withdrawn.
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
    ) -> bool {
        let Some(deadline_ns) = deadline_ns else {
            self.block(wait);
            return true;
        };
        self.block_with_timer(wait, deadline_ns, &withdraw)
    }

    #[cold]
    fn block_with_timer(&self, wait: Wait, deadline_ns: u64, withdraw: &dyn Fn() -> bool) -> bool {
        let timer = Timer::new(self.current(), withdraw);
        self.timers.insert(deadline_ns, &timer);
        self.shared.external.fetch_add(1, Ordering::Relaxed);
        self.attention.set(true);
        // From here on, other threads may run without ever yielding.
        self.arm();
        self.block(wait);
        if self.timers.remove(deadline_ns, &timer) {
            self.shared.external.fetch_sub(1, Ordering::Relaxed);
        }
        !timer.has_expired()
    }

    /// Ends the waits whose time is up.
    pub(super) fn expire_timers(&self) {
        if self.timers.is_empty() {
            return;
        }
        let now_ns = self.shared.clock.now_ns();
        while let Some(timer) = self.timers.pop(now_ns) {
            self.shared.external.fetch_sub(1, Ordering::Relaxed);
            // SAFETY: the timer is on the stack of a blocked thread of this worker. The thread
            // cannot continue and remove it before this worker switches.
            if let Some(thread) = unsafe { &*timer }.expire() {
                self.make_ready(thread);
            }
        }
    }
}
