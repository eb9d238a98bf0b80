//! The numbers of runtimes, which tell those of this process from those of its parent.

use core::sync::atomic::{AtomicU32, Ordering};

static NEXT: AtomicU32 = AtomicU32::new(2);

/// Runtimes with a smaller number are not in this process: it is the child of a fork. No runtime has this number.
static FIRST: AtomicU32 = AtomicU32::new(1);

/// A number for a new runtime.
pub(super) fn next() -> u32 {
    NEXT.fetch_add(1, Ordering::Relaxed)
}

/// The number of objects that kernel threads of this process use while no runtime owns them.
pub(super) fn nobody() -> u32 {
    FIRST.load(Ordering::Relaxed)
}

/// True for a runtime that stayed in the parent, when this process was forked.
#[inline]
pub(crate) fn stayed_in_parent(id: u32) -> bool {
    id != 0 && id < FIRST.load(Ordering::Relaxed)
}

/// Leaves all numbers to the parent, in the child of a fork.
#[cfg(target_os = "linux")]
pub(super) fn leave_to_parent() {
    FIRST.store(next(), Ordering::Relaxed);
}
