//! The locks of kernel threads, and the check of what they protect.

use crate::prelude::*;
use platform::lock::{CriticalSection, PthreadMutex, PthreadSpin, SlimLock};
use std::sync::{Mutex, PoisonError};
use uthread_workload::Section;

/// Threads that lose their turn inside the lock now and then run for so many ns at least: on several
/// processors, where the kernel takes one away every few milliseconds, and where slices end while they
/// compute. Only runs that see that many times tell what it costs.
pub(super) const LONG_RUN_NS: u64 = 40_000_000;

/// A lock of kernel threads around the shared number.
pub(super) trait Exclusive: Sync {
    fn with(&self, work: impl FnOnce(&mut u64));
}

/// The locks of the system have such a method of their own.
macro_rules! exclusive {
    ($($lock:ty),*) => {
        $(impl Exclusive for $lock {
            fn with(&self, work: impl FnOnce(&mut u64)) {
                self.with(work);
            }
        })*
    };
}

exclusive!(PthreadMutex, PthreadSpin, SlimLock, CriticalSection);

impl Exclusive for Mutex<u64> {
    fn with(&self, work: impl FnOnce(&mut u64)) {
        work(&mut self.lock().unwrap_or_else(PoisonError::into_inner));
    }
}

/// Makes sure that all entries were made, one at a time, and that each computed.
pub(super) fn check(found: u64, section: Section, entries: u64) -> Result<(), MeasureError> {
    if found == section.expected(entries) {
        Ok(())
    } else {
        Err(MeasureError::Unsupported(format!(
            "the lock did not exclude: {found} is not what {entries} entries give"
        )))
    }
}
