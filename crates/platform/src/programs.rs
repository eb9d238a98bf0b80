//! The programs that are running: who uses the processors.

use crate::os;

/// A running process.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Program {
    /// The number of the process.
    pub id: u32,
    /// The short name that the kernel keeps of it (on Linux at most 15 bytes).
    pub name: String,
    /// CPU time that it has used so far in ns; the kernel counts in ticks.
    pub cpu_ns: u64,
}

/// Every running process that this one may see; empty where the system does not tell.
pub fn running() -> Vec<Program> {
    os::programs::running()
}
