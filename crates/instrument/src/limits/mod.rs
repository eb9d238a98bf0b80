//! Limits: what a run may take of a machine on which other work matters, and what it took.

mod bound;
mod pace;
mod parse;

pub use bound::Bound;
pub use pace::{Pace, Spent};
pub use parse::{KEYS, ParseLimitsError};

use crate::quantity::{Bytes, BytesPerSecond, significant};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::fmt;

/// What a run may take of the machine. What is `None` has no limit.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Limits {
    /// CPU time over wall time, of this program and all that it starts, in per cent of one processor.
    /// Kept by rests: before each batch the run rests until its CPU time since the rest before is no
    /// larger a part of the wall time.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub processor_percent: Option<f64>,
    /// How many processors may be used at once. Kept by the kernel: the program and all that it starts
    /// may run on the last so many of those that are allowed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cpus: Option<u64>,
    /// Memory of a worker and all that it starts, in bytes. Points that need more are left out. Kept
    /// by the kernel: by a control group where this user may make one, else by the size of each
    /// process's address space.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub memory_bytes: Option<u64>,
    /// What scratch files may take at any time, in bytes. Points that need more are left out, and the
    /// kernel lets no file grow beyond.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub disk_bytes: Option<u64>,
    /// What the whole run may write to storage, in bytes, its records included. No batch is begun that
    /// is expected to write more than is left.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub written_bytes: Option<u64>,
    /// What may be read from storage and written to it, in bytes per second of wall time. Kept by
    /// rests, as for `processor`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub bytes_per_second: Option<f64>,
    /// Whether disks serve the run when nobody else waits. Only some schedulers heed it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub idle_io: Option<bool>,
}

/// The longest that one process takes samples of one metric where the run has to rest, in ns: bursts
/// are to be short.
const LONGEST_BATCH_NS: u64 = 100_000_000;
/// How far shares of time may be beyond what was meant.
const CLOCKS_ERR: f64 = 1.005;

impl Limits {
    /// What `--gentle` stands for where so much memory is available and so much of the disk is free:
    /// one processor, a quarter of it, and no more than a quarter of the memory and the room there is.
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

    /// These limits, and those of `others` where these have none.
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

    /// Whether nothing is limited.
    pub fn is_none(&self) -> bool {
        *self == Self::default()
    }

    /// How many times longer than its measurements a run takes with its rests, where they keep one
    /// processor busy.
    pub fn stretch(&self) -> f64 {
        self.processor_percent
            .map_or(1.0, |percent| (100.0 / percent).max(1.0))
    }

    /// The time of one metric's samples in one process: `usual_ns`, or less where the run rests.
    pub fn batch_ns(&self, usual_ns: u64) -> u64 {
        let rests = self.processor_percent.is_some() || self.bytes_per_second.is_some();
        if rests {
            usual_ns.min(LONGEST_BATCH_NS)
        } else {
            usual_ns
        }
    }

    /// Whether it takes the kernel's count of what is read and written to keep them.
    pub fn need_storage_counts(&self) -> bool {
        self.written_bytes.is_some() || self.bytes_per_second.is_some()
    }
}

/// As on the command line.
impl fmt::Display for Limits {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let bytes = |bytes: Option<u64>| bytes.map(|bytes| Bytes(bytes).to_string());
        let pairs = [
            (
                "processor",
                self.processor_percent.map(|percent| format!("{percent}%")),
            ),
            ("cpus", self.cpus.map(|cpus| cpus.to_string())),
            ("memory", bytes(self.memory_bytes)),
            ("disk", bytes(self.disk_bytes)),
            ("written", bytes(self.written_bytes)),
            (
                "rate",
                self.bytes_per_second
                    .map(|rate| BytesPerSecond(rate).to_string()),
            ),
            ("io", self.idle_io.map(|idle| io_name(idle).into())),
        ];
        let pairs = pairs
            .iter()
            .filter_map(|(key, value)| Some(format!("{key}={}", value.as_ref()?.replace(' ', ""))));
        f.write_str(&pairs.collect::<Vec<_>>().join(","))
    }
}

/// What a run with limits took at the most, by the kernel's counters.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Used {
    /// From the first batch to the end of the last rest, in ns.
    pub wall_ns: u64,
    /// CPU time of this program and all that it started meanwhile, in ns.
    pub cpu_ns: u64,
    /// Of the wall time, what was spent resting, in ns.
    pub rest_ns: u64,
    /// The most CPU time between two rests, in ns.
    pub longest_burst_ns: u64,
    /// How many processors it could run on.
    pub cpus: u64,
    /// The most memory that a worker had, in bytes.
    pub memory_bytes: u64,
    /// Whether that counts the worker with all that it started and its pages of files, as a control
    /// group does. Otherwise it is the memory of the largest process.
    pub memory_of_group: bool,
    /// The most memory that this program itself had, in bytes.
    pub own_memory_bytes: u64,
    /// The most that scratch files took after a batch, in bytes.
    pub disk_bytes: u64,
    /// Read from storage, in bytes.
    pub read_bytes: u64,
    /// Written to storage, in bytes.
    pub written_bytes: u64,
}

impl Used {
    /// CPU time over wall time, in per cent of one processor.
    pub fn processor_percent(&self) -> f64 {
        self.cpu_ns as f64 * 100.0 / self.wall_ns.max(1) as f64
    }

    /// What was read from storage and written to it in a second of wall time, in bytes.
    pub fn bytes_per_second(&self) -> f64 {
        (self.read_bytes + self.written_bytes) as f64 * 1e9 / self.wall_ns.max(1) as f64
    }

    /// What it took beside its limit, for each that was exceeded. Shares of time are so by more than the
    /// clocks may err.
    pub fn excesses(&self, limits: &Limits) -> Vec<String> {
        let over = |bound: Bound, is_over: bool| is_over.then(|| self.beside(limits, bound));
        let above = |used: u64, limit: Option<u64>| limit.is_some_and(|limit| used > limit);
        let processor = limits.processor_percent;
        let processor = processor.is_some_and(|most| self.processor_percent() > most * CLOCKS_ERR);
        let rate = limits.bytes_per_second;
        let rate = rate.is_some_and(|most| self.bytes_per_second() > most * CLOCKS_ERR);
        [
            over(Bound::Processor, processor),
            over(Bound::Cpus, above(self.cpus, limits.cpus)),
            over(Bound::Memory, above(self.memory_bytes, limits.memory_bytes)),
            over(Bound::Disk, above(self.disk_bytes, limits.disk_bytes)),
            over(
                Bound::Written,
                above(self.written_bytes, limits.written_bytes),
            ),
            over(Bound::Rate, rate),
        ]
        .into_iter()
        .flatten()
        .collect()
    }

    /// What it took of one thing, and the limit on that.
    fn beside(&self, limits: &Limits, bound: Bound) -> String {
        let bytes = |used: u64| format!("{:.3}", Bytes(used));
        let used = match bound {
            Bound::Processor => {
                format!("{} of a processor", percent(self.processor_percent()))
            }
            Bound::Cpus if self.cpus == 1 => String::from("1 processor at once"),
            Bound::Cpus => format!("{} processors at once", self.cpus),
            Bound::Memory => format!("{} of memory", bytes(self.memory_bytes)),
            Bound::Disk => format!("{} of scratch files", bytes(self.disk_bytes)),
            Bound::Written => format!("{} written", bytes(self.written_bytes)),
            Bound::Rate => format!(
                "{:.3} to and from storage",
                BytesPerSecond(self.bytes_per_second())
            ),
            Bound::Swap => String::from("no swap"),
        };
        match bound.limit(limits) {
            Some(limit) => format!("{used} (limit {limit})"),
            None => used,
        }
    }

    /// What it took at the most beside what it might, in one line.
    pub fn told(&self, limits: &Limits) -> String {
        let all = [
            Bound::Processor,
            Bound::Cpus,
            Bound::Memory,
            Bound::Disk,
            Bound::Written,
            Bound::Rate,
        ];
        let told = all.map(|bound| self.beside(limits, bound));
        format!(
            "{}; the longest burst {:.2} of CPU time, {:.3} of memory for the program itself",
            told.join(", "),
            crate::quantity::Nanoseconds(self.longest_burst_ns as f64),
            Bytes(self.own_memory_bytes)
        )
    }
}

/// The limits of a run and what it took.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Limited {
    /// What it might take.
    pub limits: Limits,
    /// What it took; `None` for a run that is under way or was cut off.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub used: Option<Used>,
}

fn percent(percent: f64) -> String {
    format!("{} %", significant(percent, 3))
}

/// The value of `io` on the command line.
fn io_name(idle: bool) -> &'static str {
    if idle { parse::IDLE } else { parse::USUAL }
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
        let told = used().told(&gentle);
        for part in [
            "25.0 % of a processor (limit 25.0 %)",
            "1 processor at once (limit 1)",
            "512 MiB of memory (limit 512 MiB)",
            "100 MiB written (limit 4.00 GiB)",
            "12.0 MiB/s to and from storage (limit 32.0 MiB/s)",
        ] {
            assert!(told.contains(part), "{told}");
        }
    }

    #[test]
    fn each_excess_is_told_beside_its_limit() {
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
