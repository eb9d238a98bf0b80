//! The methods of sending a range of a file.

pub(super) mod in_kernel;
pub(super) mod mapped;
pub(super) mod read;
pub(super) mod uring;
pub(super) mod zero_copy;
