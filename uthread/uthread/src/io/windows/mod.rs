//! Input and output from Windows: overlapped transfers, and calls that block.

mod cached;
mod overlapped;
mod request;

pub(crate) use std::os::windows::io::AsHandle as AsFile;

pub(crate) use cached::CachedReads;
pub(crate) use overlapped::{InFlight, KernelDriver};
pub(crate) use request::{CANCELLED, RawFile, Request, raw, was_cancelled};
