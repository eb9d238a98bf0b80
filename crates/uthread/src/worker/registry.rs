//! The runtimes of this process whose threads may still run.

use core::sync::atomic::{AtomicU32, Ordering};
use std::collections::BTreeSet;
use std::sync::{Mutex, MutexGuard, PoisonError};

/// The numbers of the live runtimes.
pub(super) struct Live {
    started: BTreeSet<u32>,
    /// The one that goes on in the child of a fork, or 0.
    inherited: u32,
}

static LIVE: Mutex<Live> = Mutex::new(Live {
    started: BTreeSet::new(),
    inherited: 0,
});

static NEXT: AtomicU32 = AtomicU32::new(1);

/// Runtimes with a smaller number are not in this process: it is the child of a fork.
static FIRST: AtomicU32 = AtomicU32::new(1);

impl Live {
    #[expect(clippy::trivially_copy_pass_by_ref, reason = "as `contains` of a set")]
    pub(super) fn contains(&self, id: &u32) -> bool {
        self.started.contains(id) || (self.inherited == *id && *id != 0)
    }
}

pub(super) fn live() -> MutexGuard<'static, Live> {
    LIVE.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Adds a runtime and returns its number.
pub(super) fn add() -> u32 {
    let id = NEXT.fetch_add(1, Ordering::Relaxed);
    live().started.insert(id);
    id
}

/// Removes a runtime that has ended.
pub(super) fn remove(id: u32) {
    let mut live = live();
    live.started.remove(&id);
    if live.inherited == id {
        live.inherited = 0;
    }
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
    let id = NEXT.fetch_add(1, Ordering::Relaxed);
    FIRST.store(id, Ordering::Relaxed);
    let live = Live {
        started: BTreeSet::new(),
        inherited: if goes_on { id } else { 0 },
    };
    // SAFETY: the caller's contract.
    unsafe { crate::renew::renew(&LIVE, Mutex::new(live)) };
    id
}
