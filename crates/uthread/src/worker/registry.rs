//! The runtimes of this process whose threads may still run.

use core::sync::atomic::{AtomicU32, Ordering};
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use super::shared::Shared;

/// The live ones by number, each with its state if it is open: then other kernel threads may use its objects, under
/// their spin locks and while they hold this lock.
pub(super) fn live() -> MutexGuard<'static, BTreeMap<u32, Option<Arc<Shared>>>> {
    static LIVE: Mutex<BTreeMap<u32, Option<Arc<Shared>>>> = Mutex::new(BTreeMap::new());
    LIVE.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Adds a runtime and returns its number.
pub(crate) fn add() -> u32 {
    static NEXT: AtomicU32 = AtomicU32::new(1);
    let id = NEXT.fetch_add(1, Ordering::Relaxed);
    live().insert(id, None);
    id
}

/// Opens a runtime to other kernel threads.
pub(super) fn open(runtime: &Arc<Shared>) {
    live().insert(runtime.id, Some(Arc::clone(runtime)));
}

/// Removes a runtime that has ended: other runtimes may use its objects.
pub(crate) fn remove(id: u32) {
    let removed = live().remove(&id);
    drop(removed);
}
