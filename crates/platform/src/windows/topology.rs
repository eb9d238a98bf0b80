//! Cores, packages, nodes and caches
//! ([GetLogicalProcessorInformationEx](https://learn.microsoft.com/en-us/windows/win32/api/sysinfoapi/nf-sysinfoapi-getlogicalprocessorinformationex)).
//!
//! The system numbers CPUs within groups of at most 64. Here, CPU n is CPU n mod 64 of group n / 64.
#![expect(non_upper_case_globals, reason = "the system names its constants so")]

use std::mem::offset_of;
use std::ptr;

use windows_sys::Win32::System::SystemInformation::{
    CACHE_RELATIONSHIP, CacheData, CacheInstruction, CacheUnified, GROUP_AFFINITY,
    GetLogicalProcessorInformationEx, NUMA_NODE_RELATIONSHIP, PROCESSOR_RELATIONSHIP, RelationAll,
    RelationCache, RelationNumaNode, RelationProcessorCore, RelationProcessorPackage,
    SYSTEM_LOGICAL_PROCESSOR_INFORMATION_EX,
};
use windows_sys::Win32::System::Threading::GetNumaAvailableMemoryNodeEx;

use crate::machine::{Cache, CacheKind, Topology};
use crate::node::Node;

/// CPUs in a processor group.
pub(super) const GROUP_CPUS: usize = usize::BITS as usize;

/// A part of the machine, and its CPUs in ascending order.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Part {
    kind: Kind,
    cpus: Vec<usize>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum Kind {
    Core,
    Package,
    /// A node with this number.
    Node(usize),
    /// As one instance.
    Cache(Cache),
}

/// All parts; empty if the system does not report them.
fn parts() -> Vec<Part> {
    let mut len = 0;
    // SAFETY: without a buffer, the call only writes the length that it needs.
    unsafe { GetLogicalProcessorInformationEx(RelationAll, ptr::null_mut(), &raw mut len) };
    // Words, since the system wants the buffer aligned.
    let mut records = vec![0_u64; (len as usize).div_ceil(size_of::<u64>())];
    // SAFETY: the buffer has the given length and alignment.
    let outcome = unsafe {
        GetLogicalProcessorInformationEx(RelationAll, records.as_mut_ptr().cast(), &raw mut len)
    };
    if outcome == 0 {
        return Vec::new();
    }
    let bytes: Vec<u8> = records.into_iter().flat_map(u64::to_ne_bytes).collect();
    parse(&bytes[..len as usize])
}

/// The CPUs of each core; empty if the system does not report them.
fn cores() -> Vec<Vec<usize>> {
    let cores = parts().into_iter();
    let cores = cores.filter(|part| part.kind == Kind::Core);
    cores.map(|core| core.cpus).collect()
}

pub(super) fn topology() -> Topology {
    let parts = parts();
    let count = |is_one: fn(&Kind) -> bool| {
        let count = parts.iter().filter(|part| is_one(&part.kind)).count();
        Some(count).filter(|count| *count > 0)
    };
    let cores = parts.iter().filter(|part| part.kind == Kind::Core);
    let threads = Some(cores.map(|core| core.cpus.len()).sum()).filter(|threads| *threads > 0);
    Topology {
        sockets: count(|kind| *kind == Kind::Package),
        cores: count(|kind| *kind == Kind::Core),
        threads,
        threads_present: threads,
        numa_nodes: count(|kind| matches!(kind, Kind::Node(_))),
        core_types: Vec::new(),
    }
}

/// True if two hardware threads share a core; `None` if the system does not report cores.
pub(super) fn smt_active() -> Option<bool> {
    let cores = cores();
    (!cores.is_empty()).then(|| cores.iter().any(|cpus| cpus.len() > 1))
}

pub(super) fn caches() -> Vec<Cache> {
    let caches = parts().into_iter().filter_map(|part| match part.kind {
        Kind::Cache(cache) => Some(cache),
        _ => None,
    });
    Cache::sorts(caches.collect())
}

/// All CPUs, those of each core together.
pub(super) fn all_cpus() -> Vec<usize> {
    cores().concat()
}

pub fn cpus_of_core(cpu: usize) -> Vec<usize> {
    let mut cores = cores().into_iter();
    cores.find(|cpus| cpus.contains(&cpu)).unwrap_or_default()
}

/// The system does not number packages, but always lists them in the same order.
pub fn package(cpu: usize) -> Option<i64> {
    let parts = parts();
    let mut packages = parts.iter().filter(|part| part.kind == Kind::Package);
    let position = packages.position(|package| package.cpus.contains(&cpu))?;
    i64::try_from(position).ok()
}

pub fn shared_cache_level(one: usize, other: usize) -> Option<u32> {
    let level = |part: Part| match part.kind {
        Kind::Cache(cache) if cache.kind != CacheKind::Instruction => {
            let is_shared = part.cpus.contains(&one) && part.cpus.contains(&other);
            is_shared.then_some(cache.level)
        }
        _ => None,
    };
    parts().into_iter().filter_map(level).min()
}

/// The CPUs in a mask of a group.
pub(super) fn cpus_in(group: u16, mask: usize) -> Vec<usize> {
    (0..GROUP_CPUS)
        .filter(|bit| mask >> bit & 1 == 1)
        .map(|bit| usize::from(group) * GROUP_CPUS + bit)
        .collect()
}

/// Reads records of several lengths, one after the other. Others than the known ones are left out.
fn parse(mut records: &[u8]) -> Vec<Part> {
    let mut parts = Vec::new();
    while let Some(len) = Record(records).u32(SIZE) {
        let Some((record, rest)) = records.split_at_checked(len as usize) else {
            break;
        };
        if record.is_empty() {
            break;
        }
        parts.extend(Record(record).part());
        records = rest;
    }
    parts
}

const SIZE: usize = offset_of!(SYSTEM_LOGICAL_PROCESSOR_INFORMATION_EX, Size);
const RELATIONSHIP: usize = offset_of!(SYSTEM_LOGICAL_PROCESSOR_INFORMATION_EX, Relationship);
const BODY: usize = offset_of!(SYSTEM_LOGICAL_PROCESSOR_INFORMATION_EX, Anonymous);

/// The bytes of a record. Its body depends on the relationship in its head.
struct Record<'a>(&'a [u8]);

impl Record<'_> {
    fn part(&self) -> Option<Part> {
        let relationship = self.u32(RELATIONSHIP)?.cast_signed();
        let (group_count, groups) = match relationship {
            RelationNumaNode => (
                offset_of!(NUMA_NODE_RELATIONSHIP, GroupCount),
                offset_of!(NUMA_NODE_RELATIONSHIP, Anonymous),
            ),
            RelationCache => (
                offset_of!(CACHE_RELATIONSHIP, GroupCount),
                offset_of!(CACHE_RELATIONSHIP, Anonymous),
            ),
            _ => (
                offset_of!(PROCESSOR_RELATIONSHIP, GroupCount),
                offset_of!(PROCESSOR_RELATIONSHIP, GroupMask),
            ),
        };
        let cpus = self.cpus(BODY + group_count, BODY + groups)?;
        let kind = match relationship {
            RelationProcessorCore => Kind::Core,
            RelationProcessorPackage => Kind::Package,
            RelationNumaNode => {
                let number = self.u32(BODY + offset_of!(NUMA_NODE_RELATIONSHIP, NodeNumber))?;
                Kind::Node(number as usize)
            }
            RelationCache => Kind::Cache(self.cache(cpus.len())?),
            _ => return None,
        };
        Some(Part { kind, cpus })
    }

    /// The CPUs in an array of groups.
    fn cpus(&self, group_count: usize, groups: usize) -> Option<Vec<usize>> {
        // Older systems leave the count of a cache or a node at 0: there is one group.
        let count = usize::from(self.u16(group_count)?).max(1);
        let mut cpus = Vec::new();
        for index in 0..count {
            let affinity = groups + index * size_of::<GROUP_AFFINITY>();
            let mask = self.bytes(affinity + offset_of!(GROUP_AFFINITY, Mask))?;
            let group = self.u16(affinity + offset_of!(GROUP_AFFINITY, Group))?;
            cpus.extend(cpus_in(group, usize::from_ne_bytes(mask)));
        }
        Some(cpus)
    }

    fn cache(&self, shared_by_cpus: usize) -> Option<Cache> {
        let kind = self.u32(BODY + offset_of!(CACHE_RELATIONSHIP, Type))?;
        let kind = match kind.cast_signed() {
            CacheUnified => CacheKind::Unified,
            CacheData => CacheKind::Data,
            CacheInstruction => CacheKind::Instruction,
            _ => return None,
        };
        let [level] = self.bytes(BODY + offset_of!(CACHE_RELATIONSHIP, Level))?;
        let [ways] = self.bytes(BODY + offset_of!(CACHE_RELATIONSHIP, Associativity))?;
        let size_bytes = self.u32(BODY + offset_of!(CACHE_RELATIONSHIP, CacheSize))?;
        let line_bytes = self.u16(BODY + offset_of!(CACHE_RELATIONSHIP, LineSize))?;
        Some(Cache {
            level: level.into(),
            kind,
            size_bytes: Some(size_bytes.into()),
            line_bytes: Some(line_bytes.into()),
            // 255 means a fully associative cache, which has no number of ways.
            ways: Some(ways.into()).filter(|ways| (1..255).contains(ways)),
            shared_by_cpus,
            instances: 1,
        })
    }

    fn u16(&self, offset: usize) -> Option<u16> {
        self.bytes(offset).map(u16::from_ne_bytes)
    }

    fn u32(&self, offset: usize) -> Option<u32> {
        self.bytes(offset).map(u32::from_ne_bytes)
    }

    fn bytes<const LEN: usize>(&self, offset: usize) -> Option<[u8; LEN]> {
        self.0.get(offset..)?.first_chunk().copied()
    }
}

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

/// Without the memory of the file cache, which is available as well: the system does not report it
/// for a node. `None` for a node with 0 bytes, which has no memory.
fn available_bytes(node: usize) -> Option<u64> {
    let mut bytes = 0;
    // SAFETY: there is room for the result.
    let outcome =
        unsafe { GetNumaAvailableMemoryNodeEx(u16::try_from(node).ok()?, &raw mut bytes) };
    (outcome != 0 && bytes > 0).then_some(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A record with one group.
    fn record(relationship: i32, body: &[(usize, &[u8])], mask: u64, mask_at: usize) -> Vec<u8> {
        let mut record = vec![0; 64];
        let mut put =
            |offset: usize, bytes: &[u8]| record[offset..][..bytes.len()].copy_from_slice(bytes);
        put(RELATIONSHIP, &relationship.to_ne_bytes());
        put(SIZE, &64_u32.to_ne_bytes());
        put(BODY + mask_at, &mask.to_ne_bytes());
        for (offset, bytes) in body {
            put(BODY + offset, bytes);
        }
        record
    }

    #[test]
    fn records_become_parts_and_unknown_ones_are_left_out() {
        let mask_at = offset_of!(PROCESSOR_RELATIONSHIP, GroupMask);
        let cache = [
            (offset_of!(CACHE_RELATIONSHIP, Level), &[3_u8][..]),
            (offset_of!(CACHE_RELATIONSHIP, Associativity), &[16]),
            (
                offset_of!(CACHE_RELATIONSHIP, LineSize),
                &64_u16.to_ne_bytes(),
            ),
            (
                offset_of!(CACHE_RELATIONSHIP, CacheSize),
                &(32_u32 << 20).to_ne_bytes(),
            ),
        ];
        let cache_mask_at = offset_of!(CACHE_RELATIONSHIP, Anonymous);
        let records = [
            record(RelationProcessorCore, &[], 0b11, mask_at),
            record(77, &[], 0b1111, mask_at),
            record(RelationCache, &cache, 0b1111, cache_mask_at),
        ]
        .concat();
        let cache = Cache {
            level: 3,
            kind: CacheKind::Unified,
            size_bytes: Some(32 << 20),
            line_bytes: Some(64),
            ways: Some(16),
            shared_by_cpus: 4,
            instances: 1,
        };
        let expected = [
            Part {
                kind: Kind::Core,
                cpus: vec![0, 1],
            },
            Part {
                kind: Kind::Cache(cache),
                cpus: vec![0, 1, 2, 3],
            },
        ];
        assert_eq!(parse(&records), expected);
        // The last record is cut short.
        assert_eq!(parse(&records[..150]), expected[..1]);
        assert_eq!(parse(&[0; 64]), []);
    }

    #[test]
    fn this_machine_has_cores_with_different_cpus() {
        let mut cpus = all_cpus();
        let count = cpus.len();
        assert!(count > 0);
        cpus.sort_unstable();
        cpus.dedup();
        assert_eq!(cpus.len(), count);
    }

    #[test]
    fn cpus_are_numbered_across_groups() {
        assert_eq!(cpus_in(0, 0b101), [0, 2]);
        assert_eq!(cpus_in(1, 0b10), [GROUP_CPUS + 1]);
    }
}
