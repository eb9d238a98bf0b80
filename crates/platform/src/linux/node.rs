use std::io;
use std::path::{Path, PathBuf};
use std::ptr::{self, NonNull};

use super::machine::page_bytes;
use super::parse::{colon_field, cpu_list, kibibytes};
use super::read::text;
use crate::error::{Error, Result};
use crate::node::Node;

/// `Documentation/ABI/stable/sysfs-devices-node` of the kernel.
const NODES: &str = "/sys/devices/system/node";
/// Pages per query.
const PAGES_AT_ONCE: usize = 4096;

/// The online nodes of this machine, in ascending order; empty if the system does not report them.
/// [`crate::memory::Mapping::bind_to_node`] selects one for memory.
pub fn all() -> Vec<Node> {
    let list = |name: &str| cpu_list(&text(Path::new(NODES).join(name))?);
    let with_memory = list("has_memory").unwrap_or_default();
    let online = list("online").unwrap_or_default().into_iter();
    online
        .map(|number| {
            let dir = PathBuf::from(format!("{NODES}/node{number}"));
            let cpus = text(dir.join("cpulist")).and_then(|list| cpu_list(&list));
            let has_memory = with_memory.contains(&number);
            let meminfo = text(dir.join("meminfo")).filter(|_| has_memory);
            let available_bytes = meminfo.map(|meminfo| available_bytes(&meminfo, number));
            Node {
                number,
                cpus: cpus.unwrap_or_default(),
                available_bytes,
            }
        })
        .collect()
}

/// Free memory plus inactive page-cache pages, which the kernel reclaims first.
fn available_bytes(meminfo: &str, node: usize) -> u64 {
    let field = |name| kibibytes(colon_field(meminfo, &format!("Node {node} {name}"))?);
    let fields = ["MemFree", "Inactive(file)"].map(field);
    fields.into_iter().flatten().sum()
}

/// Binds pages of a range that are not allocated yet to one node.
pub(super) fn bind(start: NonNull<u8>, len: usize, node: usize) -> Result<()> {
    const WORD_BITS: usize = libc::c_ulong::BITS as usize;
    let mut nodes = vec![0 as libc::c_ulong; node / WORD_BITS + 1];
    nodes[node / WORD_BITS] |= 1 << (node % WORD_BITS);
    // The kernel uses one bit less than the given number.
    let bits = nodes.len() * WORD_BITS + 1;
    // SAFETY: the set has the given length, and the call changes no memory: it only selects the
    // node of future pages.
    let outcome = unsafe {
        libc::syscall(
            libc::SYS_mbind,
            start.as_ptr(),
            len,
            libc::MPOL_BIND,
            nodes.as_ptr(),
            bits,
            0,
        )
    };
    if outcome == 0 {
        Ok(())
    } else {
        Err(refusal(io::Error::last_os_error()))
    }
}

/// Bytes of a range of this process that are in the memory of a node.
pub(super) fn bytes_on(start: NonNull<u8>, len: usize, node: usize) -> Result<u64> {
    let page = page_bytes();
    let offsets: Vec<usize> = (0..len).step_by(page).collect();
    let mut count = 0;
    for offsets in offsets.chunks(PAGES_AT_ONCE) {
        let addresses: Vec<*mut u8> = offsets
            .iter()
            .map(|offset| start.as_ptr().wrapping_add(*offset))
            .collect();
        let mut nodes = vec![0 as libc::c_int; addresses.len()];
        // SAFETY: the buffer has an entry for each address; without a list of target nodes, nothing
        // moves.
        let outcome = unsafe {
            libc::syscall(
                libc::SYS_move_pages,
                0,
                addresses.len(),
                addresses.as_ptr(),
                ptr::null::<libc::c_int>(),
                nodes.as_mut_ptr(),
                0,
            )
        };
        if outcome != 0 {
            return Err(refusal(io::Error::last_os_error()));
        }
        // A negative value is an error: the page is not there.
        let is_there = |found: &&libc::c_int| usize::try_from(**found) == Ok(node);
        count += nodes.iter().filter(is_there).count();
    }
    Ok((count * page) as u64)
}

fn refusal(error: io::Error) -> Error {
    const WHAT: &str = "memory of a chosen node";
    match error.raw_os_error() {
        Some(libc::ENOSYS) => Error::NotSupported { what: WHAT },
        Some(libc::EPERM) => Error::NotPermitted {
            what: WHAT,
            needs: "a container or sandbox that allows mbind(2) and move_pages(2) (CAP_SYS_NICE)",
        },
        _ => Error::os("choose the node of memory")(error),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::memory::{Mapping, PageSize};

    #[test]
    fn memory_comes_from_the_node_that_was_chosen() {
        for node in all()
            .into_iter()
            .filter(|node| node.available_bytes.is_some())
        {
            let mut memory = Mapping::anonymous(1 << 20, PageSize::Base).unwrap();
            match memory.bind_to_node(node.number) {
                Ok(()) => {}
                Err(error @ (Error::NotSupported { .. } | Error::NotPermitted { .. })) => {
                    return println!("skipped: {error}");
                }
                Err(error) => panic!("{error}"),
            }
            assert_eq!(memory.bytes_on_node(node.number).unwrap(), 0);
            memory.populate().unwrap();
            assert_eq!(memory.bytes_on_node(node.number).unwrap(), 1 << 20);
            assert_eq!(memory.bytes_on_node(node.number + 1).unwrap(), 0);
        }
    }

    #[test]
    fn a_node_that_is_not_there_is_an_error() {
        let mut memory = Mapping::anonymous(1 << 20, PageSize::Base).unwrap();
        memory.bind_to_node(1000).unwrap_err();
    }

    #[test]
    fn every_processor_is_of_one_node() {
        let mut cpus: Vec<usize> = all().into_iter().flat_map(|node| node.cpus).collect();
        let count = cpus.len();
        cpus.sort_unstable();
        cpus.dedup();
        assert_eq!(cpus.len(), count);
    }

    #[test]
    fn free_memory_and_old_pages_of_files_are_available() {
        let meminfo = "Node 0 MemTotal:       1000 kB\nNode 0 MemFree:         300 kB\n\
                       Node 0 Inactive:       9000 kB\nNode 0 Inactive(file):  20 kB\n";
        assert_eq!(available_bytes(meminfo, 0), 320 << 10);
        assert_eq!(available_bytes(meminfo, 1), 0);
    }
}
