//! Input, output and sleep that block only the calling user thread.
//!
//! Operations borrow their buffers: the caller neither continues nor unwinds before the kernel has
//! finished with them. An operation that [`Thread::cancel`](crate::Thread::cancel) ends returns an error
//! that contains [`Cancelled`](crate::Cancelled).

mod backend;
mod driver;
mod in_flight;
#[cfg(target_os = "linux")]
mod linux;
mod operation;
mod pool;
mod sleep;
mod transfer;
#[cfg(windows)]
mod windows;

#[cfg(target_os = "linux")]
use linux as system;
#[cfg(windows)]
use windows as system;

pub use backend::Backend;
pub(crate) use driver::Driver;
#[cfg(target_os = "linux")]
pub(crate) use linux::poll;
#[cfg(target_os = "linux")]
#[doc(hidden)]
pub use linux::receive;
#[cfg(target_os = "linux")]
pub use linux::{Interest, poll_fd, poll_fd_timeout};
pub use operation::{fsync, fsync_timeout, read_at, read_at_timeout, write_at, write_at_timeout};
pub use sleep::sleep;
pub(crate) use system::CachedReads;
