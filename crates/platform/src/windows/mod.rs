//! The backend for Windows, through `windows-sys`.

#[path = "../unsupported/block_io.rs"]
pub(crate) mod block_io;
#[path = "../unsupported/clock.rs"]
pub(crate) mod clock;
#[path = "../unsupported/directory.rs"]
pub(crate) mod directory;
#[path = "../unsupported/environment.rs"]
pub(crate) mod environment;
#[path = "../unsupported/file.rs"]
pub(crate) mod file;
#[path = "../unsupported/machine.rs"]
pub(crate) mod machine;
#[path = "../unsupported/socket.rs"]
pub(crate) mod socket;

pub(crate) use crate::call::lacking as call;
pub(crate) use crate::channel::lacking as channel;
pub(crate) use crate::child::lacking as child;
pub(crate) use crate::confinement::lacking as confinement;
pub(crate) use crate::load::lacking as load;
pub(crate) use crate::lock::lacking as lock;
pub(crate) use crate::memory::lacking as memory;
pub(crate) use crate::node::lacking as node;
pub(crate) use crate::partner::lacking as partner;
pub(crate) use crate::placement::lacking as placement;
pub(crate) use crate::power::lacking as power;
pub(crate) use crate::process::lacking as process;
pub(crate) use crate::program::lacking as program;
pub(crate) use crate::programs::lacking as programs;
pub(crate) use crate::readiness::lacking as readiness;
pub(crate) use crate::ring::lacking as ring;
pub(crate) use crate::sandbox::lacking as sandbox;
pub(crate) use crate::scratch::lacking as scratch;
pub(crate) use crate::shared::lacking as shared;
pub(crate) use crate::signal::lacking as signal;
pub(crate) use crate::stack::lacking as stack;
pub(crate) use crate::startup::lacking as startup;
pub(crate) use crate::stdio::lacking as stdio;
pub(crate) use crate::storage::lacking as storage;
pub(crate) use crate::stream_ring::lacking as stream_ring;
pub(crate) use crate::timer::lacking as timer;
pub(crate) use crate::usage::lacking as usage;
