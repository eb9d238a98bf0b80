//! Input, output and sleep that block only the calling user thread.
//!
//! Operations borrow their buffers: the caller neither continues nor unwinds before the kernel has
//! finished with them. An operation that [`Thread::cancel`](crate::Thread::cancel) ends returns an error
//! that contains [`Cancelled`](crate::Cancelled).

mod driver;
mod operation;
mod plain;
mod pool;
mod request;
mod ring;
mod sleep;

pub(crate) use driver::{Driver, poll_until};
pub use operation::{
    Interest, fsync, fsync_timeout, poll_fd, poll_fd_timeout, read_at, read_at_timeout, write_at,
    write_at_timeout,
};
pub(crate) use plain::Plain;
pub use request::Backend;
pub use sleep::sleep;
