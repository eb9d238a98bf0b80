//! Nodes: processors and the memory that is near to them (NUMA).

use crate::os;

/// Processors and memory that are near to each other. Either may be absent.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Node {
    /// Its number; numbers need not follow each other.
    pub number: usize,
    /// Its processors that are switched on, in ascending order.
    pub cpus: Vec<usize>,
    /// Its memory that can be had without swapping, in bytes; `None` if it has no memory.
    pub available_bytes: Option<u64>,
}

/// The nodes of this machine that are switched on, in ascending order; none where the system does not
/// tell. [`crate::memory::Mapping::bind_to_node`] chooses one for memory.
pub fn all() -> Vec<Node> {
    os::node::all()
}
