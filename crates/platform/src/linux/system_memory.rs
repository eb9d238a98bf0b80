//! Memory and swap of the whole system: from `/proc/meminfo`, or from `sysinfo` if that is hidden
//! (`/proc` mounted with `subset=pid`, or the file covered).

use super::parse::{colon_field, kibibytes};
use super::read::text;
use crate::environment::Overcommit;

/// In bytes; `None` if the system does not report it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct SystemMemory {
    pub total: Option<u64>,
    /// Free or reclaimable.
    pub available: Option<u64>,
    /// Commit limit less committed memory.
    pub unpromised: Option<u64>,
    pub swap_total: Option<u64>,
    pub swap_free: Option<u64>,
}

impl SystemMemory {
    pub(super) fn read() -> Self {
        let meminfo = text("/proc/meminfo").filter(|meminfo| !meminfo.is_empty());
        meminfo.map_or_else(Self::by_sysinfo, |meminfo| Self::by_meminfo(&meminfo))
    }

    fn by_meminfo(meminfo: &str) -> Self {
        let bytes = |name| colon_field(meminfo, name).and_then(kibibytes);
        let unpromised = || Some(bytes("CommitLimit")?.saturating_sub(bytes("Committed_AS")?));
        Self {
            total: bytes("MemTotal"),
            available: bytes("MemAvailable"),
            unpromised: unpromised(),
            swap_total: bytes("SwapTotal"),
            swap_free: bytes("SwapFree"),
        }
    }

    /// It does not report the reclaimable page cache, which is therefore left out.
    fn by_sysinfo() -> Self {
        let told = rustix::system::sysinfo();
        #[allow(
            clippy::unnecessary_cast,
            reason = "the type of these numbers is the machine's word"
        )]
        let bytes = |count| Some((count as u64).saturating_mul(u64::from(told.mem_unit)));
        Self {
            total: bytes(told.totalram),
            available: bytes(told.freeram + told.bufferram),
            unpromised: None,
            swap_total: bytes(told.totalswap),
            swap_free: bytes(told.freeswap),
        }
    }

    /// Memory that a process can still get: under strict overcommit, no more than the uncommitted
    /// memory.
    pub(super) fn room(&self, overcommit: Option<Overcommit>) -> Option<u64> {
        match overcommit {
            Some(Overcommit::Never) => self.available.into_iter().chain(self.unpromised).min(),
            _ => self.available,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_promised_counts_where_nothing_beyond_the_limit_is() {
        let meminfo = "MemAvailable: 1000 kB\nCommitLimit: 900 kB\nCommitted_AS: 300 kB\n";
        let memory = SystemMemory::by_meminfo(meminfo);
        assert_eq!(memory.room(Some(Overcommit::Never)), Some(600 << 10));
        assert_eq!(memory.room(Some(Overcommit::Heuristic)), Some(1000 << 10));
        assert_eq!(memory.room(None), Some(1000 << 10));
        let promised = SystemMemory::by_meminfo(&meminfo.replace("300", "1300"));
        assert_eq!(promised.room(Some(Overcommit::Never)), Some(0));
    }

    #[test]
    fn without_proc_the_same_is_told_but_for_the_page_cache() {
        let meminfo = text("/proc/meminfo").unwrap();
        let (by_meminfo, by_sysinfo) = (
            SystemMemory::by_meminfo(&meminfo),
            SystemMemory::by_sysinfo(),
        );
        assert_eq!(by_sysinfo.total, by_meminfo.total);
        assert_eq!(by_sysinfo.swap_total, by_meminfo.swap_total);
        assert!(by_sysinfo.available > Some(0) && by_sysinfo.available <= by_meminfo.total);
    }
}
