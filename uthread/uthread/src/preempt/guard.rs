//! Disabling preemption.

use core::marker::PhantomData;

use crate::worker::{enter, leave};

/// Disables preemption while it exists; see [`no_preempt`].
///
/// ```
/// let guard = uthread::no_preempt();
/// // No other thread of this worker runs here.
/// drop(guard);
/// ```
#[derive(Debug)]
#[must_use = "preemption is held off only while the guard lives"]
pub struct NoPreempt {
    /// The preempt-disable counter belongs to the kernel thread.
    not_send: PhantomData<*const ()>,
}

/// Disables preemption until the guard is dropped. Guards nest. A tick during that time takes
/// effect when the last guard is dropped. Blocking while a guard exists is a panic.
///
/// Use it around code whose intermediate states other threads of the same worker must not see: a
/// lock of the standard library, a `std::thread_local!`, code that is not re-entrant.
///
/// ```
/// use std::sync::Mutex;
///
/// let total = Mutex::new(0);
/// {
///     let _guard = uthread::no_preempt();
///     *total.lock().unwrap() += 1;
/// }
/// assert_eq!(total.into_inner().unwrap(), 1);
/// ```
#[inline]
pub fn no_preempt() -> NoPreempt {
    enter();
    NoPreempt {
        not_send: PhantomData,
    }
}

impl Drop for NoPreempt {
    #[inline]
    fn drop(&mut self) {
        leave();
    }
}
