//! Input, output and sleep that block only the calling user thread.
//!
//! Operations borrow their buffers: the caller neither continues nor unwinds before the kernel has
//! finished with them.

mod driver;
mod operation;
mod plain;
mod pool;
mod request;
mod ring;
mod sleep;
mod sleeper;

pub(crate) use driver::{Driver, poll_until};
pub use operation::{Interest, fsync, poll_fd, read_at, write_at};
pub(crate) use plain::Plain;
pub use request::Backend;
pub use sleep::sleep;
pub(crate) use sleeper::Sleeper;
