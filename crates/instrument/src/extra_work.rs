//! Counted extra work: with the feature `extra-work`, loops can be told to do more iterations than
//! they count, so that a comparison can be tried on a change of known size. For `bench/trust` alone.

use std::sync::atomic::{AtomicU64, Ordering};

static PERCENT: AtomicU64 = AtomicU64::new(0);

/// Lets every repeated loop of this process do `percent` more than it counts.
pub fn set(percent: u64) {
    PERCENT.store(percent, Ordering::Relaxed);
}

/// `iterations` with the extra ones.
pub(crate) fn added_to(iterations: u64) -> u64 {
    iterations + iterations * PERCENT.load(Ordering::Relaxed) / 100
}
