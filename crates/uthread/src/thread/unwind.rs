//! Where unwinding ends.

use core::mem;
use std::panic::{AssertUnwindSafe, UnwindSafe};

use crate::worker::{enter, leave};

/// [`std::panic::catch_unwind`] for threads that a tick may interrupt.
///
/// The standard library counts a panic that was caught off for the whole process first, and for the
/// kernel thread after that. If a tick took the turn away between the two, the other threads of the
/// worker would seem to unwind whenever somebody panics on another kernel thread, and locks that they
/// release would be poisoned. So this function holds preemption off until the panic is caught; what a
/// thread runs as a whole is caught in this way as well.
///
/// # Errors
/// The payload of the panic.
///
/// ```
/// uthread::run(|| {
///     let caught = uthread::catch_unwind(|| panic!("an example"));
///     assert_eq!(caught.unwrap_err().downcast_ref(), Some(&"an example"));
/// });
/// ```
#[inline]
pub fn catch_unwind<T>(function: impl FnOnce() -> T + UnwindSafe) -> std::thread::Result<T> {
    let result = std::panic::catch_unwind(AssertUnwindSafe(|| {
        let last = HoldPreemptionOff;
        let value = function();
        mem::forget(last);
        value
    }));
    if result.is_err() {
        leave();
    }
    result
}

/// The last value of a stack that unwinds.
struct HoldPreemptionOff;

impl Drop for HoldPreemptionOff {
    fn drop(&mut self) {
        enter();
    }
}
