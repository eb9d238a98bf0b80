//! Threads that have ended, and whose handles are gone.

use core::ptr::NonNull;
use std::sync::{Mutex, PoisonError};

use super::control::Control;
use crate::worker::{Shared, enter, leave};

struct Orphan(NonNull<Control>);

// SAFETY: a control block that only its `Orphan` will free.
unsafe impl Send for Orphan {}

/// Threads whose handles were dropped at a place without access to their runtime.
static ORPHANS: Mutex<Vec<Orphan>> = Mutex::new(Vec::new());

/// Leaves a thread's result and slot to the end of its runtime.
pub(crate) fn add_orphan(thread: NonNull<Control>) {
    enter();
    ORPHANS
        .lock()
        .unwrap_or_else(PoisonError::into_inner)
        .push(Orphan(thread));
    leave();
}

/// Leaves the orphans to the parent, in the child of a fork.
///
/// # Safety
/// Same as [`renew`](crate::renew::renew).
#[cfg(target_os = "linux")]
pub(crate) unsafe fn leave_orphans_to_parent() {
    // SAFETY: the caller's contract.
    unsafe { crate::renew::renew(&ORPHANS, Mutex::new(Vec::new())) };
}

/// Frees the orphans of a finished runtime.
pub(crate) fn reap_orphans(runtime: &Shared) {
    let mut orphans = ORPHANS.lock().unwrap_or_else(PoisonError::into_inner);
    // SAFETY: orphans are alive until they are reaped.
    let is_mine = |orphan: &mut Orphan| unsafe { orphan.0.as_ref() }.runtime.get() == runtime.id();
    let mine: Vec<_> = orphans.extract_if(.., is_mine).collect();
    drop(orphans);
    for Orphan(thread) in mine {
        // SAFETY: as above; the thread has ended, and its handle no longer exists.
        unsafe {
            if !thread.as_ref().result_gone.get() {
                thread.as_ref().discard_result();
            }
            Control::release(thread);
        }
    }
}
