//! The machine and its state, as pairs of name and value.

use crate::document::{Blocks, Piece, Text};
use crate::lists::joined;
use crate::show::{self, gigahertz};
use instrument::quantity::{Unit, counted, significant};
use platform::machine::Cache;
use record::Run;
use std::fmt::Display;

/// All known facts of the machine of `run`, those of its build and its mitigations folded.
pub(crate) fn machine<'a>(run: &Run) -> Blocks<'a> {
    let groups = [processor, caches, memory, system, settings, storage];
    let groups = groups.into_iter().fold(Blocks::default(), |blocks, group| {
        let (title, pairs) = group(run);
        blocks.section(title, facts(pairs))
    });
    [build, mitigations]
        .into_iter()
        .fold(groups, |blocks, group| {
            let (title, pairs) = group(run);
            blocks.fold(title, facts(pairs))
        })
}

/// Facts that few machines have. Nobody misses them elsewhere.
const SAID_IF_KNOWN: [&str; 4] = [LIMIT, REPORTED, REDACTED, DEFENDER];
const LIMIT: &str = "Limit of the control group";
const REPORTED: &str = "Free pages reported to the host";
const REDACTED: &str = "Redacted";
const DEFENDER: &str = "Microsoft Defender watches files";

/// The known facts, and the names of those that the system did not report.
fn facts<'a>(pairs: Vec<(String, Option<String>)>) -> Blocks<'a> {
    let names = pairs.iter().map(|(name, value)| match value {
        None if !SAID_IF_KNOWN.contains(&name.as_str()) => name,
        _ => "",
    });
    let unknown = joined(" · ", names);
    let known = pairs
        .into_iter()
        .filter_map(|(name, value)| Some((name, Text::from(value?))));
    let unknown =
        (!unknown.is_empty()).then(|| ("Not known".to_owned(), Piece::faint(unknown).into()));
    Blocks::default().facts(known.chain(unknown))
}

type Group = (&'static str, Vec<(String, Option<String>)>);

fn pair(name: &str, value: Option<impl Display>) -> (String, Option<String>) {
    (name.to_owned(), value.map(|value| value.to_string()))
}

fn bytes(bytes: u64) -> String {
    Unit::Bytes.show(bytes as f64, 3)
}

fn yes_no(yes: bool) -> &'static str {
    if yes { "yes" } else { "no" }
}

fn processor(run: &Run) -> Group {
    let (cpu, topology) = (&run.machine.cpu, &run.machine.topology);
    let numbers = [
        (topology.sockets, "socket"),
        (topology.cores, "core"),
        (topology.threads, "hardware thread"),
        (topology.numa_nodes, "NUMA node"),
    ];
    let numbers = numbers
        .into_iter()
        .filter_map(|(count, name)| Some(counted(count?, name)));
    let identity = [
        ("family", cpu.family),
        ("model", cpu.model_number),
        ("stepping", cpu.stepping),
    ];
    let identity = identity
        .into_iter()
        .filter_map(|(name, number)| Some(format!("{name} {}", number?)));
    let some = |text: String| (!text.is_empty()).then_some(text);
    let pairs = vec![
        pair("Model", cpu.model.as_ref()),
        pair("Vendor", cpu.vendor.as_ref()),
        pair("Identity", some(joined(", ", identity))),
        pair("Architecture", some(cpu.architecture.clone())),
        pair("Topology", some(joined(", ", numbers))),
        pair("Extensions", some(cpu.features.join(", "))),
    ];
    ("Processor", pairs)
}

fn caches(run: &Run) -> Group {
    let named = |cache: &Cache| {
        let size = cache.size_bytes.map(|size| match cache.instances {
            0 | 1 => bytes(size),
            instances => format!("{instances} × {}", bytes(size)),
        });
        let details = [
            size,
            cache.ways.map(|ways| format!("{ways} ways")),
            cache.line_bytes.map(|line| format!("lines of {line} B")),
            (cache.shared_by_cpus > 1).then(|| format!("shared by {}", cache.shared_by_cpus)),
        ];
        let details = joined(", ", details.into_iter().flatten());
        (format!("L{} {}", cache.level, cache.kind), Some(details))
    };
    (
        "Caches, as documented",
        run.machine.caches.iter().map(named).collect(),
    )
}

fn memory(run: &Run) -> Group {
    let (machine, environment) = (&run.machine, &run.environment);
    let pairs = vec![
        pair("Installed", machine.memory_bytes.map(bytes)),
        pair(
            "Available at the start",
            environment.memory_available_bytes.map(bytes),
        ),
        pair(LIMIT, environment.cgroup.memory_bytes.map(bytes)),
        pair("Page", machine.page_bytes.map(bytes)),
        pair("Huge page", machine.huge_page_bytes.map(bytes)),
        pair(
            "Transparent huge pages",
            environment.transparent_huge_pages.as_ref(),
        ),
        pair(REPORTED, environment.free_page_reporting.map(yes_no)),
        pair("Swap", environment.swap_total_bytes.map(bytes)),
    ];
    ("Memory", pairs)
}

fn system(run: &Run) -> Group {
    let (machine, environment) = (&run.machine, &run.environment);
    let both = |parts: [&Option<String>; 2]| {
        let known = joined(" ", parts.into_iter().flatten().map(String::as_str));
        Some(known).filter(|known| !known.is_empty())
    };
    let load = environment
        .load_average
        .map(|load| load.map(|load| significant(load, 2)).join(" · "));
    let marks = "marks replace what named the machine and its people";
    let uptime = environment
        .uptime_seconds
        .map(|seconds| show::length(seconds * 1e9));
    let pairs = vec![
        pair(
            "System",
            both([&environment.os_name, &environment.os_version]),
        ),
        pair(
            "Kernel",
            both([&environment.kernel_name, &environment.kernel_release]),
        ),
        pair("Kernel build", environment.kernel_version.as_ref()),
        pair("Virtualised by", machine.hypervisor.as_ref()),
        pair("Product", machine.product.as_ref()),
        pair("Load over 1, 5 and 15 minutes", load),
        pair("Up for", uptime),
        pair("Fingerprint", Some(&run.header.machine_fingerprint)),
        pair(REDACTED, run.header.redacted.then_some(marks)),
    ];
    ("System", pairs)
}

fn settings(run: &Run) -> Group {
    let environment = &run.environment;
    let frequency = &environment.frequency;
    let range = match (frequency.minimum_hz, frequency.maximum_hz) {
        (Some(low), Some(high)) => Some(format!("{} to {}", gigahertz(low), gigahertz(high))),
        _ => None,
    };
    let isolated = environment.isolated_cpus.as_ref().map(|cpus| {
        let cpus: Vec<String> = cpus.iter().map(ToString::to_string).collect();
        if cpus.is_empty() {
            "none".to_owned()
        } else {
            cpus.join(", ")
        }
    });
    let limit = environment
        .cgroup
        .cpus
        .map(|cpus| counted(significant(cpus, 3), "processor"));
    let pairs = vec![
        pair("Governor", frequency.governor.as_ref()),
        pair("Turbo", frequency.turbo.map(yes_no)),
        pair("Clock at the start", frequency.current_hz.map(gigahertz)),
        pair("Clock range", range),
        pair(
            "Hardware threads share cores (SMT)",
            environment.smt_active.map(yes_no),
        ),
        pair("Isolated processors", isolated),
        pair("CPU limit of the control group", limit),
        pair("Clock source", environment.clock_source.as_ref()),
        pair("Rights of root", environment.is_root.map(yes_no)),
        pair(DEFENDER, environment.defender_watches.map(yes_no)),
    ];
    ("Settings", pairs)
}

fn storage(run: &Run) -> Group {
    if run.header.is_reported() {
        return ("Storage", Vec::new());
    }
    let directory = pair("Scratch directory", Some(run.header.directory.display()));
    let Some(storage) = &run.storage else {
        return ("Storage", vec![directory]);
    };
    let free = 1.0 - storage.free_bytes as f64 / storage.total_bytes.max(1) as f64;
    let pairs = vec![
        directory,
        pair("File system", Some(&storage.file_system)),
        pair("Mounted at", Some(storage.mount_point.display())),
        pair("Mounted with", Some(storage.mount_options.join(", "))),
        pair("Source", storage.source.as_ref()),
        pair("Device", storage.block_device.as_ref()),
        pair("Rotational", storage.rotational.map(yes_no)),
        pair("Scheduler", storage.scheduler.as_ref()),
        pair("Read-ahead", storage.read_ahead_bytes.map(bytes)),
        pair(
            "Size",
            Some(format!(
                "{}, {} in use",
                bytes(storage.total_bytes),
                Unit::Share.show(free, 2)
            )),
        ),
    ];
    ("Storage", pairs)
}

fn build(run: &Run) -> Group {
    let build = &run.environment.build;
    let pairs = vec![
        pair("oscope", Some(&run.header.version)),
        pair("Compiler", build.compiler.as_ref()),
        pair("Target", build.target.as_ref()),
        pair("Optimisation level", build.optimisation_level.as_ref()),
        pair(
            "Further flags",
            Some(build.flags.as_deref().unwrap_or("none")),
        ),
    ];
    ("How oscope was built", pairs)
}

fn mitigations(run: &Run) -> Group {
    let known = &run.environment.mitigations;
    let pairs = known
        .iter()
        .map(|(name, state)| (name.clone(), Some(state.clone())));
    ("Mitigations of the processor's weaknesses", pairs.collect())
}
