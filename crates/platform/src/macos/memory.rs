use std::io;
use std::ptr::{self, NonNull};

use rustix::io::Errno;
use rustix::mm::{self, MapFlags, MprotectFlags, ProtFlags};

use super::process_info;
use crate::error::{Error, Result};
pub(crate) use crate::memory::lacking::*;
use crate::memory::{Advice, PageSize};

pub(crate) fn page_bytes(size: PageSize) -> Option<u64> {
    (size == PageSize::Base).then(|| page() as u64)
}

/// Compressed memory counts as well.
pub(crate) fn footprint_bytes() -> Option<u64> {
    process_info::own().map(|info| info.ri_phys_footprint)
}

/// Memory between two inaccessible pages.
#[derive(Debug)]
pub(crate) struct Mapping {
    start: NonNull<u8>,
    /// Requested length, in bytes.
    len: usize,
    /// Usable length, in bytes: whole pages.
    mapped_len: usize,
}

impl methods::Mapping for Mapping {}

// SAFETY: a mapping owns its memory, as a Box does.
unsafe impl Send for Mapping {}
// SAFETY: a shared reference only reads.
unsafe impl Sync for Mapping {}

const PRIVATE: MapFlags = MapFlags::PRIVATE.union(MapFlags::NORESERVE);

impl Mapping {
    pub(crate) fn anonymous(len: usize, page_size: PageSize) -> Result<Self> {
        let action = "map memory";
        if page_size == PageSize::Huge {
            let reason = "on macOS memory has base pages only".to_owned();
            return Err(Error::NoHugePages { reason });
        }
        if len == 0 {
            return Err(Error::os(action)(Errno::INVAL));
        }
        let whole = len.checked_next_multiple_of(page());
        let Some((mapped_len, reserved_len)) =
            whole.and_then(|whole| Some((whole, whole.checked_add(2 * page())?)))
        else {
            return Err(Error::os(action)(Errno::NOMEM));
        };
        // SAFETY: the kernel selects a free range, so no existing memory is touched.
        let reserved = unsafe {
            mm::mmap_anonymous(ptr::null_mut(), reserved_len, ProtFlags::empty(), PRIVATE)
        }
        .map_err(Error::os(action))?;
        // SAFETY: the reserved range is longer than a page.
        let start = unsafe { reserved.cast::<u8>().add(page()) };
        let mapping = Self {
            start: NonNull::new(start).expect("a page before it is mapped"),
            len,
            mapped_len,
        };
        let access = MprotectFlags::READ | MprotectFlags::WRITE;
        // SAFETY: the range belongs to this mapping, and no reference into it exists yet.
        unsafe { mm::mprotect(start.cast(), mapped_len, access) }.map_err(Error::os(action))?;
        Ok(mapping)
    }

    pub(crate) fn as_slice(&self) -> &[u8] {
        // SAFETY: the memory is mapped and initialised by the kernel for as long as `self` lives, and
        // only `as_mut_slice` changes it.
        unsafe { std::slice::from_raw_parts(self.start.as_ptr(), self.len) }
    }

    pub(crate) fn as_mut_slice(&mut self) -> &mut [u8] {
        // SAFETY: as above; `&mut self` excludes every other slice.
        unsafe { std::slice::from_raw_parts_mut(self.start.as_ptr(), self.len) }
    }

    #[expect(clippy::unnecessary_wraps, reason = "other systems can fail")]
    pub(crate) fn populate(&mut self) -> Result<()> {
        for byte in self.as_mut_slice().iter_mut().step_by(page()) {
            // A write of the existing value that the compiler must keep.
            *byte = std::hint::black_box(*byte);
        }
        Ok(())
    }

    pub(crate) fn advise(&mut self, advice: Advice) -> Result<()> {
        let start = self.start.as_ptr().cast();
        let action = Error::os("advise on memory");
        let advice = match advice {
            Advice::Normal => mm::Advice::Normal,
            Advice::Sequential => mm::Advice::Sequential,
            Advice::Random => mm::Advice::Random,
            Advice::WillNeed => mm::Advice::WillNeed,
            Advice::DontNeed => {
                let access = ProtFlags::READ | ProtFlags::WRITE;
                // This system's MADV_DONTNEED keeps the contents; a new mapping has zeros.
                // SAFETY: the range belongs to this mapping, and `&mut self` excludes every slice.
                let renewed = unsafe {
                    mm::mmap_anonymous(start, self.mapped_len, access, PRIVATE | MapFlags::FIXED)
                };
                return renewed.map(drop).map_err(action);
            }
        };
        // SAFETY: the range belongs to this mapping, and the contents stay.
        unsafe { mm::madvise(start, self.mapped_len, advice) }.map_err(action)
    }

    pub(crate) fn resident_bytes(&self) -> Result<u64> {
        let mut pages = vec![0; self.mapped_len / page()];
        let start = self.start.as_ptr().cast();
        // SAFETY: the range is mapped for as long as `self` lives, and the buffer has a byte for each
        // page.
        let outcome = unsafe { libc::mincore(start, self.mapped_len, pages.as_mut_ptr()) };
        if outcome != 0 {
            let error = io::Error::last_os_error();
            return Err(Error::os("ask for the residency of memory")(error));
        }
        let resident = pages.iter().filter(|page| **page & 1 == 1).count();
        Ok((resident * page()) as u64)
    }
}

impl Drop for Mapping {
    fn drop(&mut self) {
        let reserved = self.start.as_ptr().wrapping_sub(page());
        // SAFETY: the range and a page on both sides belong to this mapping, and no slice of it can
        // outlive `self`. The call cannot fail, since `mmap` returned the range.
        let _ = unsafe { mm::munmap(reserved.cast(), self.mapped_len + 2 * page()) };
    }
}

fn page() -> usize {
    rustix::param::page_size()
}

#[cfg(test)]
mod tests {
    use crate::memory::{Advice, Mapping, PageSize, footprint_bytes};

    #[test]
    fn memory_reads_as_zeros_and_keeps_what_is_written() {
        let mut memory = Mapping::anonymous(100_000, PageSize::Base).unwrap();
        assert_eq!(memory.len(), 100_000);
        assert!(memory.as_slice().iter().all(|byte| *byte == 0));
        memory.as_mut_slice().fill(7);
        memory.populate().unwrap();
        assert!(memory.as_slice().iter().all(|byte| *byte == 7));
        memory.advise(Advice::Sequential).unwrap();
        assert!(memory.as_slice().iter().all(|byte| *byte == 7));
        memory.advise(Advice::DontNeed).unwrap();
        assert!(memory.as_slice().iter().all(|byte| *byte == 0));
    }

    #[test]
    fn memory_is_resident_once_it_was_touched() {
        let page = super::page();
        let mut memory = Mapping::anonymous(16 * page, PageSize::Base).unwrap();
        assert_eq!(memory.resident_bytes().unwrap(), 0);
        memory.as_mut_slice()[..2 * page].fill(7);
        assert_eq!(memory.resident_bytes().unwrap(), 2 * page as u64);
        Mapping::anonymous(page, PageSize::Huge).unwrap_err();
    }

    #[test]
    fn impossible_lengths_are_errors() {
        Mapping::anonymous(0, PageSize::Base).unwrap_err();
        Mapping::anonymous(usize::MAX, PageSize::Base).unwrap_err();
        Mapping::anonymous(usize::MAX / 2, PageSize::Base).unwrap_err();
    }

    #[test]
    fn the_footprint_grows_by_what_is_touched() {
        const BYTES: usize = 8 << 20;
        let before = footprint_bytes().unwrap();
        let mut memory = Mapping::anonymous(BYTES, PageSize::Base).unwrap();
        memory.as_mut_slice().fill(1);
        let grown = footprint_bytes().unwrap().saturating_sub(before);
        assert!(grown >= BYTES as u64 / 2, "{grown}");
    }
}
