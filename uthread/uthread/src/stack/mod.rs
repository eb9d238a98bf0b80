//! Stacks: slots of equal size cut from large mappings, each above a guard, kept for reuse.
//!
//! ```text
//! slot start  +---------------------------------+  page-aligned
//!             | guard                           |  64 KiB, no access
//!             +---------------------------------+  lowest address of the stack
//!             | unused stack                    |  takes no memory until touched
//!             |    :                            |
//!             | frames of the thread            |  the stack grows down
//!             +---------------------------------+  top of the stack, 16-byte aligned
//!             | function, later its result      |
//!             +---------------------------------+  64-byte aligned
//!             | control block                   |  begins with the saved context
//!             +---------------------------------+
//!             | 0 to 31 unused cache lines      |  spread the blocks over the cache sets
//!             +---------------------------------+
//!             | last cache line                 |  its last word links free slots
//! slot end    +---------------------------------+
//! ```
//!
//! The control block is in the slot of its thread, so an idle thread touches one page and starting
//! a thread allocates nothing. `windows` shows the guard of Windows.

mod error;
#[cfg(target_os = "linux")]
mod linux;
mod loop_stack;
mod pool;
mod slab;
pub(crate) mod valgrind;
#[cfg(windows)]
mod windows;

#[cfg(target_os = "linux")]
use linux as system;
#[cfg(windows)]
use windows as system;

pub(crate) use error::MapError;
pub(crate) use loop_stack::LoopStack;
pub(crate) use pool::{Cache, LARGEST_BYTES, POOL, class_bytes, class_for};
#[cfg(target_os = "linux")]
pub(crate) use slab::{Extent, SLABS};
pub(crate) use system::{guard_bytes, lowest_stack_address};
#[cfg(windows)]
pub(crate) use windows::REPORT_BYTES;

/// Stack that the tick handler's own frames may use, in bytes. A thread with less is not preempted.
pub(crate) const HANDLER_BYTES: usize = if cfg!(debug_assertions) { 8192 } else { 2048 };
