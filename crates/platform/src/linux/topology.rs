//! CPUs and caches from sysfs (`Documentation/ABI/stable/sysfs-devices-system-cpu`).

use std::collections::BTreeMap;
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use super::parse::{cpu_list, size_bytes};
use super::read::{number, text, word};
use crate::machine::{Cache, CacheKind, Topology};

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
        numa_nodes: text("/sys/devices/system/node/has_memory")
            .and_then(|list| cpu_list(&list))
            .map(|nodes| nodes.len()),
        core_types: core_types(&online.unwrap_or_default()),
    }
}

/// Intel's processors have a set of counters for each type of core. ARM's kernels give each core a
/// capacity, higher for faster ones.
fn core_types(online: &[usize]) -> Vec<Vec<usize>> {
    let of_intel = ["core", "atom"].map(|name| {
        let list = text(format!("/sys/devices/cpu_{name}/cpus"));
        list.and_then(|list| cpu_list(&list))
    });
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

/// Common properties of caches of the same sort.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Sort {
    level: u32,
    kind: CacheKind,
    size_bytes: Option<u64>,
    line_bytes: Option<u64>,
    ways: Option<u32>,
    shared_by_cpus: usize,
}

/// The caches of all online CPUs, one entry for each sort.
pub(super) fn caches() -> Vec<Cache> {
    let mut instances: BTreeMap<Sort, BTreeSet<Vec<usize>>> = BTreeMap::new();
    for cpu in cpus("online").into_iter().flatten() {
        for (sort, shared_by) in caches_of(cpu) {
            instances.entry(sort).or_default().insert(shared_by);
        }
    }
    instances
        .into_iter()
        .map(|(sort, instances)| Cache {
            level: sort.level,
            kind: sort.kind,
            size_bytes: sort.size_bytes,
            line_bytes: sort.line_bytes,
            ways: sort.ways,
            shared_by_cpus: sort.shared_by_cpus,
            instances: instances.len(),
        })
        .collect()
}

/// The caches of `cpu`, each with the CPUs that share it.
fn caches_of(cpu: usize) -> impl Iterator<Item = (Sort, Vec<usize>)> {
    let dir = cpu_dir(cpu).join("cache");
    (0..)
        .map(move |index| dir.join(format!("index{index}")))
        .take_while(|index| index.exists())
        .filter_map(|index| cache(&index))
}

/// The level of the innermost data cache that two CPUs share: 1 for threads of one core. `None` if they
/// share none or the system does not tell.
pub fn shared_cache_level(one: usize, other: usize) -> Option<u32> {
    let is_common = |(sort, shared_by): &(Sort, Vec<usize>)| {
        sort.kind != CacheKind::Instruction && shared_by.contains(&other)
    };
    let common = caches_of(one).filter(is_common);
    common.map(|(sort, _)| sort.level).min()
}

/// A cache and the CPUs that share it.
fn cache(dir: &Path) -> Option<(Sort, Vec<usize>)> {
    let shared_by = cpu_list(&text(dir.join("shared_cpu_list"))?)?;
    let kind = match text(dir.join("type"))?.as_str() {
        "Data" => CacheKind::Data,
        "Instruction" => CacheKind::Instruction,
        "Unified" => CacheKind::Unified,
        _ => return None,
    };
    let sort = Sort {
        level: number(dir.join("level"))?,
        kind,
        size_bytes: text(dir.join("size")).and_then(|size| size_bytes(&size)),
        line_bytes: number(dir.join("coherency_line_size")),
        // The kernel writes 0 for unknown.
        ways: number(dir.join("ways_of_associativity")).filter(|ways| *ways > 0),
        shared_by_cpus: shared_by.len(),
    };
    Some((sort, shared_by))
}

/// The CPUs of the core of `cpu`; empty if the system does not report them.
pub fn cpus_of_core(cpu: usize) -> Vec<usize> {
    text(cpu_dir(cpu).join("topology/thread_siblings_list"))
        .and_then(|list| cpu_list(&list))
        .unwrap_or_default()
}

/// The number of the package of `cpu`; `None` if the system does not report it.
// The id of the package of `cpu`.
pub fn package(cpu: usize) -> Option<i64> {
    number(cpu_dir(cpu).join("topology/physical_package_id"))
}

fn cpus(list: &str) -> Option<Vec<usize>> {
    cpu_list(&text(Path::new(CPUS).join(list))?)
}

fn cpu_dir(cpu: usize) -> PathBuf {
    Path::new(CPUS).join(format!("cpu{cpu}"))
}
