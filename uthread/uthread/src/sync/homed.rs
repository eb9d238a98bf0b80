//! Objects that belong to a runtime.

use crate::worker::{Home, Worker};

pub(super) trait Homed {
    fn home(&self) -> &Home;

    /// Removes the threads of a runtime that stayed in the parent at a fork. Nobody uses the object at that time.
    fn forget_waiters(&self);

    /// True if the object belongs to the runtime of the caller.
    #[inline]
    fn admits(&self, worker: &Worker) -> bool {
        self.home().admits(&worker.shared, || self.forget_waiters())
    }

    /// Checks that the object belongs to the runtime of the caller.
    #[inline]
    fn check(&self, worker: &Worker, operation: &str) {
        self.home()
            .check(&worker.shared, operation, || self.forget_waiters());
    }
}
