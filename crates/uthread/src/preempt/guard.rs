//! Holding preemption off.

use core::marker::PhantomData;

use crate::worker::{enter, leave};

/// Holds preemption off while it lives; see [`no_preempt`].
///
/// ```
/// let guard = uthread::no_preempt();
/// // Nobody takes the turn from this thread here.
/// drop(guard);
/// ```
#[derive(Debug)]
#[must_use = "preemption is held off only while the guard lives"]
pub struct NoPreempt {
    /// The counter belongs to the kernel thread.
    not_send: PhantomData<*const ()>,
}

/// Holds preemption off until the guard is dropped; guards nest. A tick that comes meanwhile takes
/// effect at the drop of the last one. Blocking while a guard lives is a panic.
///
/// Use it around everything that must not be seen half done by another thread of the same worker:
/// a lock of the standard library, a `std::thread_local!`, code that is not re-entrant.
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
