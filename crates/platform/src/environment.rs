//! The conditions of a measurement that may differ between runs: system, settings, limits, build.

use std::collections::BTreeMap;
use std::fmt;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A family of operating systems, whose members do a thing by the same calls.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum System {
    /// Linux.
    Linux,
    /// Windows NT and its successors.
    Windows,
    /// Any other.
    Other,
}

impl System {
    /// The system for which this program was built.
    pub fn here() -> System {
        if cfg!(windows) {
            System::Windows
        } else {
            System::Linux
        }
    }
}

impl fmt::Display for System {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Linux => "Linux",
            Self::Windows => "Windows",
            Self::Other => "another system",
        })
    }
}

/// The conditions of a measurement. Hardware is in [`crate::machine::Machine`].
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Environment {
    /// Name of the distribution or system, e.g. `Debian GNU/Linux`.
    pub os_name: Option<String>,
    /// Its version, e.g. `12 (bookworm)`.
    pub os_version: Option<String>,
    /// Name of the kernel, e.g. `Linux`.
    pub kernel_name: Option<String>,
    /// Its release, e.g. `6.1.0-18-amd64`.
    pub kernel_release: Option<String>,
    /// Its build, e.g. `#1 SMP PREEMPT_DYNAMIC …`.
    pub kernel_version: Option<String>,
    /// The program that stands in for this system, e.g. `Wine 8.0`. Times measured under it say nothing
    /// about the system itself.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stand_in: Option<String>,
    /// Compilation of this program.
    pub build: Build,
    /// The command line of this process.
    pub command_line: Vec<String>,
    /// True if this process has the rights of root (effective user 0).
    pub is_root: Option<bool>,
    /// Each hardware vulnerability and its mitigation, in the kernel's words.
    pub mitigations: BTreeMap<String, String>,
    /// True if Microsoft Defender looks through files when programs open them; `None` where there is no
    /// Defender.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub defender_watches: Option<bool>,
    /// True if another program traces this process, as a debugger or `strace` does: each system call then
    /// costs what the tracer takes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub is_traced: Option<bool>,
    /// Number of seccomp filters through which each system call of this process passes; containers have
    /// one or two.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub seccomp_filters: Option<u32>,
    /// True if the machine runs on a battery, on which many clock their processors lower.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub is_on_battery: Option<bool>,
    /// The share of the last minute before the run in which some program waited for memory.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub memory_pressure: Option<f64>,
    /// Control of the CPU's clock frequency.
    pub frequency: Frequency,
    /// True if simultaneous multithreading is active: two hardware threads share a core.
    pub smt_active: Option<bool>,
    /// CPUs that the scheduler does not use by default.
    pub isolated_cpus: Option<Vec<usize>>,
    /// The hardware behind the clocks, e.g. `tsc`.
    pub clock_source: Option<String>,
    /// Policy for transparent huge pages: `always`, `madvise` or `never`.
    pub transparent_huge_pages: Option<String>,
    /// True if this virtual machine reports its free pages to its host, which may take them back.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub free_page_reporting: Option<bool>,
    /// Size of the smallest free block that the kernel would report, in bytes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reported_block_bytes: Option<u64>,
    /// Swap space, in bytes; 0 means none.
    pub swap_total_bytes: Option<u64>,
    /// Preference for swapping memory of programs over dropping pages of files, from 0 to 200
    /// (`vm.swappiness`).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub swappiness: Option<u32>,
    /// Memory available without swapping, in bytes, regardless of cgroup limits.
    pub memory_available_bytes: Option<u64>,
    /// Policy for memory overcommit.
    pub overcommit: Option<Overcommit>,
    /// Extent of address-space randomisation.
    pub address_randomisation: Option<AddressRandomisation>,
    /// Limits from the control groups of this process.
    pub cgroup: CgroupLimits,
    /// Runnable processes, averaged over 1, 5 and 15 minutes.
    pub load_average: Option<[f64; 3]>,
    /// Time since the system started, in seconds.
    pub uptime_seconds: Option<f64>,
}

/// Control of the first CPU's clock frequency. All fields are `None` in most virtual machines.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Frequency {
    /// The kernel's driver, e.g. `intel_pstate`.
    pub driver: Option<String>,
    /// Its policy, e.g. `powersave`.
    pub governor: Option<String>,
    /// True if the frequency may exceed the nominal one.
    pub turbo: Option<bool>,
    /// Current frequency, in Hz.
    pub current_hz: Option<f64>,
    /// Minimum frequency allowed, in Hz.
    pub minimum_hz: Option<f64>,
    /// Maximum frequency allowed, in Hz.
    pub maximum_hz: Option<f64>,
}

/// Policy for memory overcommit
/// ([proc_sys_vm(5)](https://man7.org/linux/man-pages/man5/proc_sys_vm.5.html),
/// `overcommit_memory`).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Overcommit {
    /// The kernel refuses obvious overcommit.
    Heuristic,
    /// The kernel grants every allocation.
    Always,
    /// The kernel grants nothing beyond the commit limit.
    Never,
}

/// Extent of address-space randomisation
/// ([proc_sys_kernel(5)](https://man7.org/linux/man-pages/man5/proc_sys_kernel.5.html),
/// `randomize_va_space`).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum AddressRandomisation {
    /// None.
    Off,
    /// Mappings, stack and vDSO.
    WithoutHeap,
    /// Mappings, stack, vDSO and heap.
    Full,
}

/// The tightest limits of all control groups that contain this process; `None` means unlimited or
/// unknown.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct CgroupLimits {
    /// Memory, in bytes.
    pub memory_bytes: Option<u64>,
    /// CPU time per wall time: 1.5 means one and a half CPUs.
    pub cpus: Option<f64>,
}

/// Compilation of this program.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Build {
    /// Version of oscope.
    pub program_version: String,
    /// The compiler, e.g. `rustc 1.95.0 (59807616e 2026-04-14)`.
    pub compiler: Option<String>,
    /// Target triple.
    pub target: Option<String>,
    /// Optimisation level: `0`, `1`, `2`, `3`, `s` or `z`.
    pub optimisation_level: Option<String>,
    /// Additional compiler flags; `None` if there were none.
    pub flags: Option<String>,
}

impl Environment {
    /// The system, by the name of its kernel; `None` if that is not known.
    pub fn system(&self) -> Option<System> {
        Some(match self.kernel_name.as_deref()? {
            "Linux" => System::Linux,
            "Windows NT" => System::Windows,
            _ => System::Other,
        })
    }
}

impl Build {
    /// The build of the running program.
    pub fn of_this_program() -> Self {
        let known = |value: &str| (!value.is_empty()).then(|| value.to_owned());
        Self {
            program_version: env!("CARGO_PKG_VERSION").to_owned(),
            compiler: known(env!("OSCOPE_BUILD_COMPILER")),
            target: known(env!("OSCOPE_BUILD_TARGET")),
            optimisation_level: known(env!("OSCOPE_BUILD_OPTIMISATION")),
            flags: known(env!("OSCOPE_BUILD_FLAGS")),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_record_shows_its_system_by_its_kernel() {
        let of = |name: Option<&str>| {
            let kernel_name = name.map(str::to_owned);
            let environment = Environment {
                kernel_name,
                ..Environment::default()
            };
            environment.system()
        };
        assert_eq!(of(Some("Linux")), Some(System::Linux));
        assert_eq!(of(Some("Windows NT")), Some(System::Windows));
        assert_eq!(of(Some("FreeBSD")), Some(System::Other));
        assert_eq!(of(None), None);
    }

    #[test]
    fn this_system_is_read() {
        let environment = Environment::read();
        assert_eq!(environment.system(), Some(System::here()));
        assert!(environment.kernel_release.is_some(), "{environment:?}");
        assert!(environment.uptime_seconds > Some(0.0));
        assert!(environment.memory_available_bytes > Some(0));
        assert!(!environment.command_line.is_empty());
        assert_eq!(environment.build.program_version, env!("CARGO_PKG_VERSION"));
        let compiler = environment.build.compiler.as_deref();
        assert!(compiler.is_some_and(|compiler| compiler.starts_with("rustc ")));
        let stored = serde_json::to_string(&environment).unwrap();
        let restored: Environment = serde_json::from_str(&stored).unwrap();
        assert_eq!(restored.mitigations, environment.mitigations);
        assert_eq!(restored.build, environment.build);
        assert_eq!(restored.cgroup, environment.cgroup);
    }
}
