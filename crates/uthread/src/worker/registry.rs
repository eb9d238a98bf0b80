//! The runtimes of this process whose threads may still run.

use core::sync::atomic::{AtomicU32, Ordering};
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

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

static NEXT: AtomicU32 = AtomicU32::new(2);

/// Runtimes with a smaller number are not in this process: it is the child of a fork. No runtime has this number.
static FIRST: AtomicU32 = AtomicU32::new(1);

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
    let id = NEXT.fetch_add(1, Ordering::Relaxed);
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

/// The number of objects that kernel threads of this process use while no runtime owns them.
pub(super) fn nobody() -> u32 {
    FIRST.load(Ordering::Relaxed)
}

/// True for a runtime that stayed in the parent, when this process was forked.
pub(crate) fn stayed_in_parent(id: u32) -> bool {
    id != 0 && id < FIRST.load(Ordering::Relaxed)
}

/// Leaves all runtimes to the parent, in the child of a fork. Returns a new number for the one of the caller, if it
/// goes on in the child.
///
/// # Safety
/// Same as [`renew`](crate::renew::renew).
#[cfg(target_os = "linux")]
pub(super) unsafe fn leave_to_parent(goes_on: bool) -> u32 {
    let first = NEXT.fetch_add(2, Ordering::Relaxed);
    FIRST.store(first, Ordering::Relaxed);
    let id = first + 1;
    let live = Live {
        started: BTreeMap::new(),
        inherited: if goes_on { id } else { 0 },
    };
    // SAFETY: the caller's contract.
    unsafe { crate::renew::renew(&LIVE, Mutex::new(live)) };
    id
}
