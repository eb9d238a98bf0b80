//! Idle workers: falling asleep without a lost wake-up, and detecting a deadlock when the last
//! worker becomes idle.

use core::ptr;
use std::io;
use std::sync::{Arc, Mutex, PoisonError};

use super::slumber::{Rest, Slumber};
use super::system::Event;
use crate::atomic::{AtomicPtr, AtomicU32, Ordering, fence, pause};
use crate::preempt::Ticker;

/// The bell of one worker: how it rests, an event that wakes it, and the timer that makes it tick.
pub(crate) struct Bell {
    slumber: Slumber,
    event: Event,
    ticker: AtomicPtr<Ticker>,
    /// Number of threads that use the timer now. Signal handlers do so too, hence no mutex.
    ticking: AtomicU32,
}

impl Bell {
    pub(crate) fn new() -> io::Result<Self> {
        Ok(Self {
            slumber: Slumber::new(AtomicU32::new(0)),
            event: Event::new()?,
            ticker: AtomicPtr::new(ptr::null_mut()),
            ticking: AtomicU32::new(0),
        })
    }

    /// The event that wakes the worker.
    pub(crate) fn event(&self) -> &Event {
        &self.event
    }

    /// Announces sleep. A thread that publishes work after this rings the bell. Work published
    /// before is found by the check that the caller must make next.
    pub(crate) fn announce_sleep(&self) {
        self.slumber.announce(Rest::Asleep);
    }

    /// Announces that no ticks come, as [`Bell::announce_sleep`] does.
    pub(crate) fn announce_quiet(&self) {
        self.slumber.announce(Rest::Quiet);
    }

    /// Withdraws the announcement.
    pub(crate) fn withdraw(&self) {
        self.slumber.withdraw();
    }

    /// Withdraws the announcement and clears the event.
    pub(crate) fn awake(&self) {
        self.withdraw();
        self.event.clear();
    }

    /// Wakes the worker if it sleeps, or makes it tick if it gets no ticks. Call this after publishing the work.
    /// Async-signal-safe.
    pub(crate) fn ring(&self) {
        match self.slumber.end() {
            None => {}
            Some(Rest::Asleep) => self.event.set(),
            Some(Rest::Quiet) => self.tick(),
        }
    }

    /// Wakes the worker if it sleeps; `true` if it did. A fence must be between publishing the work and this.
    pub(crate) fn wake(&self) -> bool {
        let asleep = self.slumber.end_if(Rest::Asleep);
        if asleep {
            self.event.set();
        }
        asleep
    }

    /// Makes the worker tick if it gets no ticks; `true` if it did not. A fence as for [`Bell::wake`].
    pub(crate) fn disturb(&self) -> bool {
        let quiet = self.slumber.end_if(Rest::Quiet);
        if quiet {
            self.tick();
        }
        quiet
    }

    /// Wakes the worker now or at its next sleep, or makes it tick if it gets no ticks.
    pub(crate) fn ring_always(&self) {
        self.event.set();
        fence(Ordering::SeqCst);
        self.disturb();
    }

    /// Names the timer of the worker, as long as it runs. Only the worker calls this.
    pub(crate) fn set_ticker(&self, ticker: Option<Arc<Ticker>>) {
        let new = ticker.map_or(ptr::null(), Arc::into_raw).cast_mut();
        let old = self.ticker.swap(new, Ordering::SeqCst);
        // Those who come from here on find the new one.
        let mut attempt = 0;
        while self.ticking.load(Ordering::SeqCst) > 0 {
            pause(attempt);
            attempt += 1;
        }
        if !old.is_null() {
            // SAFETY: `into_raw` returned it, and nobody uses it any more.
            drop(unsafe { Arc::from_raw(old) });
        }
    }

    /// Leaves the event and the timer to the parent, in the child of a fork, which has no other kernel thread.
    #[cfg(target_os = "linux")]
    pub(crate) fn leave_to_parent(&self) {
        self.slumber.withdraw();
        self.event.leave_to_parent();
        self.ticker.store(ptr::null_mut(), Ordering::Relaxed);
        self.ticking.store(0, Ordering::Relaxed);
    }

    #[cold]
    fn tick(&self) {
        self.ticking.fetch_add(1, Ordering::SeqCst);
        // SAFETY: the timer stays while it is used.
        if let Some(ticker) = unsafe { self.ticker.load(Ordering::SeqCst).as_ref() } {
            ticker.tick_now();
        }
        self.ticking.fetch_sub(1, Ordering::SeqCst);
    }
}

impl Drop for Bell {
    fn drop(&mut self) {
        self.set_ticker(None);
    }
}

/// Number of idle workers.
pub(crate) struct Idlers {
    count: Mutex<usize>,
    workers: usize,
}

impl Idlers {
    pub(crate) const fn new(workers: usize) -> Self {
        Self {
            count: Mutex::new(0),
            workers,
        }
    }

    /// Counts a worker as idle. If it is the last one, calls `verdict` while no other worker can
    /// start or stop idling.
    pub(crate) fn begin(&self, verdict: impl FnOnce()) {
        let mut count = self.count.lock().unwrap_or_else(PoisonError::into_inner);
        *count += 1;
        if *count == self.workers {
            verdict();
        }
    }

    /// True if all other workers are idle, and `verdict` is true while none of them can stop idling.
    pub(crate) fn are_all_others(&self, verdict: impl FnOnce() -> bool) -> bool {
        let count = self.count.lock().unwrap_or_else(PoisonError::into_inner);
        *count + 1 == self.workers && verdict()
    }

    /// Counts all workers but the caller's as idle for good, in the child of a fork.
    ///
    /// # Safety
    /// Same as [`renew`](crate::renew::renew).
    #[cfg(target_os = "linux")]
    pub(crate) unsafe fn leave_to_parent(&self) {
        // SAFETY: the caller's contract.
        unsafe { crate::renew::renew(&self.count, Mutex::new(self.workers - 1)) };
    }

    /// Counts a worker as busy. It must not look for work before this call.
    pub(crate) fn end(&self) {
        *self.count.lock().unwrap_or_else(PoisonError::into_inner) -= 1;
    }
}
