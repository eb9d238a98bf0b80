//! The backend for Windows, through `windows-sys`.

#[path = "../unsupported/block_io.rs"]
pub(crate) mod block_io;
pub(crate) mod clock;
#[path = "../unsupported/directory.rs"]
pub(crate) mod directory;
pub(crate) mod environment;
#[path = "../unsupported/file.rs"]
pub(crate) mod file;
pub(crate) mod load;
pub(crate) mod machine;
pub(crate) mod memory;
pub(crate) mod node;
mod outcome;
pub(crate) mod placement;
pub(crate) mod process;
mod processor_power;
pub(crate) mod programs;
mod registry;
pub(crate) mod scratch;
pub(crate) mod signal;
mod snapshot;
#[path = "../unsupported/socket.rs"]
pub(crate) mod socket;
pub(crate) mod stack;
pub(crate) mod startup;
pub(crate) mod stdio;
pub(crate) mod storage;
mod token;
mod topology;
pub(crate) mod usage;
mod wine;

pub(crate) use crate::call::lacking as call;
pub(crate) use crate::channel::lacking as channel;
pub(crate) use crate::child::lacking as child;
pub(crate) use crate::confinement::lacking as confinement;
pub(crate) use crate::lock::lacking as lock;
pub(crate) use crate::partner::lacking as partner;
pub(crate) use crate::power::lacking as power;
pub(crate) use crate::readiness::lacking as readiness;
pub(crate) use crate::ring::lacking as ring;
pub(crate) use crate::sandbox::lacking as sandbox;
pub(crate) use crate::shared::lacking as shared;
pub(crate) use crate::stream_ring::lacking as stream_ring;
pub(crate) use crate::timer::lacking as timer;
pub(crate) use process::program;
