//! Nodes: processors and their local memory (NUMA).

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

face! {
    os::node;

    /// The online nodes of this machine, in ascending order; empty if the system does not report them.
    /// [`crate::memory::Mapping::bind_to_node`] selects one for memory.
    pub fn all() -> Vec<Node> = Vec::new();
}
