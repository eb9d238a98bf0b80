//! Work handed to a child process.

use crate::{Result, os};

/// Has a child process compute a value: one `pipe`, one `fork`, in the child `compute`, one `write`
/// of the value and `_exit`, in the parent one `read`, the closing of both ends, and `waitpid`.
///
/// The child is a copy of this thread alone: `compute` should neither allocate nor take locks, which
/// another thread may have held. If it panics, the child ends and this fails.
///
/// # Errors
/// If no pipe or process can be made, or the child does not give its value.
pub fn value(compute: impl FnOnce() -> u64) -> Result<u64> {
    os::child::value(compute)
}
