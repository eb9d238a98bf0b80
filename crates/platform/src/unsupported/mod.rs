//! The backend for all other systems: it returns what the standard library knows on every system,
//! and otherwise the answers of the faces for a system that lacks everything.

pub(crate) mod block_io;
pub(crate) mod clock;
pub(crate) mod directory;
pub(crate) mod environment;
pub(crate) mod file;
pub(crate) mod machine;
pub(crate) mod socket;

pub(crate) use crate::call::lacking as call;
pub(crate) use crate::channel::lacking as channel;
pub(crate) use crate::child::lacking as child;
pub(crate) use crate::confinement::lacking as confinement;
pub(crate) use crate::job::lacking as job;
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
