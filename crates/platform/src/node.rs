//! Nodes: processors and their local memory (NUMA).

pub use crate::os::topology::all;

/// Processors and their local memory. Either may be absent.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Node {
    /// Its number; numbers need not be contiguous.
    pub number: usize,
    /// Its online processors, in ascending order.
    pub cpus: Vec<usize>,
    /// Its memory available without swapping, in bytes; `None` if it has no memory.
    pub available_bytes: Option<u64>,
}
