//! The stack of the calling thread.

use crate::os;

/// Bytes of the calling thread's stack below its present frame, all of which it may use; `None` where
/// the system does not tell.
pub fn left_bytes() -> Option<u64> {
    os::stack::left_bytes()
}
