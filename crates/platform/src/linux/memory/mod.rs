//! Amounts of memory, and mapped memory.

mod region;

use std::fs;
use std::path::Path;

use rustix::process::{Resource, getrlimit};

use super::parse::{choice, colon_field, has_feature, kibibytes, number, spaced_field, text, word};
use crate::environment::Overcommit;
use crate::error::{Error, Result};
use crate::memory::PageSize;

pub use super::cgroup::memory_room as group_room;
pub(crate) use region::FileMapping;
pub use region::Mapping;

/// Size of a page in bytes; `None` if the system has no such pages. Cheaper than
/// [`Machine::read`](crate::machine::Machine::read), which looks at every processor.
pub fn page_bytes(size: PageSize) -> Option<u64> {
    match size {
        PageSize::Base => Some(base_page_bytes() as u64),
        PageSize::Huge => huge_page_bytes(),
    }
}

pub(super) fn base_page_bytes() -> usize {
    rustix::param::page_size()
}

/// Memory that this process can still use without swapping, in bytes: the minimum of the system's
/// available memory, the room in its control groups and the room under its address-space limit.
pub fn available_bytes() -> Option<u64> {
    let system = SystemMemory::read().room(overcommit());
    let group = group_room().map(|room| room.left_bytes);
    [system, group, address_space_room()]
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
    Some(limit.saturating_sub(pages.saturating_mul(base_page_bytes() as u64)))
}

pub(super) fn overcommit() -> Option<Overcommit> {
    match number("/proc/sys/vm/overcommit_memory")? {
        0 => Some(Overcommit::Heuristic),
        1 => Some(Overcommit::Always),
        2 => Some(Overcommit::Never),
        _ => None,
    }
}

// Memory and swap of the whole system: from `/proc/meminfo`, or from `sysinfo` if that is hidden
// (`/proc` mounted with `subset=pid`, or the file covered).

/// In bytes; `None` if the system does not report it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct SystemMemory {
    pub total: Option<u64>,
    /// Free or reclaimable.
    pub available: Option<u64>,
    /// Commit limit less committed memory.
    pub uncommitted: Option<u64>,
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
        let uncommitted = || Some(bytes("CommitLimit")?.saturating_sub(bytes("Committed_AS")?));
        Self {
            total: bytes("MemTotal"),
            available: bytes("MemAvailable"),
            uncommitted: uncommitted(),
            swap_total: bytes("SwapTotal"),
            swap_free: bytes("SwapFree"),
        }
    }

    /// It does not report the reclaimable page cache, which is therefore left out.
    fn by_sysinfo() -> Self {
        let info = rustix::system::sysinfo();
        #[allow(
            clippy::unnecessary_cast,
            reason = "the type of these numbers is the machine's word"
        )]
        let bytes = |count| Some((count as u64).saturating_mul(u64::from(info.mem_unit)));
        Self {
            total: bytes(info.totalram),
            available: bytes(info.freeram + info.bufferram),
            uncommitted: None,
            swap_total: bytes(info.totalswap),
            swap_free: bytes(info.freeswap),
        }
    }

    /// Memory that a process can still get: under strict overcommit, no more than the uncommitted
    /// memory.
    pub(super) fn room(&self, overcommit: Option<Overcommit>) -> Option<u64> {
        match overcommit {
            Some(Overcommit::Never) => self.available.into_iter().chain(self.uncommitted).min(),
            _ => self.available,
        }
    }
}

// Availability of transparent huge pages for a mapping
// (`Documentation/admin-guide/mm/transhuge.rst`).

const SETTINGS: &str = "/sys/kernel/mm/transparent_hugepage";

/// The size of a transparent huge page, in bytes.
pub(super) fn huge_page_bytes() -> Option<u64> {
    size(Path::new(SETTINGS))
}

fn size(settings: &Path) -> Option<u64> {
    number(settings.join("hpage_pmd_size"))
}

/// `madvise` succeeds even if huge pages are switched off, so this check comes first.
pub(super) fn ensure_allowed() -> Result<()> {
    // A kernel that cannot report it cannot set it either.
    let disabled = rustix::thread::transparent_huge_pages_are_disabled().unwrap_or(false);
    match refusal(Path::new(SETTINGS), disabled) {
        None => Ok(()),
        Some(reason) => Err(Error::NoHugePages { reason }),
    }
}

/// The reason why there are no huge pages. Since Linux 6.8 each size has its own setting; by default
/// it inherits the setting for all sizes.
fn refusal(settings: &Path, disabled_for_process: bool) -> Option<String> {
    let of_all = settings.join("enabled");
    let of_size =
        size(settings).map(|bytes| settings.join(format!("hugepages-{}kB/enabled", bytes >> 10)));
    let decisive = [of_size, Some(of_all)]
        .into_iter()
        .flatten()
        .find_map(|setting| {
            let choice = choice(&setting).filter(|choice| choice != "inherit")?;
            Some((setting, choice))
        });
    match decisive {
        None => Some("this kernel has no transparent huge pages".to_owned()),
        Some((setting, choice)) if choice == "never" => Some(format!(
            "{} is set to never; as root, write madvise to it",
            setting.display()
        )),
        Some(_) if disabled_for_process => {
            Some("they are disabled for this process (PR_SET_THP_DISABLE)".to_owned())
        }
        Some(_) => None,
    }
}

// Free page reporting: the balloon device of a virtual machine reports free pages to the host
// (`Documentation/mm/free_page_reporting.rst`).

const BUSES: &str = "/sys/bus";
/// The number of a balloon among the virtio devices (virtio 1.3, section 5).
const BALLOON: &str = "0x0005";
/// The bit of `VIRTIO_BALLOON_F_REPORTING`.
const REPORTING: usize = 5;
const ORDER: &str = "/sys/module/page_reporting/parameters/page_reporting_order";

/// True if this virtual machine reports its free pages to its host, which may take them back
/// ([free page reporting](https://docs.kernel.org/mm/free_page_reporting.html)).
// A balloon device does so.
pub fn reports_free_pages() -> Option<bool> {
    reported_by(Path::new(BUSES))
}

fn reported_by(buses: &Path) -> Option<bool> {
    if !buses.exists() {
        return None;
    }
    let devices = fs::read_dir(buses.join("virtio/devices"));
    let devices = devices.into_iter().flatten().flatten();
    let is_balloon = |path: &Path| word(path.join("device")).is_some_and(|it| it == BALLOON);
    let balloons = devices.map(|entry| entry.path());
    let mut balloons = balloons.filter(|path| is_balloon(path));
    balloons.try_fold(false, |reports, balloon| {
        let features = text(balloon.join("features"))?;
        Some(has_feature(&features, REPORTING)? || reports)
    })
}

/// Size of the smallest free block that the kernel reports, in bytes.
pub(super) fn reported_block_bytes() -> Option<u64> {
    block_bytes(number(ORDER)?)
}

/// An order that was never set is the largest number, which is no size.
fn block_bytes(order: u32) -> Option<u64> {
    let pages = 1_u64.checked_shl(order)?;
    pages.checked_mul(base_page_bytes() as u64)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn strict_overcommit_leaves_only_uncommitted_memory() {
        let meminfo = "MemAvailable: 1000 kB\nCommitLimit: 900 kB\nCommitted_AS: 300 kB\n";
        let memory = SystemMemory::by_meminfo(meminfo);
        assert_eq!(memory.room(Some(Overcommit::Never)), Some(600 << 10));
        assert_eq!(memory.room(Some(Overcommit::Heuristic)), Some(1000 << 10));
        assert_eq!(memory.room(None), Some(1000 << 10));
        let overcommitted = SystemMemory::by_meminfo(&meminfo.replace("300", "1300"));
        assert_eq!(overcommitted.room(Some(Overcommit::Never)), Some(0));
    }

    #[test]
    fn without_proc_memory_and_swap_are_known() {
        let meminfo = text("/proc/meminfo").unwrap();
        let (by_meminfo, by_sysinfo) = (
            SystemMemory::by_meminfo(&meminfo),
            SystemMemory::by_sysinfo(),
        );
        assert_eq!(by_sysinfo.total, by_meminfo.total);
        assert_eq!(by_sysinfo.swap_total, by_meminfo.swap_total);
        assert!(by_sysinfo.available > Some(0) && by_sysinfo.available <= by_meminfo.total);
    }

    #[test]
    fn the_setting_of_the_size_goes_before_that_of_all_sizes() {
        let dir = tempfile::tempdir().unwrap();
        let settings = dir.path();
        let write = |name, text| fs::write(settings.join(name), text).unwrap();
        let refused_by = |name: &str| {
            let setting = settings.join(name).display().to_string();
            refusal(settings, false).is_some_and(|reason| reason.starts_with(&setting))
        };
        assert!(refusal(settings, false).unwrap().contains("this kernel"));

        write("enabled", "always [madvise] never\n");
        write("hpage_pmd_size", "2097152\n");
        assert_eq!(refusal(settings, false), None);
        assert!(refusal(settings, true).unwrap().contains("this process"));

        write("enabled", "always madvise [never]\n");
        assert!(refused_by("enabled"));
        fs::create_dir(settings.join("hugepages-2048kB")).unwrap();
        write(
            "hugepages-2048kB/enabled",
            "always [inherit] madvise never\n",
        );
        assert!(refused_by("enabled"));
        write(
            "hugepages-2048kB/enabled",
            "always inherit [madvise] never\n",
        );
        assert_eq!(refusal(settings, false), None);

        write("enabled", "[always] madvise never\n");
        write(
            "hugepages-2048kB/enabled",
            "always inherit madvise [never]\n",
        );
        assert!(refused_by("hugepages-2048kB/enabled"));
    }

    #[test]
    fn a_balloon_with_the_feature_reports() {
        let buses = tempfile::tempdir().unwrap();
        let device = |number: u32, kind: &str, features: &str| {
            let device = buses.path().join(format!("virtio/devices/virtio{number}"));
            fs::create_dir_all(&device).unwrap();
            fs::write(device.join("device"), format!("{kind}\n")).unwrap();
            fs::write(device.join("features"), format!("{features}\n")).unwrap();
        };
        assert_eq!(reported_by(buses.path()), Some(false));
        device(0, "0x0002", "11111111");
        device(1, "0x0005", "01000001");
        assert_eq!(reported_by(buses.path()), Some(false));
        device(2, "0x0005", "01100101");
        assert_eq!(reported_by(buses.path()), Some(true));
        device(3, "0x0005", "");
        assert_eq!(reported_by(buses.path()), None);
        assert_eq!(reported_by(&buses.path().join("hidden")), None);
    }

    #[test]
    fn an_order_is_a_size_unless_it_was_never_set() {
        assert_eq!(block_bytes(9), Some((base_page_bytes() as u64) << 9));
        assert_eq!(block_bytes(u32::MAX), None);
        assert_eq!(block_bytes(63), None);
    }
}
