//! Input, output and sleep that block only the calling user thread.
//!
//! Buffers are borrowed: the caller does not go on, nor unwind, before the kernel is done with them.

mod driver;
mod operation;
mod plain;
mod pool;
mod request;
mod ring;
mod sleep;

pub(crate) use driver::{Driver, poll_until};
pub use operation::{Interest, fsync, poll_fd, read_at, write_at};
pub(crate) use plain::Plain;
pub use request::Backend;
pub(crate) use sleep::Sleeper;
pub use sleep::sleep;
