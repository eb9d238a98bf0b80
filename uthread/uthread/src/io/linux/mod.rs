//! Input and output from Linux: `io_uring(7)`, or calls that block.

mod cached;
mod plain;
mod poll;
mod receive;
mod request;
mod ring;

pub(crate) use std::os::fd::AsFd as AsFile;

pub(crate) use cached::CachedReads;
pub(crate) use poll::poll;
pub use poll::{Interest, poll_fd, poll_fd_timeout};
pub use receive::receive;
pub(crate) use request::{CANCELLED, RawFile, Request, raw, was_cancelled};
pub(crate) use ring::{InFlight, RingDriver as KernelDriver};
