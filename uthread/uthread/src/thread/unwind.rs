//! Catching panics.

use core::mem;
use std::panic::{AssertUnwindSafe, UnwindSafe};

use crate::worker::{enter, leave};

/// [`std::panic::catch_unwind`] for preemptible threads.
///
/// After a caught panic, the standard library decrements two panic counters: first that of the
/// process, then that of the kernel thread. If a tick preempted the thread between the two, the
/// other threads of the worker would appear to unwind during any panic on another kernel thread,
/// and locks that they release would be poisoned. So this function disables preemption until the
/// panic is caught. The same applies to panics that end a thread.
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

/// The value that is dropped last while a stack unwinds.
struct HoldPreemptionOff;

impl Drop for HoldPreemptionOff {
    fn drop(&mut self) {
        enter();
    }
}
