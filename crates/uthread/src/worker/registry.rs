//! The runtimes of this process whose threads may still run.

use core::sync::atomic::{AtomicU32, Ordering};
use std::collections::BTreeSet;
use std::sync::{Mutex, MutexGuard, PoisonError};

/// The numbers of the live ones.
pub(super) fn live() -> MutexGuard<'static, BTreeSet<u32>> {
    static LIVE: Mutex<BTreeSet<u32>> = Mutex::new(BTreeSet::new());
    LIVE.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Adds a runtime and returns its number.
pub(super) fn add() -> u32 {
    static NEXT: AtomicU32 = AtomicU32::new(1);
    let id = NEXT.fetch_add(1, Ordering::Relaxed);
    live().insert(id);
    id
}

/// Removes a runtime that has ended.
pub(super) fn remove(id: u32) {
    live().remove(&id);
}
