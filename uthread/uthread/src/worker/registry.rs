//! The runtimes of this process whose threads may still run.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use super::number;
use super::shared::Shared;

/// The numbers of the live runtimes.
pub(super) struct Live {
    /// Each with its state if it is open: then other kernel threads may use its objects, under their spin locks and
    /// while they hold [`LIVE`].
    started: BTreeMap<u32, Option<Arc<Shared>>>,
    /// The one that goes on in the child of a fork, or 0. It is not open until it is opened there.
    inherited: u32,
}

static LIVE: Mutex<Live> = Mutex::new(Live {
    started: BTreeMap::new(),
    inherited: 0,
});

impl Live {
    /// For a live runtime, its state if it is open.
    pub(super) fn get(&self, id: u32) -> Option<&Option<Arc<Shared>>> {
        let closed = (self.inherited == id && id != 0).then_some(&None);
        self.started.get(&id).or(closed)
    }

    pub(super) fn contains(&self, id: u32) -> bool {
        self.get(id).is_some()
    }
}

pub(super) fn live() -> MutexGuard<'static, Live> {
    LIVE.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Adds a runtime and returns its number.
pub(crate) fn add() -> u32 {
    let id = number::next();
    live().started.insert(id, None);
    id
}

/// Opens a runtime to other kernel threads.
pub(super) fn open(runtime: &Arc<Shared>) {
    let open = Some(Arc::clone(runtime));
    live().started.insert(runtime.id(), open);
}

/// Removes a runtime that has ended: other runtimes may use its objects.
pub(crate) fn remove(id: u32) {
    let mut live = live();
    let removed = live.started.remove(&id);
    if live.inherited == id {
        live.inherited = 0;
    }
    drop(live);
    drop(removed);
}

/// Leaves all runtimes to the parent, in the child of a fork. Returns a new number for the one of the caller, if it
/// goes on in the child.
///
/// # Safety
/// Same as [`renew`](crate::renew::renew).
#[cfg(target_os = "linux")]
pub(super) unsafe fn leave_to_parent(goes_on: bool) -> u32 {
    number::leave_to_parent();
    let id = number::next();
    let live = Live {
        started: BTreeMap::new(),
        inherited: if goes_on { id } else { 0 },
    };
    // SAFETY: the caller's contract.
    unsafe { crate::renew::renew(&LIVE, Mutex::new(live)) };
    id
}
