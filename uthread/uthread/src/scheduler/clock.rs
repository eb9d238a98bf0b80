//! The scheduler's clock: the machine's, or a virtual one for tests.

use core::sync::atomic::{AtomicU64, Ordering};
use std::time::Instant;

/// A monotonic clock.
pub(crate) trait Clock: Send + Sync {
    /// Nanoseconds since the clock was made.
    fn now_ns(&self) -> u64;

    /// Advances time while no thread is ready. A virtual clock jumps to `deadline_ns` and returns
    /// `true`; a real one returns `false`, and the caller must wait.
    fn skip_to(&self, deadline_ns: u64) -> bool;

    /// Reports the end of a slice. Only virtual clocks advance here.
    fn tick(&self, slice_ns: u64);
}

/// `CLOCK_MONOTONIC`.
pub(crate) struct Monotonic(Instant);

impl Monotonic {
    pub(crate) fn new() -> Self {
        Self(Instant::now())
    }
}

impl Clock for Monotonic {
    fn now_ns(&self) -> u64 {
        self.0.elapsed().as_nanos() as u64
    }

    fn skip_to(&self, _deadline_ns: u64) -> bool {
        false
    }

    fn tick(&self, _slice_ns: u64) {}
}

/// A clock that advances only at ticks and skips, so its runs repeat exactly.
#[derive(Default)]
pub(crate) struct Virtual(AtomicU64);

impl Clock for Virtual {
    fn now_ns(&self) -> u64 {
        self.0.load(Ordering::Relaxed)
    }

    fn skip_to(&self, deadline_ns: u64) -> bool {
        self.0.fetch_max(deadline_ns, Ordering::Relaxed);
        true
    }

    fn tick(&self, slice_ns: u64) {
        self.0.fetch_add(slice_ns, Ordering::Relaxed);
    }
}
