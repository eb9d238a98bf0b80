use windows_sys::Win32::System::Threading::GetNumaAvailableMemoryNodeEx;

use super::topology::{Kind, parts};
use crate::node::Node;

pub fn all() -> Vec<Node> {
    let mut nodes: Vec<Node> = parts()
        .into_iter()
        .filter_map(|part| match part.kind {
            Kind::Node(number) => Some(Node {
                number,
                cpus: part.cpus,
                available_bytes: available_bytes(number),
            }),
            _ => None,
        })
        .collect();
    nodes.sort_by_key(|node| node.number);
    nodes
}

/// Without the memory of the file cache, which would be had as well: the system does not tell it for a node. A
/// node without memory has 0 bytes.
fn available_bytes(node: usize) -> Option<u64> {
    let mut bytes = 0;
    // SAFETY: there is room for the result.
    let outcome =
        unsafe { GetNumaAvailableMemoryNodeEx(u16::try_from(node).ok()?, &raw mut bytes) };
    (outcome != 0 && bytes > 0).then_some(bytes)
}
