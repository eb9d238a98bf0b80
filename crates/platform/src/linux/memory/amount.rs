//! Available memory, and the memory of this process.

use rustix::process::{Resource, getrlimit};

use crate::linux::machine::page_bytes;
use crate::linux::parse::{colon_field, kibibytes, spaced_field};
use crate::linux::read::text;
use crate::linux::system_memory::SystemMemory;
use crate::linux::{cgroup, environment};

/// Memory that this process can still use without swapping, in bytes: the minimum of the system's
/// available memory, the room in its control groups and the room under its address-space limit.
pub fn available_bytes() -> Option<u64> {
    let system = SystemMemory::read().room(environment::overcommit());
    [system, cgroup::memory_room_bytes(), address_space_room()]
        .into_iter()
        .flatten()
        .min()
}

/// Resident memory of this process in bytes, including its page tables. It does not include other
/// kernel memory of the process, such as the kernel stacks of its threads.
pub fn footprint_bytes() -> Option<u64> {
    // The sum over all mappings is exact; the count in `status` lags by some pages.
    let rollup = text("/proc/self/smaps_rollup")?;
    let status = text("/proc/self/status")?;
    let resident = colon_field(&rollup, "Rss").and_then(kibibytes)?;
    let tables = colon_field(&status, "VmPTE").and_then(kibibytes)?;
    Some(resident + tables)
}

/// Allocations since the start of the system that had to wait until the kernel had moved pages to
/// make a large block.
pub fn compaction_stalls() -> Option<u64> {
    spaced_field(&text("/proc/vmstat")?, "compact_stall")?
        .parse()
        .ok()
}

/// Address space left under the limit (`RLIMIT_AS`), in bytes; `None` if there is no limit.
fn address_space_room() -> Option<u64> {
    let limit = getrlimit(Resource::As).current?;
    let statm = text("/proc/self/statm")?;
    let pages: u64 = statm.split(' ').next()?.parse().ok()?;
    Some(limit.saturating_sub(pages.saturating_mul(page_bytes() as u64)))
}
