//! The machine, and those parts of its state that affect the numbers, in a few lines.

use super::style::Style;
use super::text::labelled;
use instrument::quantity::{Unit, counted, significant};
use platform::environment::Environment;
use platform::machine::{Cache, CacheKind, Machine};
use platform::storage::Storage;

/// One line each for processor, caches, memory, system, storage and settings. Unknown facts are
/// left out.
pub fn machine(
    machine: &Machine,
    environment: &Environment,
    storage: Option<&Storage>,
    style: &Style,
) -> String {
    let caches = machine
        .caches
        .iter()
        .filter(|cache| cache.kind != CacheKind::Instruction);
    let lines = [
        ("processor", processor(machine)),
        ("caches", join(caches.filter_map(cache))),
        ("memory", memory(machine, environment)),
        ("system", system(environment)),
        ("storage", storage.map_or_else(String::new, behind)),
        ("settings", settings(environment)),
    ];
    let known: Vec<_> = lines
        .into_iter()
        .filter(|(_, text)| !text.is_empty())
        .collect();
    labelled(&known, style)
}

fn processor(machine: &Machine) -> String {
    let topology = &machine.topology;
    let known = |number: Option<usize>, thing: &str| number.map(|number| counted(number, thing));
    let name = machine
        .cpu
        .model
        .clone()
        .unwrap_or_else(|| machine.cpu.architecture.clone());
    join(
        [
            Some(name),
            known(topology.sockets.filter(|sockets| *sockets > 1), "socket"),
            known(topology.cores, "core"),
            known(topology.threads, "thread"),
            known(topology.numa_nodes.filter(|nodes| *nodes > 1), "NUMA node"),
            machine
                .hypervisor
                .as_ref()
                .map(|hypervisor| format!("virtualised by {hypervisor}")),
        ]
        .into_iter()
        .flatten(),
    )
}

fn cache(cache: &Cache) -> Option<String> {
    let kind = if cache.kind == CacheKind::Data {
        " data"
    } else {
        ""
    };
    let shared = match cache.shared_by_cpus {
        0 | 1 => String::new(),
        cpus => format!(" for {cpus} threads"),
    };
    Some(format!(
        "L{}{kind} {}{shared}",
        cache.level,
        size(cache.size_bytes?)
    ))
}

fn memory(machine: &Machine, environment: &Environment) -> String {
    let limit = environment.cgroup.memory_bytes;
    join(
        [
            machine.memory_bytes.map(size),
            limit.map(|bytes| format!("limited to {}", size(bytes))),
            environment
                .memory_available_bytes
                .map(|bytes| format!("{} available", size(bytes))),
            machine
                .page_bytes
                .map(|bytes| format!("pages of {}", size(bytes))),
            machine
                .huge_page_bytes
                .map(|bytes| format!("huge pages of {}", size(bytes))),
            environment.swap_total_bytes.map(|bytes| match bytes {
                0 => "no swap".into(),
                bytes => format!("{} of swap", size(bytes)),
            }),
        ]
        .into_iter()
        .flatten(),
    )
}

fn system(environment: &Environment) -> String {
    let pair = |name: &Option<String>, version: &Option<String>| match (name, version) {
        (Some(name), Some(version)) => Some(format!("{name} {version}")),
        (one, other) => one.clone().or_else(|| other.clone()),
    };
    join(
        [
            pair(&environment.os_name, &environment.os_version),
            pair(&environment.kernel_name, &environment.kernel_release),
        ]
        .into_iter()
        .flatten(),
    )
}

fn behind(storage: &Storage) -> String {
    let kind = storage
        .rotational
        .map(|turns| if turns { "rotating" } else { "not rotating" });
    let on = storage.block_device.as_ref().or(storage.source.as_ref());
    let on = on.map_or_else(String::new, |device| format!(" on {device}"));
    join(
        [
            Some(format!("{}{on}", storage.file_system)),
            storage.is_memory().then(|| "in memory".into()),
            storage.is_remote().then(|| "on another machine".into()),
            kind.map(str::to_owned),
            storage
                .scheduler
                .as_ref()
                .map(|scheduler| format!("scheduler {scheduler}")),
            storage
                .read_ahead_bytes
                .map(|bytes| format!("read-ahead {}", size(bytes))),
            Some(format!(
                "{} of {} free",
                size(storage.free_bytes),
                size(storage.total_bytes)
            )),
        ]
        .into_iter()
        .flatten(),
    )
}

fn settings(environment: &Environment) -> String {
    let frequency = &environment.frequency;
    // The kernel lists all hardware vulnerabilities that it knows, including those that do not
    // affect this machine.
    let active = environment
        .mitigations
        .values()
        .filter(|state| state.starts_with("Mitigation"));
    let active = match active.count() {
        0 => None,
        number => Some(format!("{} active", counted(number, "mitigation"))),
    };
    let on = |setting: bool| if setting { "on" } else { "off" };
    join(
        [
            frequency
                .governor
                .as_ref()
                .map(|governor| format!("governor {governor}")),
            frequency.turbo.map(|turbo| format!("turbo {}", on(turbo))),
            environment.smt_active.map(|smt| format!("SMT {}", on(smt))),
            environment
                .transparent_huge_pages
                .as_ref()
                .map(|state| format!("transparent huge pages {state}")),
            active,
            environment
                .defender_watches
                .map(|watches| format!("Defender {}", on(watches))),
            environment
                .cgroup
                .cpus
                .map(|cpus| format!("limited to {}", counted(significant(cpus, 3), "processor"))),
            environment
                .load_average
                .map(|[load, ..]| format!("load {}", significant(load, 2))),
        ]
        .into_iter()
        .flatten(),
    )
}

fn size(bytes: u64) -> String {
    Unit::Bytes.show(bytes as f64, 3)
}

fn join(parts: impl Iterator<Item = String>) -> String {
    parts.collect::<Vec<_>>().join(", ")
}
