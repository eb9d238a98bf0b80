//! How much memory there is left, and how much this process has.

use rustix::process::{Resource, getrlimit};

use crate::environment::Overcommit;
use crate::linux::machine::page_bytes;
use crate::linux::parse::{colon_field, kibibytes};
use crate::linux::read::text;
use crate::linux::{cgroup, environment};

pub(crate) fn available_bytes() -> Option<u64> {
    let system =
        text("/proc/meminfo").and_then(|meminfo| system_room(&meminfo, environment::overcommit()));
    [system, cgroup::memory_room_bytes(), address_space_room()]
        .into_iter()
        .flatten()
        .min()
}

/// What the system has left by `/proc/meminfo`, in bytes: free, or soon to be had, and where it promises
/// no more than its commit limit, not promised to anybody.
fn system_room(meminfo: &str, overcommit: Option<Overcommit>) -> Option<u64> {
    let bytes = |name| colon_field(meminfo, name).and_then(kibibytes);
    let available = bytes("MemAvailable");
    let unpromised = || Some(bytes("CommitLimit")?.saturating_sub(bytes("Committed_AS")?));
    match overcommit {
        Some(Overcommit::Never) => available.into_iter().chain(unpromised()).min(),
        _ => available,
    }
}

pub(crate) fn footprint_bytes() -> Option<u64> {
    // The sum over all mappings is exact; the count in `status` lags behind by some pages.
    let rollup = text("/proc/self/smaps_rollup")?;
    let status = text("/proc/self/status")?;
    let resident = colon_field(&rollup, "Rss").and_then(kibibytes)?;
    let tables = colon_field(&status, "VmPTE").and_then(kibibytes)?;
    Some(resident + tables)
}

/// What the limit on the address space (`RLIMIT_AS`) leaves, in bytes; `None` if there is no limit.
fn address_space_room() -> Option<u64> {
    let limit = getrlimit(Resource::As).current?;
    let statm = text("/proc/self/statm")?;
    let pages: u64 = statm.split(' ').next()?.parse().ok()?;
    Some(limit.saturating_sub(pages.saturating_mul(page_bytes() as u64)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::memory::{Mapping, PageSize};

    #[test]
    fn what_was_promised_counts_where_nothing_beyond_the_limit_is() {
        let meminfo = "MemAvailable: 1000 kB\nCommitLimit: 900 kB\nCommitted_AS: 300 kB\n";
        let room = |overcommit| system_room(meminfo, overcommit);
        assert_eq!(room(Some(Overcommit::Never)), Some(600 << 10));
        assert_eq!(room(Some(Overcommit::Heuristic)), Some(1000 << 10));
        assert_eq!(room(None), Some(1000 << 10));
        let promised = meminfo.replace("300", "1300");
        assert_eq!(system_room(&promised, Some(Overcommit::Never)), Some(0));
    }

    #[test]
    fn the_footprint_grows_by_what_is_touched() {
        const BYTES: usize = 8 << 20;
        let before = footprint_bytes().expect("/proc tells");
        let mut memory = Mapping::anonymous(BYTES, PageSize::Base).unwrap();
        memory.as_mut_slice().fill(1);
        let grown = footprint_bytes()
            .expect("/proc tells")
            .saturating_sub(before);
        assert!(grown >= BYTES as u64 / 2, "{grown}");
    }

    #[test]
    fn some_memory_is_available_and_no_more_than_there_is() {
        let available = available_bytes().unwrap();
        let total = crate::machine::Machine::read().memory_bytes.unwrap();
        assert!(0 < available && available <= total);
    }
}
