//! Input and output from Windows: calls that block.

mod cached;
mod no_ring;
mod request;

pub(crate) use std::os::windows::io::AsHandle as AsFile;

pub(crate) use cached::CachedReads;
pub(crate) use no_ring::RingDriver;
pub(crate) use request::{CANCELLED, RawFile, Request, raw, was_cancelled};
