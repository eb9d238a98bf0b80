//! The backend for Linux, on any architecture.

pub(crate) mod allocator;
pub(crate) mod block_io;
pub(crate) mod call;
mod cgroup;
pub(crate) mod clock;
pub(crate) mod confinement;
pub(crate) mod directory;
pub(crate) mod environment;
pub(crate) mod file;
pub(crate) mod job;
pub(crate) mod lock;
mod lost_pages;
pub(crate) mod machine;
pub(crate) mod memory;
mod parse;
pub(crate) mod partner;
pub(crate) mod placement;
mod pmix;
pub(crate) mod process;
pub(crate) mod readiness;
mod residency;
pub(crate) mod ring;
pub(crate) mod sandbox;
pub(crate) mod shared;
pub(crate) mod signal;
pub(crate) mod socket;
mod socket_diag;
pub(crate) mod startup;
mod stop;
pub(crate) mod storage;
pub(crate) mod stream_ring;
pub(crate) mod topology;
mod uring;
pub(crate) mod usage;
mod zero_copy;

use std::io;

/// The system's error, unless a call returned 0 for success.
fn check(outcome: impl Into<i64>) -> io::Result<()> {
    match outcome.into() {
        0 => Ok(()),
        _ => Err(io::Error::last_os_error()),
    }
}
