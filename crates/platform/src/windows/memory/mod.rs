//! Amounts of memory, and mapped memory.

mod file_mapping;
mod mapping;
mod range;

use crate::memory::GroupRoom;

use windows_sys::Win32::System::SystemInformation::{GlobalMemoryStatusEx, MEMORYSTATUSEX};

use super::usage;
pub(crate) use file_mapping::FileMapping;
pub use mapping::{Mapping, page_size_bytes as page_bytes};

/// The memory of the system.
pub(super) fn status() -> Option<MEMORYSTATUSEX> {
    let mut status = MEMORYSTATUSEX {
        dwLength: size_of::<MEMORYSTATUSEX>() as u32,
        ..MEMORYSTATUSEX::default()
    };
    // SAFETY: the result has the size that it names.
    (unsafe { GlobalMemoryStatusEx(&raw mut status) } != 0).then_some(status)
}

/// Committed memory must fit into the memory and the page file together, whatever is used of it.
pub fn available_bytes() -> Option<u64> {
    let status = status()?;
    Some(status.ullAvailPhys.min(status.ullAvailPageFile))
}

pub fn footprint_bytes() -> Option<u64> {
    usage::resident_bytes().ok()
}

pub fn group_room() -> Option<GroupRoom> {
    None
}

pub fn reports_free_pages() -> Option<bool> {
    None
}

pub fn compaction_stalls() -> Option<u64> {
    None
}
