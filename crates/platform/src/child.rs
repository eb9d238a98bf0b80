//! Runs a function in a child process.

use crate::Result;

face! {
    os::child;

    /// Computes a value in a child process: one `pipe` and one `fork`; in the child `compute`, one
    /// `write` of the value and `_exit`; in the parent one `read`, closing both ends, and `waitpid`.
    ///
    /// The child has a copy of the calling thread only: `compute` should neither allocate nor take
    /// locks, which another thread may have held. If it panics, the child exits and this call fails.
    ///
    /// # Errors
    /// If no pipe or process can be created, or the child does not send its value.
    pub fn value(compute: impl FnOnce() -> u64) -> Result<u64> = refuse("fork");
}
