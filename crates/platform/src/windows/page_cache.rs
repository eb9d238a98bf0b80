use std::ffi::c_void;

use windows_sys::Wdk::System::SystemInformation::{
    NtQuerySystemInformation, SystemPerformanceInformation,
};
use windows_sys::Win32::Foundation::NTSTATUS;
use windows_sys::Win32::System::Memory::SetSystemFileCacheSize;
use windows_sys::Win32::System::WindowsProgramming::SYSTEM_PERFORMANCE_INFORMATION;

use super::outcome::{check, check_status};
use super::token::{INCREASE_QUOTA, PROFILE_PROCESS, has};
use super::wine;
use crate::Result;
use crate::error::Error;

// The names and numbers of the kernel's own headers, which Microsoft does not document; those of System Informer
// (phnt, `ntexapi.h`).
const SYSTEM_MEMORY_LIST_INFORMATION: i32 = 80;
const MEMORY_PURGE_STANDBY_LIST: i32 = 4;
/// Offset of `PageReadCount`: pages that were read from storage to serve page faults. It is what the counter
/// `Pages Input/sec` counts, and reads of files through the cache are such faults.
const PAGE_READ_COUNT: usize = 80;
const PAGE_BYTES: u64 = 4096;

#[link(name = "ntdll", kind = "raw-dylib")]
unsafe extern "system" {
    fn NtSetSystemInformation(class: i32, information: *mut c_void, len: u32) -> NTSTATUS;
}

/// Moves the pages of the cache from the system's working set to the standby list, and empties that list.
pub fn drop_page_cache() -> Result<()> {
    if !(has(INCREASE_QUOTA)? && has(PROFILE_PROCESS)?) {
        return Err(Error::NotPermitted {
            what: "dropping the caches of the machine",
            needs: "an administrator",
        });
    }
    // SAFETY: the call reads numbers only; the largest ones stand for an empty working set.
    let outcome = unsafe { SetSystemFileCacheSize(usize::MAX, usize::MAX, 0) };
    check(outcome, "empty the working set of the file cache")?;
    let mut command = MEMORY_PURGE_STANDBY_LIST;
    // SAFETY: the class takes a command of this size.
    let status = unsafe {
        NtSetSystemInformation(
            SYSTEM_MEMORY_LIST_INFORMATION,
            (&raw mut command).cast(),
            size_of_val(&command) as u32,
        )
    };
    check_status(status, "purge the standby list")
}

/// Windows counts them for the whole system, Wine not at all.
pub fn storage_read_bytes() -> Option<u64> {
    if wine::version().is_some() {
        return None;
    }
    // Words, since the system wants them aligned.
    let mut counts =
        [0_u64; size_of::<SYSTEM_PERFORMANCE_INFORMATION>().div_ceil(size_of::<u64>())];
    // SAFETY: the result has the given length.
    let status = unsafe {
        NtQuerySystemInformation(
            SystemPerformanceInformation,
            (&raw mut counts).cast(),
            size_of_val(&counts) as u32,
            std::ptr::null_mut(),
        )
    };
    check_status(status, "ask for the counts of the system").ok()?;
    let pages = counts[PAGE_READ_COUNT / size_of::<u64>()] as u32;
    Some(u64::from(pages) * PAGE_BYTES)
}

#[cfg(test)]
mod tests {
    use super::{drop_page_cache, storage_read_bytes};
    use crate::windows::wine;

    #[test]
    fn wine_neither_counts_pages_nor_purges_them() {
        if wine::version().is_none() {
            println!("skipped: this is Windows itself");
            return;
        }
        assert_eq!(storage_read_bytes(), None);
        assert!(drop_page_cache().is_err());
    }
}
