//! Hidden extra work: with the feature `extra-work`, loops run more iterations than they report, so
//! that comparisons can be tested on a change of known size. Only `bench/trust` uses it.

use std::sync::atomic::{AtomicU64, Ordering};

static PERCENT: AtomicU64 = AtomicU64::new(0);

/// Makes every repeated loop of this process run `percent` more iterations than it reports.
pub fn set(percent: u64) {
    PERCENT.store(percent, Ordering::Relaxed);
}

/// `iterations` plus the extra ones.
pub(crate) fn added_to(iterations: u64) -> u64 {
    iterations + iterations * PERCENT.load(Ordering::Relaxed) / 100
}
