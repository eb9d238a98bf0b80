//! Preempting a running thread, and the conditions that forbid it.

mod alloc;
mod guard;
#[cfg(target_os = "linux")]
mod linux;
#[cfg(windows)]
mod windows;

#[cfg(target_os = "linux")]
use linux as system;
#[cfg(windows)]
use windows as system;

pub use alloc::GuardedAlloc;
pub use guard::{NoPreempt, no_preempt};
#[cfg(target_os = "linux")]
pub(crate) use system::leave_to_parent;
pub use system::{Errno, Exceptions};
pub(crate) use system::{OverflowWatch, TickSignal, Ticker, Watch, prepare};
