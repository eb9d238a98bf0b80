//! What surrounds a measurement and may differ the next time: system, settings, limits, build.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::os;

/// The surroundings of a measurement. Hardware is in [`crate::machine::Machine`].
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
    /// How and when it was built, e.g. `#1 SMP PREEMPT_DYNAMIC …`.
    pub kernel_version: Option<String>,
    /// How this program was compiled.
    pub build: Build,
    /// The command line of this process.
    pub command_line: Vec<String>,
    /// Whether this process has the rights of root (effective user 0).
    pub is_root: Option<bool>,
    /// Hardware vulnerability to what is done about it, in the kernel's words.
    pub mitigations: BTreeMap<String, String>,
    /// How the clock frequency of the CPU is governed.
    pub frequency: Frequency,
    /// Whether two hardware threads share a core.
    pub smt_active: Option<bool>,
    /// CPUs that the scheduler leaves alone.
    pub isolated_cpus: Option<Vec<usize>>,
    /// The hardware behind the clocks, e.g. `tsc`.
    pub clock_source: Option<String>,
    /// When memory is backed by huge pages: `always`, `madvise` or `never`.
    pub transparent_huge_pages: Option<String>,
    /// Swap space, in bytes; 0 is none.
    pub swap_total_bytes: Option<u64>,
    /// Memory that could be had without swapping, in bytes, before any cgroup limit.
    pub memory_available_bytes: Option<u64>,
    /// Whether more memory is promised than there is.
    pub overcommit: Option<Overcommit>,
    /// How much of the address space is placed at random.
    pub address_randomisation: Option<AddressRandomisation>,
    /// What the control groups of this process allow it.
    pub cgroup: CgroupLimits,
    /// Runnable processes, averaged over 1, 5 and 15 minutes.
    pub load_average: Option<[f64; 3]>,
    /// Since the system started, in seconds.
    pub uptime_seconds: Option<f64>,
}

/// How the clock frequency of the first CPU is governed. All `None` in most virtual machines.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Frequency {
    /// The kernel's driver, e.g. `intel_pstate`.
    pub driver: Option<String>,
    /// Its policy, e.g. `powersave`.
    pub governor: Option<String>,
    /// Whether the clock may rise above its nominal frequency.
    pub turbo: Option<bool>,
    /// Now, in Hz.
    pub current_hz: Option<f64>,
    /// The lowest that is allowed, in Hz.
    pub minimum_hz: Option<f64>,
    /// The highest that is allowed, in Hz.
    pub maximum_hz: Option<f64>,
}

/// Whether more memory is promised than there is
/// ([proc_sys_vm(5)](https://man7.org/linux/man-pages/man5/proc_sys_vm.5.html), `overcommit_memory`).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Overcommit {
    /// Obvious excess is refused.
    Heuristic,
    /// Everything is promised.
    Always,
    /// Nothing beyond the commit limit is promised.
    Never,
}

/// How much of the address space is placed at random
/// ([proc_sys_kernel(5)](https://man7.org/linux/man-pages/man5/proc_sys_kernel.5.html),
/// `randomize_va_space`).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum AddressRandomisation {
    /// Nothing.
    Off,
    /// Mappings, stack and vDSO.
    WithoutHeap,
    /// These and the heap.
    Full,
}

/// The tightest limits among the control groups that hold this process; `None` is unlimited or
/// unknown.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct CgroupLimits {
    /// Memory, in bytes.
    pub memory_bytes: Option<u64>,
    /// CPU time per wall time: 1.5 is one and a half CPUs.
    pub cpus: Option<f64>,
}

/// How this program was compiled.
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
    /// Further compiler flags; `None` if there were none.
    pub flags: Option<String>,
}

impl Environment {
    /// Asks the system.
    pub fn read() -> Self {
        os::environment::read()
    }
}

impl Build {
    /// Of the running program.
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
