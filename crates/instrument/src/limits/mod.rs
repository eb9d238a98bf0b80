//! Limits on a run's use of the machine, and the run's actual use.

mod parse;

pub use parse::{KEYS, ParseLimitsError};

use crate::quantity::{Bytes, BytesPerSecond, significant};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::fmt;

/// Limits on a run's use of the machine. A field that is `None` sets no limit.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Limits {
    /// CPU time over wall time of this program and all its child processes, in per cent of one
    /// processor. Kept by rests: before each batch the run sleeps until its CPU time since the last
    /// rest is at most this share of the wall time.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub processor_percent: Option<f64>,
    /// Number of processors in use at once. Kept by the kernel: the affinity mask of the program
    /// and all its child processes holds this many processors, the last of the allowed ones.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cpus: Option<u64>,
    /// Memory of a worker and all its child processes, in bytes. Points that need more are left
    /// out. Kept by the kernel: with a control group if this user may create one, otherwise with a
    /// limit on each process's address space.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub memory_bytes: Option<u64>,
    /// Disk space of scratch files at any time, in bytes. Points that need more are left out, and
    /// the kernel lets no single file grow beyond this limit.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub disk_bytes: Option<u64>,
    /// Bytes that the whole run may write to storage, its records included. A batch does not start
    /// if its expected writes exceed the remaining bytes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub written_bytes: Option<u64>,
    /// Bytes read from and written to storage per second of wall time. Kept by rests, as for
    /// `processor`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub bytes_per_second: Option<f64>,
    /// True for idle I/O priority: disks serve the run when no other process waits. Only some I/O
    /// schedulers respect it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub idle_io: Option<bool>,
}

/// The longest time in which one process samples one metric if the run has to rest, in ns. It keeps
/// bursts short.
const LONGEST_BATCH_NS: u64 = 100_000_000;
/// Tolerated factor between measured and allowed shares of time, for the error of the clocks.
const CLOCKS_ERR: f64 = 1.005;

impl Limits {
    /// The limits of `--gentle` on a machine with this much available memory and free disk space:
    /// one processor, 25 % of its time, and at most a quarter of the available memory and of the
    /// free space.
    pub fn gentle(available_bytes: u64, free_bytes: u64) -> Self {
        const MIB: u64 = 1 << 20;
        const SHARE: u64 = 4;
        let part = |of: u64, most: u64| (of / SHARE).min(most);
        Self {
            processor_percent: Some(25.0),
            cpus: Some(1),
            memory_bytes: Some(part(available_bytes, 512 * MIB)),
            disk_bytes: Some(part(free_bytes, 512 * MIB)),
            written_bytes: Some(4096 * MIB),
            bytes_per_second: Some(32.0 * MIB as f64),
            idle_io: Some(true),
        }
    }

    /// These limits, completed by those of `others`.
    #[must_use]
    pub fn or(self, others: Self) -> Self {
        Self {
            processor_percent: self.processor_percent.or(others.processor_percent),
            cpus: self.cpus.or(others.cpus),
            memory_bytes: self.memory_bytes.or(others.memory_bytes),
            disk_bytes: self.disk_bytes.or(others.disk_bytes),
            written_bytes: self.written_bytes.or(others.written_bytes),
            bytes_per_second: self.bytes_per_second.or(others.bytes_per_second),
            idle_io: self.idle_io.or(others.idle_io),
        }
    }

    /// True if no limit is set.
    pub fn is_none(&self) -> bool {
        *self == Self::default()
    }

    /// Wall time of a run over the time of its measurements, if the measurements keep one processor
    /// busy: the effect of the rests.
    pub fn stretch(&self) -> f64 {
        self.processor_percent
            .map_or(1.0, |percent| (100.0 / percent).max(1.0))
    }

    /// The time for one metric's samples in one process: `usual_ns`, or less if the run rests.
    pub fn batch_ns(&self, usual_ns: u64) -> u64 {
        let rests = self.processor_percent.is_some() || self.bytes_per_second.is_some();
        if rests {
            usual_ns.min(LONGEST_BATCH_NS)
        } else {
            usual_ns
        }
    }

    /// A limit of memory or of disk forbids swap, since swap uses both.
    pub(crate) fn forbid_swap(&self) -> bool {
        let amounts = [self.memory_bytes, self.disk_bytes, self.written_bytes];
        amounts.iter().any(Option::is_some) || self.bytes_per_second.is_some()
    }

    /// True if keeping these limits needs the kernel's counters of storage I/O.
    pub fn need_storage_counts(&self) -> bool {
        self.written_bytes.is_some() || self.bytes_per_second.is_some()
    }
}

/// In the syntax of the command line.
impl fmt::Display for Limits {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let percent = |percent: f64| format!("{percent}%");
        let bytes = |bytes: u64| Bytes(bytes).to_string();
        let rate = |rate: f64| BytesPerSecond(rate).to_string();
        let io = |idle: bool| if idle { parse::IDLE } else { parse::USUAL };
        let pairs = [
            ("processor", self.processor_percent.map(percent)),
            ("cpus", self.cpus.map(|cpus| cpus.to_string())),
            ("memory", self.memory_bytes.map(bytes)),
            ("disk", self.disk_bytes.map(bytes)),
            ("written", self.written_bytes.map(bytes)),
            ("rate", self.bytes_per_second.map(rate)),
            ("io", self.idle_io.map(|idle| io(idle).to_owned())),
        ];
        let pairs = pairs
            .iter()
            .filter_map(|(key, value)| Some(format!("{key}={}", value.as_ref()?.replace(' ', ""))));
        f.write_str(&pairs.collect::<Vec<_>>().join(","))
    }
}

/// Resources that a run with limits used, from the kernel's counters.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Used {
    /// Wall time from the first batch to the end of the last rest, in ns.
    pub wall_ns: u64,
    /// CPU time of this program and all its child processes in that time, in ns.
    pub cpu_ns: u64,
    /// Wall time spent resting, in ns.
    pub rest_ns: u64,
    /// The most CPU time between two rests, in ns.
    pub longest_burst_ns: u64,
    /// Number of processors that the run could use.
    pub cpus: u64,
    /// Peak memory of a worker, in bytes.
    pub memory_bytes: u64,
    /// True if `memory_bytes` counts the worker with all its child processes and its page cache, as
    /// a control group does. False if it is the memory of the largest process.
    pub memory_of_group: bool,
    /// Peak memory of this program itself, in bytes.
    pub own_memory_bytes: u64,
    /// Largest disk space of scratch files after a batch, in bytes.
    pub disk_bytes: u64,
    /// Bytes read from storage.
    pub read_bytes: u64,
    /// Bytes written to storage.
    pub written_bytes: u64,
}

impl Used {
    /// The use of a run that was continued: of both its parts.
    #[must_use]
    pub fn and(self, later: Self) -> Self {
        Self {
            wall_ns: self.wall_ns + later.wall_ns,
            cpu_ns: self.cpu_ns + later.cpu_ns,
            rest_ns: self.rest_ns + later.rest_ns,
            longest_burst_ns: self.longest_burst_ns.max(later.longest_burst_ns),
            cpus: self.cpus.max(later.cpus),
            memory_bytes: self.memory_bytes.max(later.memory_bytes),
            memory_of_group: later.memory_of_group,
            own_memory_bytes: self.own_memory_bytes.max(later.own_memory_bytes),
            disk_bytes: self.disk_bytes.max(later.disk_bytes),
            read_bytes: self.read_bytes + later.read_bytes,
            written_bytes: self.written_bytes + later.written_bytes,
        }
    }

    /// CPU time over wall time, in per cent of one processor.
    pub fn processor_percent(&self) -> f64 {
        self.cpu_ns as f64 * 100.0 / self.wall_ns.max(1) as f64
    }

    /// Bytes read from and written to storage per second of wall time.
    pub fn bytes_per_second(&self) -> f64 {
        (self.read_bytes + self.written_bytes) as f64 * 1e9 / self.wall_ns.max(1) as f64
    }

    /// Use and limit of each resource whose limit was exceeded.
    pub fn excesses(&self, limits: &Limits) -> Vec<String> {
        let exceeded = Bound::COUNTED.into_iter();
        let exceeded = exceeded.filter(|bound| {
            let limit = bound.limit(limits);
            limit.is_some_and(|limit| bound.used(self) > limit * bound.tolerance())
        });
        exceeded.map(|bound| self.against(limits, bound)).collect()
    }

    /// Use and limit of one resource.
    fn against(&self, limits: &Limits, bound: Bound) -> String {
        let used = bound.named(&bound.show(bound.used(self)));
        match bound.limit(limits) {
            Some(limit) => format!("{used} (limit {})", bound.show(limit)),
            None => used,
        }
    }

    /// Peak use and the limits, in one line.
    pub fn line(&self, limits: &Limits) -> String {
        let all = Bound::COUNTED.map(|bound| self.against(limits, bound));
        format!(
            "{}; the longest burst {:.2} of CPU time, {:.3} of memory for the program itself",
            all.join(", "),
            crate::quantity::Nanoseconds(self.longest_burst_ns as f64),
            Bytes(self.own_memory_bytes)
        )
    }
}

/// The limits of a run and its actual use.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Limited {
    /// The limits.
    pub limits: Limits,
    /// The use; `None` for a run that is in progress or was cut off.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub used: Option<Used>,
}

/// A limited resource.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Bound {
    /// CPU time.
    Processor,
    /// Number of processors in use at once.
    Cpus,
    /// Memory.
    Memory,
    /// Disk space of scratch files.
    Disk,
    /// Total bytes written.
    Written,
    /// Bytes read and written per second.
    Rate,
    /// Swap. A run with limited memory or disk uses none.
    Swap,
}

impl Bound {
    /// The resources whose use is counted.
    const COUNTED: [Self; 6] = [
        Self::Processor,
        Self::Cpus,
        Self::Memory,
        Self::Disk,
        Self::Written,
        Self::Rate,
    ];

    /// The limits that affect the choice of points.
    pub(crate) const PLANNED: [Self; 5] = [
        Self::Cpus,
        Self::Memory,
        Self::Disk,
        Self::Written,
        Self::Swap,
    ];

    /// The limit in the unit of the resource; `None` if there is none.
    fn limit(self, limits: &Limits) -> Option<f64> {
        let whole = |limit: Option<u64>| limit.map(|limit| limit as f64);
        match self {
            Self::Processor => limits.processor_percent,
            Self::Cpus => whole(limits.cpus),
            Self::Memory => whole(limits.memory_bytes),
            Self::Disk => whole(limits.disk_bytes),
            Self::Written => whole(limits.written_bytes),
            Self::Rate => limits.bytes_per_second,
            Self::Swap => limits.forbid_swap().then_some(0.0),
        }
    }

    /// The use in the unit of the resource. That of swap is not counted.
    fn used(self, used: &Used) -> f64 {
        match self {
            Self::Processor => used.processor_percent(),
            Self::Cpus => used.cpus as f64,
            Self::Memory => used.memory_bytes as f64,
            Self::Disk => used.disk_bytes as f64,
            Self::Written => used.written_bytes as f64,
            Self::Rate => used.bytes_per_second(),
            Self::Swap => 0.0,
        }
    }

    /// The factor up to which a use counts as within the limit: shares of time have the error of the clocks.
    fn tolerance(self) -> f64 {
        match self {
            Self::Processor | Self::Rate => CLOCKS_ERR,
            _ => 1.0,
        }
    }

    /// An amount of the resource for readers.
    fn show(self, amount: f64) -> String {
        match self {
            Self::Processor => format!("{} %", significant(amount, 3)),
            Self::Cpus => amount.to_string(),
            Self::Memory | Self::Disk | Self::Written | Self::Swap => {
                format!("{:.3}", Bytes(amount as u64))
            }
            Self::Rate => format!("{:.3}", BytesPerSecond(amount)),
        }
    }

    /// A shown amount with the name of the resource.
    fn named(self, amount: &str) -> String {
        let name = match self {
            Self::Processor => "of a processor",
            Self::Cpus if amount == "1" => "processor at once",
            Self::Cpus => "processors at once",
            Self::Memory => "of memory",
            Self::Disk => "of scratch files",
            Self::Written => "written",
            Self::Rate => "to and from storage",
            Self::Swap => "of swap",
        };
        format!("{amount} {name}")
    }

    /// The reason for leaving something out because of this limit; `None` if there is no limit.
    pub(crate) fn reason(self, limits: &Limits) -> Option<String> {
        let limit = self.limit(limits)?;
        Some(match self {
            Self::Swap => "beyond the limits: a run with limits uses no swap".into(),
            _ => format!("beyond the limit of {}", self.named(&self.show(limit))),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::{Limits, Used};

    const MIB: u64 = 1 << 20;

    fn used() -> Used {
        Used {
            wall_ns: 10_000_000_000,
            cpu_ns: 2_500_000_000,
            cpus: 1,
            memory_bytes: 512 * MIB,
            disk_bytes: 512 * MIB,
            written_bytes: 100 * MIB,
            read_bytes: 20 * MIB,
            ..Used::default()
        }
    }

    #[test]
    fn what_is_within_every_limit_exceeds_none() {
        let plenty = 64 << 30;
        let gentle = Limits::gentle(plenty, plenty);
        assert_eq!(used().excesses(&gentle), Vec::<String>::new());
        let line = used().line(&gentle);
        for part in [
            "25.0 % of a processor (limit 25.0 %)",
            "1 processor at once (limit 1)",
            "512 MiB of memory (limit 512 MiB)",
            "100 MiB written (limit 4.00 GiB)",
            "12.0 MiB/s to and from storage (limit 32.0 MiB/s)",
        ] {
            assert!(line.contains(part), "{line}");
        }
    }

    #[test]
    fn each_excess_is_named_with_its_limit() {
        let limits: Limits =
            "processor=20%,cpus=1,memory=511MiB,disk=511MiB,written=99MiB,rate=11MiB/s"
                .parse()
                .expect("limits");
        let used = Used { cpus: 2, ..used() };
        let expected = [
            "25.0 % of a processor (limit 20.0 %)",
            "2 processors at once (limit 1)",
            "512 MiB of memory (limit 511 MiB)",
            "512 MiB of scratch files (limit 511 MiB)",
            "100 MiB written (limit 99.0 MiB)",
            "12.0 MiB/s to and from storage (limit 11.0 MiB/s)",
        ];
        assert_eq!(used.excesses(&limits), expected);
        assert_eq!(used.excesses(&Limits::default()), Vec::<String>::new());
    }

    #[test]
    fn gentle_leaves_most_of_what_is_scarce_and_what_is_named_goes_before_it() {
        let gentle = Limits::gentle(400 * MIB, 1000 * MIB);
        assert_eq!(gentle.memory_bytes, Some(100 * MIB));
        assert_eq!(gentle.disk_bytes, Some(250 * MIB));
        let named: Limits = "processor=10%,io=usual".parse().expect("limits");
        let both = named.or(gentle);
        assert_eq!((both.processor_percent, both.cpus), (Some(10.0), Some(1)));
        assert_eq!(both.idle_io, Some(false));
    }
}
