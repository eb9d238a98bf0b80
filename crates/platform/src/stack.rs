//! The stack of the calling thread.

pub use crate::os::stack::left_bytes;
