//! The backend for all other systems: it returns what the standard library knows on every system,
//! and otherwise a typed error. Types that no call here can create have no values.

pub(crate) mod block_io;
pub(crate) mod call;
pub(crate) mod channel;
pub(crate) mod child;
pub(crate) mod clock;
pub(crate) mod confinement;
pub(crate) mod directory;
pub(crate) mod environment;
pub(crate) mod file;
pub(crate) mod load;
pub(crate) mod lock;
pub(crate) mod machine;
pub(crate) mod memory;
pub(crate) mod node;
pub(crate) mod partner;
pub(crate) mod placement;
pub(crate) mod power;
pub(crate) mod process;
pub(crate) mod programs;
pub(crate) mod ring;
pub(crate) mod sandbox;
pub(crate) mod scratch;
pub(crate) mod shared;
pub(crate) mod signal;
pub(crate) mod socket;
pub(crate) mod stack;
pub(crate) mod startup;
pub(crate) mod stdio;
pub(crate) mod storage;
pub(crate) mod stream_ring;
pub(crate) mod timer;
pub(crate) mod usage;

use crate::{Error, Result};

/// The answer to every unsupported call.
fn refuse<T>(what: &'static str) -> Result<T> {
    Err(Error::NotSupported { what })
}
