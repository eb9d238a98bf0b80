//! The beginning of a backend for macOS: the CPU clock, memory, usage and the facts of the machine. It
//! compiles, and nobody has run it yet. The rest is as on other systems.

pub(crate) mod clock;
pub(crate) mod machine;
pub(crate) mod memory;
mod process_info;
mod sysctl;
pub(crate) mod usage;

pub(crate) use crate::unsupported::*;
