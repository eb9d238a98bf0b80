//! The backend for all other systems: it returns what the standard library knows on every system,
//! and otherwise the answers of the faces for a system that lacks everything. Types that no call here
//! can create have no values.

pub(crate) mod block_io;
pub(crate) mod clock;
pub(crate) mod confinement;
pub(crate) mod directory;
pub(crate) mod environment;
pub(crate) mod file;
pub(crate) mod load;
pub(crate) mod lock;
pub(crate) mod machine;
pub(crate) mod memory;
pub(crate) mod process;
pub(crate) mod ring;
pub(crate) mod scratch;
pub(crate) mod shared;
pub(crate) mod signal;
pub(crate) mod socket;
pub(crate) mod startup;
pub(crate) mod storage;
pub(crate) mod usage;

pub(crate) use crate::call::lacking as call;
pub(crate) use crate::channel::lacking as channel;
pub(crate) use crate::child::lacking as child;
pub(crate) use crate::node::lacking as node;
pub(crate) use crate::partner::lacking as partner;
pub(crate) use crate::placement::lacking as placement;
pub(crate) use crate::power::lacking as power;
pub(crate) use crate::programs::lacking as programs;
pub(crate) use crate::sandbox::lacking as sandbox;
pub(crate) use crate::stack::lacking as stack;
pub(crate) use crate::stdio::lacking as stdio;
pub(crate) use crate::stream_ring::lacking as stream_ring;
pub(crate) use crate::timer::lacking as timer;
