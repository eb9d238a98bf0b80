//! Resource usage of a process or thread: CPU time, page faults, context switches.

use std::ops::AddAssign;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

pub use crate::os::usage::storage_read_bytes;

/// True where the system counts context switches. Elsewhere both counts of [`Usage`] are 0.
pub const COUNTS_SWITCHES: bool = cfg!(target_os = "linux");

/// True where [`storage_read_bytes`] counts reads that bypass the page cache as well. Windows counts what page faults
/// and its cache read.
pub const COUNTS_DIRECT_READS: bool = !cfg!(windows);

/// True if the system counts each process's reads from storage and writes to it (on Linux
/// `CONFIG_TASK_IO_ACCOUNTING`). Windows counts those of all processes together.
pub fn counts_storage() -> bool {
    cfg!(not(windows)) && storage_read_bytes().is_some()
}

/// Resource usage since the start of a process or thread, or between two readings.
///
/// On Linux from [getrusage(2)](https://man7.org/linux/man-pages/man2/getrusage.2.html). The counts
/// are exact. The *sum* of user and system time is exact too. On kernels built without
/// `CONFIG_VIRT_CPU_ACCOUNTING_GEN` its *split* is not: the kernel samples the mode at each timer
/// tick (1 to 10 ms). For short spans use the sum, and the split only over many ticks.
///
/// On Windows from
/// [GetProcessTimes](https://learn.microsoft.com/en-us/windows/win32/api/processthreadsapi/nf-processthreadsapi-getprocesstimes):
/// times advance with the system's timer (1 to 16 ms). It counts page faults per process only, hard ones
/// with the soft ones, and no context switches.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Usage {
    /// CPU time in user mode, in ns; see above for its precision.
    pub user_ns: u64,
    /// CPU time in the kernel, in ns; see above for its precision.
    pub system_ns: u64,
    /// Page faults without I/O.
    pub minor_faults: u64,
    /// Page faults that had to read from storage.
    pub major_faults: u64,
    /// Context switches because the thread waited.
    pub voluntary_switches: u64,
    /// Context switches because the kernel gave the CPU to another thread.
    pub involuntary_switches: u64,
}

impl Usage {
    /// What was counted between an earlier reading and this one. A count that went backwards becomes 0: on Linux
    /// the split into user and system time may.
    #[must_use]
    pub fn since(&self, earlier: &Self) -> Self {
        self.with(earlier, u64::saturating_sub)
    }

    fn with(&self, other: &Self, each: fn(u64, u64) -> u64) -> Self {
        Self {
            user_ns: each(self.user_ns, other.user_ns),
            system_ns: each(self.system_ns, other.system_ns),
            minor_faults: each(self.minor_faults, other.minor_faults),
            major_faults: each(self.major_faults, other.major_faults),
            voluntary_switches: each(self.voluntary_switches, other.voluntary_switches),
            involuntary_switches: each(self.involuntary_switches, other.involuntary_switches),
        }
    }
}

impl AddAssign for Usage {
    fn add_assign(&mut self, other: Self) {
        *self = self.with(&other, |one, other| one + other);
    }
}

/// Total usage of a process and all children that it has waited for, since its start.
///
/// On Linux from [getrusage(2)](https://man7.org/linux/man-pages/man2/getrusage.2.html). Running
/// children are not included. Windows counts the bytes of all read and write calls instead, and only
/// those children that this crate waited for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Consumption {
    /// CPU time in ns.
    pub cpu_ns: u64,
    /// Bytes read from storage. Hits in the page cache do not count.
    pub read_bytes: u64,
    /// Bytes written, counted when a page becomes dirty; the kernel writes it to storage later.
    /// Files in memory do not count.
    pub written_bytes: u64,
    /// Peak resident memory of this process, in bytes.
    pub own_peak_bytes: u64,
    /// Largest peak resident memory of any child, in bytes. A child counts from the fork on, when
    /// it is a copy of its parent.
    pub child_peak_bytes: u64,
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::clock::now_ns;

    #[test]
    fn work_counts_as_cpu_time() {
        let (process, thread) = (Usage::of_process().unwrap(), Usage::of_thread().unwrap());
        let start = now_ns();
        // Longer than a tick of the system's timer.
        while now_ns() < start + 60_000_000 {}
        let process = Usage::of_process().unwrap().since(&process);
        let thread = Usage::of_thread().unwrap().since(&thread);
        assert!(process.user_ns + process.system_ns > 0, "{process:?}");
        assert!(thread.user_ns + thread.system_ns > 0, "{thread:?}");
        assert!(Consumption::read().unwrap().own_peak_bytes > 0);
    }

    #[test]
    fn a_difference_never_goes_below_zero() {
        let later = Usage {
            user_ns: 1,
            ..Usage::default()
        };
        assert_eq!(Usage::default().since(&later), Usage::default());
    }
}
