//! The backend for Windows, through `windows-sys`.

pub(crate) mod absent;
pub(crate) mod block_io;
pub(crate) mod call;
pub(crate) mod clock;
pub(crate) mod directory;
pub(crate) mod environment;
pub(crate) mod file;
pub(crate) mod job;
pub(crate) mod lock;
pub(crate) mod machine;
pub(crate) mod memory;
mod outcome;
pub(crate) mod placement;
mod private;
pub(crate) mod process;
mod query;
pub(crate) mod ring;
pub(crate) mod shared;
pub(crate) mod signal;
pub(crate) mod socket;
pub(crate) mod startup;
pub(crate) mod storage;
pub(crate) mod topology;
pub(crate) mod usage;

pub(crate) use absent as allocator;
pub(crate) use absent as confinement;
pub(crate) use absent as partner;
pub(crate) use absent as readiness;
pub(crate) use absent as sandbox;
pub(crate) use absent as stream_ring;
