//! The backend for Linux, on any architecture.

pub(crate) mod block_io;
pub(crate) mod call;
mod cgroup;
pub(crate) mod clock;
pub(crate) mod confinement;
pub(crate) mod environment;
pub(crate) mod file;
mod huge_pages;
pub(crate) mod load;
mod lost_pages;
pub(crate) mod machine;
pub(crate) mod memory;
mod parse;
pub(crate) mod placement;
pub(crate) mod process;
pub(crate) mod programs;
mod read;
mod residency;
pub(crate) mod ring;
pub(crate) mod scratch;
pub(crate) mod signal;
pub(crate) mod stdio;
pub(crate) mod storage;
mod topology;
pub(crate) mod usage;
