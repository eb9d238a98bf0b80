//! Limits on the memory of a worker, and swap for it. Both are undone even if this process is
//! killed.
//!
//! Everything created here is recorded in a scratch directory first. [`crate::scratch`] undoes it
//! before it removes that directory, whether its owner exited or was killed, in this order: it
//! kills the processes of the group and waits for them, raises the limit, switches the swap file
//! off, and removes the group, the file and the record.

pub use crate::os::confinement::{MemoryGroup, SwapFile, can_limit_memory, free_swap_bytes};
