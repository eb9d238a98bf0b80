//! CPUs and caches from sysfs (`Documentation/ABI/stable/sysfs-devices-system-cpu`).

use std::collections::{BTreeMap, BTreeSet};
use std::io;
use std::path::{Path, PathBuf};
use std::ptr::{self, NonNull};

use super::check;
use super::memory::base_page_bytes;
use super::parse::{colon_field, cpus_in, kibibytes, number, size_bytes, text, word};
use crate::error::{Error, Result};
use crate::machine::{Cache, CacheKind, Topology};
use crate::node::Node;

const CPUS: &str = "/sys/devices/system/cpu";

pub(super) fn topology() -> Topology {
    let online = cpus("online");
    let places = |name: &str| -> Option<usize> {
        let places: BTreeSet<String> = online
            .iter()
            .flatten()
            .filter_map(|cpu| word(cpu_dir(*cpu).join("topology").join(name)))
            // The value if the firmware does not provide it.
            .filter(|place| place != "-1")
            .collect();
        Some(places.len()).filter(|count| *count > 0)
    };
    Topology {
        sockets: places("physical_package_id"),
        // The list of a core's threads identifies the core, even if its number does not.
        cores: places("thread_siblings_list"),
        threads: online.as_ref().map(Vec::len),
        threads_present: cpus("present").map(|cpus| cpus.len()),
        numa_nodes: cpus_in("/sys/devices/system/node/has_memory").map(|nodes| nodes.len()),
        core_types: core_types(&online.unwrap_or_default()),
    }
}

/// Intel's processors have a set of counters for each type of core. ARM's kernels give each core a
/// capacity, higher for faster ones.
fn core_types(online: &[usize]) -> Vec<Vec<usize>> {
    let of_intel = ["core", "atom"].map(|name| cpus_in(format!("/sys/devices/cpu_{name}/cpus")));
    if let [Some(core), Some(atom)] = of_intel {
        return vec![core, atom];
    }
    let mut types: BTreeMap<u64, Vec<usize>> = BTreeMap::new();
    for &cpu in online {
        if let Some(capacity) = number(cpu_dir(cpu).join("cpu_capacity")) {
            types.entry(capacity).or_default().push(cpu);
        }
    }
    if types.len() > 1 {
        types.into_values().rev().collect()
    } else {
        Vec::new()
    }
}

/// The caches of all online CPUs, one entry for each sort.
pub(super) fn caches() -> Vec<Cache> {
    let online = cpus("online").into_iter().flatten();
    // A cache is found at each CPU that shares it.
    let instances: BTreeSet<(Cache, Vec<usize>)> = online.flat_map(caches_of).collect();
    Cache::sorts(instances.into_iter().map(|(cache, _)| cache).collect())
}

/// The caches of `cpu`, each as one instance, with the CPUs that share it.
fn caches_of(cpu: usize) -> impl Iterator<Item = (Cache, Vec<usize>)> {
    let dir = cpu_dir(cpu).join("cache");
    (0..)
        .map(move |index| dir.join(format!("index{index}")))
        .take_while(|index| index.exists())
        .filter_map(|index| cache(&index))
}

/// The level of the innermost data cache that two CPUs share: 1 for threads of one core. `None` if they
/// share none or the system reports no caches.
pub fn shared_cache_level(one: usize, other: usize) -> Option<u32> {
    let is_common = |(cache, shared_by): &(Cache, Vec<usize>)| {
        cache.kind != CacheKind::Instruction && shared_by.contains(&other)
    };
    let common = caches_of(one).filter(is_common);
    common.map(|(cache, _)| cache.level).min()
}

/// A cache and the CPUs that share it.
fn cache(dir: &Path) -> Option<(Cache, Vec<usize>)> {
    let shared_by = cpus_in(dir.join("shared_cpu_list"))?;
    let kind = match text(dir.join("type"))?.as_str() {
        "Data" => CacheKind::Data,
        "Instruction" => CacheKind::Instruction,
        "Unified" => CacheKind::Unified,
        _ => return None,
    };
    let cache = Cache {
        level: number(dir.join("level"))?,
        kind,
        size_bytes: text(dir.join("size")).and_then(|size| size_bytes(&size)),
        line_bytes: number(dir.join("coherency_line_size")),
        // The kernel writes 0 for unknown.
        ways: number(dir.join("ways_of_associativity")).filter(|ways| *ways > 0),
        shared_by_cpus: shared_by.len(),
        instances: 1,
    };
    Some((cache, shared_by))
}

/// The CPUs of the core of `cpu`; empty if the system does not report them.
pub fn cpus_of_core(cpu: usize) -> Vec<usize> {
    cpus_in(cpu_dir(cpu).join("topology/thread_siblings_list")).unwrap_or_default()
}

/// The number of the package of `cpu`; `None` if the system does not report it.
pub fn package(cpu: usize) -> Option<i64> {
    number(cpu_dir(cpu).join("topology/physical_package_id"))
}

fn cpus(list: &str) -> Option<Vec<usize>> {
    cpus_in(Path::new(CPUS).join(list))
}

fn cpu_dir(cpu: usize) -> PathBuf {
    Path::new(CPUS).join(format!("cpu{cpu}"))
}

/// `Documentation/ABI/stable/sysfs-devices-node` of the kernel.
const NODES: &str = "/sys/devices/system/node";
/// Pages per query.
const PAGES_AT_ONCE: usize = 4096;

/// The online nodes of this machine, in ascending order; empty if the system does not report them.
/// [`crate::memory::Mapping::bind_to_node`] selects one for memory.
pub fn all() -> Vec<Node> {
    let list = |name: &str| cpus_in(Path::new(NODES).join(name));
    let with_memory = list("has_memory").unwrap_or_default();
    let online = list("online").unwrap_or_default().into_iter();
    online
        .map(|number| {
            let dir = PathBuf::from(format!("{NODES}/node{number}"));
            let has_memory = with_memory.contains(&number);
            let meminfo = text(dir.join("meminfo")).filter(|_| has_memory);
            let available_bytes = meminfo.map(|meminfo| available_bytes(&meminfo, number));
            Node {
                number,
                cpus: cpus_in(dir.join("cpulist")).unwrap_or_default(),
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
    check(outcome).map_err(refusal)
}

/// Bytes of a range of this process that are in the memory of a node.
pub(super) fn bytes_on(start: NonNull<u8>, len: usize, node: usize) -> Result<u64> {
    let page = base_page_bytes();
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
        check(outcome).map_err(refusal)?;
        // A negative value is an error: the page is not there.
        let is_there = |found: &&libc::c_int| usize::try_from(**found) == Ok(node);
        count += nodes.iter().filter(is_there).count();
    }
    Ok((count * page) as u64)
}

fn refusal(error: io::Error) -> Error {
    const WHAT: &str = "memory of a chosen node";
    match error.raw_os_error() {
        Some(libc::ENOSYS) => Error::NotSupported(WHAT),
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
    use crate::error::available;
    use crate::memory::{Mapping, PageSize};

    #[test]
    fn memory_comes_from_the_node_that_was_chosen() {
        for node in all()
            .into_iter()
            .filter(|node| node.available_bytes.is_some())
        {
            let mut memory = Mapping::anonymous(1 << 20, PageSize::Base).unwrap();
            let Some(()) = available(memory.bind_to_node(node.number)) else {
                return;
            };
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
