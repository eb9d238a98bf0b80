//! The hardware, as far as it is constant across reboots.

use std::fmt;
use std::fmt::Write as _;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

pub use crate::os::machine::hypervisor;

/// Stable facts about the machine. What may change without a new machine (load, clock frequency,
/// kernel, settings) is in [`crate::environment::Environment`].
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Machine {
    /// The processor.
    pub cpu: Cpu,
    /// Numbers of sockets, cores, threads and nodes.
    pub topology: Topology,
    /// The caches as the CPU reports them, from the first level outwards. A virtual machine may
    /// report those of its host: 300 MiB of L3 need not be its own.
    pub caches: Vec<Cache>,
    /// Memory that the kernel manages, in bytes: the installed memory less the parts reserved by
    /// firmware and kernel.
    pub memory_bytes: Option<u64>,
    /// Base page size, in bytes.
    pub page_bytes: Option<u64>,
    /// Size of transparent huge pages, in bytes.
    pub huge_page_bytes: Option<u64>,
    /// The hypervisor, e.g. `KVM`; `None` on bare metal or if it is hidden.
    pub hypervisor: Option<String>,
    /// Vendor and name of the machine, from its firmware.
    pub product: Option<String>,
    /// SHA-256 (hexadecimal) of the installation's own identifier, which itself should not leave
    /// the machine ([machine-id(5)](https://man7.org/linux/man-pages/man5/machine-id.5.html)).
    pub installation: Option<String>,
}

/// A processor.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Cpu {
    /// Instruction set, e.g. `x86_64`, `aarch64`.
    pub architecture: String,
    /// Vendor, e.g. `GenuineIntel`; on ARM the implementer's code, e.g. `0x41`.
    pub vendor: Option<String>,
    /// Name for people, e.g. `Intel(R) Xeon(R) Processor`.
    pub model: Option<String>,
    /// x86 family; on ARM the part number.
    pub family: Option<u32>,
    /// x86 model number; on ARM the variant.
    pub model_number: Option<u32>,
    /// x86 stepping; on ARM the revision.
    pub stepping: Option<u32>,
    /// Instruction-set extensions available to programs; on x86-64 those that kernels and string
    /// functions use for their selection.
    pub features: Vec<String>,
}

/// Numbers of sockets, cores, threads and nodes.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Topology {
    /// Processor packages.
    pub sockets: Option<usize>,
    /// Physical cores online.
    pub cores: Option<usize>,
    /// Hardware threads online.
    pub threads: Option<usize>,
    /// Hardware threads present, online or offline.
    pub threads_present: Option<usize>,
    /// NUMA nodes with memory.
    pub numa_nodes: Option<usize>,
    /// CPUs of each type of core, the fastest type first; empty if all cores are alike, or if the system
    /// does not report types.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub core_types: Vec<Vec<usize>>,
}

impl Topology {
    /// The place of the core of `cpu` in [`Topology::core_types`]; `None` if all cores are alike.
    pub fn core_type(&self, cpu: usize) -> Option<usize> {
        self.core_types.iter().position(|cpus| cpus.contains(&cpu))
    }
}

/// Contents of a cache.
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "snake_case")]
pub enum CacheKind {
    /// Data only.
    Data,
    /// Instructions only.
    Instruction,
    /// Both.
    Unified,
}

impl fmt::Display for CacheKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Self::Data => "data",
            Self::Instruction => "instruction",
            Self::Unified => "unified",
        })
    }
}

/// All caches of one sort.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
pub struct Cache {
    /// Cache level; 1 is nearest to the core.
    pub level: u32,
    /// Contents.
    pub kind: CacheKind,
    /// Size of one instance, in bytes.
    pub size_bytes: Option<u64>,
    /// Cache line size, in bytes.
    pub line_bytes: Option<u64>,
    /// Associativity.
    pub ways: Option<u32>,
    /// Number of hardware threads that share one instance.
    pub shared_by_cpus: usize,
    /// Number of instances.
    pub instances: usize,
}

impl Cache {
    /// One entry for each sort of these instances.
    pub(crate) fn sorts(mut instances: Vec<Self>) -> Vec<Self> {
        instances.sort_unstable();
        let sorts = instances.chunk_by(PartialEq::eq).map(|sort| Self {
            instances: sort.len(),
            ..sort[0].clone()
        });
        sorts.collect()
    }
}

impl Machine {
    /// A short name for this machine: 16 hexadecimal digits. It is the same after a reboot, under
    /// another kernel and under any load, and different on another machine or installation.
    ///
    /// Identical machines without an installation identifier (some containers) share a name. The
    /// fingerprint excludes everything that a kernel or its settings can change (features, online
    /// threads and cores, sharing of caches). It excludes the exact memory size, which varies with
    /// the kernel's reservations, and includes the size rounded up to an eighth of a power of two.
    pub fn fingerprint(&self) -> String {
        format!("{:.16x}", Sha256::digest(self.identity()))
    }

    /// The facts in the fingerprint, one per line.
    fn identity(&self) -> String {
        let cpu = &self.cpu;
        let memory = self.memory_bytes.map(rounded_memory);
        let mut text = format!(
            "oscope machine 1\n{}\n{:?}\n{:?}\n{:?} {:?} {:?}\n{:?}\n{memory:?}\n{:?}\n{:?}\n{:?}\n{:?}\n",
            cpu.architecture,
            cpu.vendor,
            cpu.model,
            cpu.family,
            cpu.model_number,
            cpu.stepping,
            self.topology.threads_present,
            self.page_bytes,
            self.hypervisor,
            self.product,
            self.installation,
        );
        for cache in &self.caches {
            let Cache {
                level,
                kind,
                size_bytes,
                line_bytes,
                ..
            } = cache;
            // Writing to a String cannot fail.
            let _ = writeln!(text, "{level} {kind} {size_bytes:?} {line_bytes:?}");
        }
        text
    }
}

/// Rounded up to an eighth of the power of two above.
fn rounded_memory(bytes: u64) -> u64 {
    let step = (bytes.max(8).checked_next_power_of_two().unwrap_or(1 << 63)) / 8;
    bytes.div_ceil(step).saturating_mul(step)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn machine() -> Machine {
        Machine {
            cpu: Cpu {
                architecture: "x86_64".into(),
                model: Some("Intel(R) Xeon(R) Processor".into()),
                ..Cpu::default()
            },
            memory_bytes: Some(24_684_084 << 10),
            ..Machine::default()
        }
    }

    #[test]
    fn a_core_type_is_the_place_in_the_list_of_types() {
        let alike = Topology::default();
        let hybrid = Topology {
            core_types: vec![vec![0, 1], vec![2]],
            ..Topology::default()
        };
        assert_eq!(alike.core_type(0), None);
        assert_eq!(
            [1, 2, 3].map(|cpu| hybrid.core_type(cpu)),
            [Some(0), Some(1), None]
        );
    }

    #[test]
    fn fingerprint_ignores_what_a_kernel_can_change() {
        let before = machine();
        let mut after = machine();
        after.memory_bytes = Some(24_600_000 << 10);
        after.topology.threads = Some(1);
        after.cpu.features = vec!["avx2".into()];
        assert_eq!(before.fingerprint(), after.fingerprint());
    }

    #[test]
    fn machines_have_different_fingerprints() {
        let one = machine();
        let mut memory = machine();
        memory.memory_bytes = Some(32 << 30);
        let mut installation = machine();
        installation.installation = Some("00".into());
        assert_ne!(one.fingerprint(), memory.fingerprint());
        assert_ne!(one.fingerprint(), installation.fingerprint());
    }

    #[test]
    fn fingerprint_is_short_hexadecimal_and_the_same_when_read_again() {
        let print = Machine::read().fingerprint();
        assert_eq!(print.len(), 16);
        assert!(print.bytes().all(|byte| byte.is_ascii_hexdigit()));
        assert_eq!(print, Machine::read().fingerprint());
    }

    #[test]
    fn memory_is_rounded_up_in_eighths() {
        assert_eq!(rounded_memory(24_684_084 << 10), 24 << 30);
        assert_eq!(rounded_memory(16 << 30), 16 << 30);
        assert_eq!(rounded_memory(0), 0);
        assert!(rounded_memory(u64::MAX) > 0);
    }

    #[test]
    fn this_machine_is_read_and_stored_whole() {
        let machine = Machine::read();
        assert_eq!(machine.cpu.architecture, std::env::consts::ARCH);
        assert!(machine.memory_bytes > Some(1 << 20), "{machine:?}");
        assert!(machine.page_bytes.is_some_and(u64::is_power_of_two));
        assert!(machine.topology.threads >= machine.topology.cores);
        assert!(machine.topology.threads_present >= machine.topology.threads);
        for cache in &machine.caches {
            assert!(cache.instances > 0 && cache.shared_by_cpus > 0, "{cache:?}");
        }
        let stored = serde_json::to_string(&machine).unwrap();
        let restored: Machine = serde_json::from_str(&stored).unwrap();
        assert_eq!(restored, machine);
    }
}
