//! Single limits, and the part of the machine that each leaves for planning.

use super::{Limits, percent};
use crate::quantity::{Bytes, BytesPerSecond};

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
    /// The limits that affect the choice of points.
    pub(crate) const PLANNED: [Self; 5] = [
        Self::Cpus,
        Self::Memory,
        Self::Disk,
        Self::Written,
        Self::Swap,
    ];

    /// The limit formatted for readers; `None` if there is none.
    pub fn limit(self, limits: &Limits) -> Option<String> {
        let bytes = |bytes: Option<u64>| bytes.map(|bytes| format!("{:.3}", Bytes(bytes)));
        match self {
            Self::Processor => limits.processor_percent.map(percent),
            Self::Cpus => limits.cpus.map(|cpus| cpus.to_string()),
            Self::Memory => bytes(limits.memory_bytes),
            Self::Disk => bytes(limits.disk_bytes),
            Self::Written => bytes(limits.written_bytes),
            Self::Rate => limits
                .bytes_per_second
                .map(|rate| format!("{:.3}", BytesPerSecond(rate))),
            Self::Swap => limits.forbid_swap().then(|| "none".into()),
        }
    }

    /// The reason for leaving something out because of this limit; `None` if there is no limit.
    pub(crate) fn reason(self, limits: &Limits) -> Option<String> {
        let limit = self.limit(limits)?;
        let of = match self {
            Self::Processor => "of a processor",
            Self::Cpus if limits.cpus == Some(1) => "processor at once",
            Self::Cpus => "processors at once",
            Self::Memory => "of memory",
            Self::Disk => "of scratch files",
            Self::Written => "written",
            Self::Rate => "to and from storage",
            Self::Swap => return Some("beyond the limits: a run with limits uses no swap".into()),
        };
        Some(format!("beyond the limit of {limit} {of}"))
    }
}

impl Limits {
    /// A limit of memory or of disk forbids swap, since swap uses both.
    pub(crate) fn forbid_swap(&self) -> bool {
        let amounts = [self.memory_bytes, self.disk_bytes, self.written_bytes];
        amounts.iter().any(Option::is_some) || self.bytes_per_second.is_some()
    }
}
