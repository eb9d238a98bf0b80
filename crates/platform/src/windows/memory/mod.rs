//! Amounts of memory, and mapped memory.

mod file_mapping;
mod mapping;
mod range;

use windows_sys::Win32::System::SystemInformation::{GlobalMemoryStatusEx, MEMORYSTATUSEX};

use super::usage;
pub(crate) use crate::memory::lacking::*;
pub(crate) use file_mapping::FileMapping;
pub(crate) use mapping::Mapping;

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
pub(crate) fn available_bytes() -> Option<u64> {
    let status = status()?;
    Some(status.ullAvailPhys.min(status.ullAvailPageFile))
}

pub(crate) fn footprint_bytes() -> Option<u64> {
    usage::resident_bytes().ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::memory::{Mapping, PageSize};

    #[test]
    fn the_footprint_grows_by_what_is_touched() {
        const BYTES: usize = 8 << 20;
        let before = footprint_bytes().unwrap();
        let mut memory = Mapping::anonymous(BYTES, PageSize::Base).unwrap();
        memory.as_mut_slice().fill(1);
        let grown = footprint_bytes().unwrap().saturating_sub(before);
        assert!(grown >= BYTES as u64 / 2, "{grown}");
    }

    #[test]
    fn some_memory_is_available_and_no_more_than_there_is() {
        let available = available_bytes().unwrap();
        let total = crate::machine::Machine::read().memory_bytes.unwrap();
        assert!(0 < available && available <= total);
    }
}
