//! What a process or thread has used: CPU time, page faults, context switches.

use std::ops::AddAssign;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{Result, os};

/// Resources used since the start of a process or thread, or between two such readings.
///
/// On Linux from [getrusage(2)](https://man7.org/linux/man-pages/man2/getrusage.2.html). The counts
/// are exact. The *sum* of user and system time is exact too, but on kernels built without
/// `CONFIG_VIRT_CPU_ACCOUNTING_GEN` its *split* is not: it follows how often the timer tick (1 to
/// 10 ms) met either mode. For short spans use the sum, and the split only over many ticks.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Usage {
    /// CPU time in user mode, in ns; see above on its precision.
    pub user_ns: u64,
    /// CPU time in the kernel, in ns; see above on its precision.
    pub system_ns: u64,
    /// Page faults served without input or output.
    pub minor_faults: u64,
    /// Page faults that had to read from storage.
    pub major_faults: u64,
    /// Context switches because the thread waited for something.
    pub voluntary_switches: u64,
    /// Context switches because the kernel wanted the CPU for another.
    pub involuntary_switches: u64,
}

impl Usage {
    /// Of all threads of this process.
    ///
    /// # Errors
    /// Only where the system does not count it.
    pub fn of_process() -> Result<Self> {
        os::usage::of_process()
    }

    /// Of the calling thread.
    ///
    /// # Errors
    /// Only where the system does not count it.
    pub fn of_thread() -> Result<Self> {
        os::usage::of_thread()
    }

    /// What was used between an earlier reading and this one. A count that went backwards (the
    /// user and system split may) becomes 0.
    #[must_use]
    pub fn since(&self, earlier: &Self) -> Self {
        Self {
            user_ns: self.user_ns.saturating_sub(earlier.user_ns),
            system_ns: self.system_ns.saturating_sub(earlier.system_ns),
            minor_faults: self.minor_faults.saturating_sub(earlier.minor_faults),
            major_faults: self.major_faults.saturating_sub(earlier.major_faults),
            voluntary_switches: self
                .voluntary_switches
                .saturating_sub(earlier.voluntary_switches),
            involuntary_switches: self
                .involuntary_switches
                .saturating_sub(earlier.involuntary_switches),
        }
    }
}

impl AddAssign for Usage {
    fn add_assign(&mut self, other: Self) {
        self.user_ns += other.user_ns;
        self.system_ns += other.system_ns;
        self.minor_faults += other.minor_faults;
        self.major_faults += other.major_faults;
        self.voluntary_switches += other.voluntary_switches;
        self.involuntary_switches += other.involuntary_switches;
    }
}

/// What a process and all its children that it waited for have used together since it started.
///
/// On Linux from [getrusage(2)](https://man7.org/linux/man-pages/man2/getrusage.2.html). A child that
/// is still running is not in it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Consumption {
    /// CPU time in ns.
    pub cpu_ns: u64,
    /// Read from storage, in bytes. What the page cache answers does not count.
    pub read_bytes: u64,
    /// Written, in bytes, as the pages were changed; the kernel brings them to storage later. Files in
    /// memory do not count.
    pub written_bytes: u64,
    /// The most memory that this process had in RAM, in bytes.
    pub own_peak_bytes: u64,
    /// The most memory that any of the children had in RAM, in bytes. A child counts from the moment at
    /// which it is a copy of its parent.
    pub child_peak_bytes: u64,
}

impl Consumption {
    /// Of this process.
    ///
    /// # Errors
    /// Only where the system does not count it.
    pub fn read() -> Result<Self> {
        os::usage::consumption()
    }
}

/// Whether the system counts what processes read from storage and write to it (on Linux
/// `CONFIG_TASK_IO_ACCOUNTING`).
pub fn counts_storage() -> bool {
    os::usage::storage_read_bytes().is_some()
}

/// What this process has caused to be read from storage so far, in bytes: `read_bytes` of
/// [proc_pid_io(5)](https://man7.org/linux/man-pages/man5/proc_pid_io.5.html), which counts what
/// goes to a block device and leaves out what the page cache answers. `None` where the system does
/// not count it.
pub fn storage_read_bytes() -> Option<u64> {
    os::usage::storage_read_bytes()
}
