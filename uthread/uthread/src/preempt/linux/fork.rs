//! Ticks in the child of a fork.

use super::{single_threaded, watch};

/// Leaves all that the process has for ticks to the parent. Only calls that are async-signal-safe are made.
///
/// # Safety
/// Same as [`renew`](crate::renew::renew).
pub(crate) unsafe fn leave_to_parent() {
    // SAFETY: the caller's contract.
    unsafe { watch::leave_to_parent() };
    single_threaded::end_again();
}
