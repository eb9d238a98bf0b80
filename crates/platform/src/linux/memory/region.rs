//! A mapped address range, of memory or of a file.

use std::fs::File;
use std::ptr::{self, NonNull};

use rustix::io::{Errno, retry_on_intr};
use rustix::mm::{self, MapFlags, MprotectFlags, MsyncFlags, ProtFlags};

use super::{base_page_bytes, ensure_allowed, huge_page_bytes};
use crate::error::{Error, Result};
use crate::file::Access;
use crate::linux::lost_pages::Watch;
use crate::linux::parse::huge_bytes_within;
use crate::linux::{check, topology};
use crate::memory::{Advice, PageSize};

/// Private memory that starts on a huge-page boundary and has inaccessible pages on both sides. It
/// reads as zeros, and its pages are allocated on the first touch. Dropping it unmaps it.
#[derive(Debug)]
pub struct Mapping {
    start: NonNull<u8>,
    /// Requested length, in bytes.
    len: usize,
    /// Mapped length, in bytes: whole pages.
    mapped_len: usize,
    reserved: NonNull<u8>,
    reserved_len: usize,
    /// `Some` for a mapped file.
    watch: Option<Watch>,
}

pub(crate) type FileMapping = Mapping;

// SAFETY: a region owns its memory, as a Box does.
unsafe impl Send for Mapping {}
// SAFETY: a shared reference only reads.
unsafe impl Sync for Mapping {}

impl Mapping {
    /// Reserves `len` bytes (at least 1) with pages of one size: base pages only, or huge pages as
    /// far as the kernel can allocate them ([`Mapping::huge_bytes`] reports the number of bytes).
    ///
    /// # Errors
    /// [`Error::NoHugePages`] with the reason, if huge pages are requested and switched off;
    /// [`Error::Os`] if the memory cannot be mapped.
    // The inaccessible pages keep the kernel from merging the memory with a neighbour, so that `smaps`
    // lists it separately.
    pub fn anonymous(len: usize, page_size: PageSize) -> Result<Self> {
        let page = base_page_bytes();
        let alignment = huge_page_bytes().map_or(page, |bytes| bytes as usize);
        let unit = match page_size {
            PageSize::Base => page,
            PageSize::Huge => {
                ensure_allowed()?;
                alignment
            }
        };
        let action = "map memory";
        if len == 0 {
            return Err(Error::os(action)(Errno::INVAL));
        }
        let mapped_len = len.checked_next_multiple_of(unit);
        let Some((mapped_len, reserved_len)) =
            mapped_len.and_then(|len| Some((len, len.checked_add(2 * alignment)?)))
        else {
            return Err(Error::os(action)(Errno::NOMEM));
        };
        let flags = MapFlags::PRIVATE | MapFlags::NORESERVE;
        // SAFETY: the kernel selects a free range, so no existing memory is touched.
        let reserved =
            unsafe { mm::mmap_anonymous(ptr::null_mut(), reserved_len, ProtFlags::empty(), flags) }
                .map_err(Error::os(action))?
                .cast::<u8>();
        // At least one page before it and, since the alignment is no less than a page, one after
        // it.
        let offset = (reserved.addr() + page).next_multiple_of(alignment) - reserved.addr();
        // SAFETY: the offset is at most the alignment, within the reserved range.
        let start = unsafe { reserved.add(offset) };
        let region = Self {
            start: nonnull(start),
            len,
            mapped_len,
            reserved: nonnull(reserved),
            reserved_len,
            watch: None,
        };
        region.open(page_size)?;
        Ok(region)
    }

    /// Makes the middle of a reserved range usable and sets its page size.
    fn open(&self, page_size: PageSize) -> Result<()> {
        let access = MprotectFlags::READ | MprotectFlags::WRITE;
        // SAFETY: the range belongs to this region, and no reference into it exists yet.
        unsafe { mm::mprotect(self.start.as_ptr().cast(), self.mapped_len, access) }
            .map_err(Error::os("map memory"))?;
        match page_size {
            PageSize::Huge => self
                .madvise(mm::Advice::LinuxHugepage)
                .map_err(Error::os("ask for huge pages")),
            // A kernel without huge pages returns EINVAL; then there are none to disable.
            PageSize::Base => match self.madvise(mm::Advice::LinuxNoHugepage) {
                Ok(()) | Err(Errno::INVAL) => Ok(()),
                Err(errno) => Err(Error::os("decline huge pages")(errno)),
            },
        }
    }

    pub(crate) fn over(file: &File, offset: u64, len: usize, access: Access) -> Result<Self> {
        let protection = match access {
            Access::Read => ProtFlags::READ,
            Access::Write => ProtFlags::READ | ProtFlags::WRITE,
        };
        // SAFETY: the kernel selects a free range, so no existing memory is touched.
        let start = unsafe {
            mm::mmap(
                ptr::null_mut(),
                len,
                protection,
                MapFlags::SHARED,
                file,
                offset,
            )
        }
        .map_err(Error::os("map a file"))?;
        let start = nonnull(start.cast());
        let mut region = Self {
            start,
            len,
            mapped_len: len,
            reserved: start,
            reserved_len: len,
            watch: None,
        };
        region.watch = Some(Watch::over(start.addr().get(), len)?);
        Ok(region)
    }

    /// True if a touched part of the file was gone.
    pub(crate) fn has_lost(&self) -> bool {
        self.watch.as_ref().is_some_and(Watch::has_lost)
    }

    /// The memory.
    pub fn as_slice(&self) -> &[u8] {
        // SAFETY: the memory is mapped readable and initialised by the kernel for as long as `self`
        // lives, and only `as_mut_slice` changes it.
        unsafe { std::slice::from_raw_parts(self.start.as_ptr(), self.len) }
    }

    /// The memory, mutable.
    // Only for memory that is mapped writable.
    pub fn as_mut_slice(&mut self) -> &mut [u8] {
        // SAFETY: as above; `&mut self` excludes every other slice.
        unsafe { std::slice::from_raw_parts_mut(self.start.as_ptr(), self.len) }
    }

    /// Allocates all pages now, so that no later touch faults. The contents stay.
    pub fn populate(&mut self) -> Result<()> {
        match retry_on_intr(|| self.madvise(mm::Advice::LinuxPopulateWrite)) {
            Ok(()) => return Ok(()),
            // Linux before 5.14 does not support it.
            Err(Errno::INVAL) => {}
            Err(errno) => return Err(Error::os("populate memory")(errno)),
        }
        for byte in self.as_mut_slice().iter_mut().step_by(base_page_bytes()) {
            // A write of the existing value that the compiler must keep.
            *byte = std::hint::black_box(*byte);
        }
        Ok(())
    }

    /// Bytes currently backed by huge pages.
    pub fn huge_bytes(&self) -> Result<u64> {
        // The names of mapped files need not be UTF-8.
        let smaps =
            std::fs::read("/proc/self/smaps").map_err(Error::os("read /proc/self/smaps"))?;
        let start = self.start.addr().get() as u64;
        Ok(huge_bytes_within(
            &String::from_utf8_lossy(&smaps),
            &(start..start + self.mapped_len as u64),
        ))
    }

    /// Gives the kernel a hint about the use of the memory.
    pub fn advise(&mut self, advice: Advice) -> Result<()> {
        self.madvise(match advice {
            Advice::Sequential => mm::Advice::Sequential,
            Advice::Random => mm::Advice::Random,
            // The C library's POSIX variant of this does nothing.
            Advice::DontNeed => mm::Advice::LinuxDontNeed,
        })
        .map_err(Error::os("advise on memory"))
    }

    /// Asks the kernel to move all of it to swap now (`MADV_PAGEOUT`, Linux since 5.4). The kernel
    /// may move only a part: check [`Mapping::resident_bytes`], and repeat.
    ///
    /// # Errors
    /// [`crate::Error::NotSupported`] on an older kernel.
    pub fn page_out(&mut self) -> Result<()> {
        self.madvise(mm::Advice::LinuxPageOut)
            .map_err(|errno| match errno {
                Errno::INVAL => Error::NotSupported("moving memory to swap on request"),
                errno => Error::os("move memory to swap")(errno),
            })
    }

    /// Bytes that are currently resident, including those about to be swapped out
    /// ([mincore(2)](https://man7.org/linux/man-pages/man2/mincore.2.html)).
    pub fn resident_bytes(&self) -> Result<u64> {
        let mut pages = vec![0_u8; self.mapped_len.div_ceil(base_page_bytes())];
        // SAFETY: the range is mapped for as long as `self` lives, and the buffer has a byte for
        // each page.
        let outcome = unsafe {
            libc::mincore(
                self.start.as_ptr().cast(),
                self.mapped_len,
                pages.as_mut_ptr(),
            )
        };
        check(outcome).map_err(Error::os("ask for the residency of memory"))?;
        let resident = pages.iter().filter(|page| **page & 1 == 1).count();
        Ok((resident * base_page_bytes()) as u64)
    }

    /// Binds pages that are not allocated yet to the memory of one [`crate::node::Node`]
    /// ([mbind(2)](https://man7.org/linux/man-pages/man2/mbind.2.html)). Windows prefers that node, and
    /// refuses memory of which pages are in use already.
    ///
    /// # Errors
    /// If the node does not exist or has no memory; [`crate::Error::NotPermitted`] in containers
    /// that forbid the call.
    pub fn bind_to_node(&mut self, node: usize) -> Result<()> {
        topology::bind(self.start, self.mapped_len, node)
    }

    /// Bytes that are currently in the memory of a node
    /// ([move_pages(2)](https://man7.org/linux/man-pages/man2/move_pages.2.html)).
    pub fn bytes_on_node(&self, node: usize) -> Result<u64> {
        topology::bytes_on(self.start, self.mapped_len, node)
    }

    /// Only for advice that keeps the contents, or while no slice exists.
    fn madvise(&self, advice: mm::Advice) -> rustix::io::Result<()> {
        // SAFETY: the range belongs to this region; see above on its contents.
        unsafe { mm::madvise(self.start.as_ptr().cast(), self.mapped_len, advice) }
    }

    pub(crate) fn sync(&self) -> Result<()> {
        // SAFETY: the range belongs to this region, and its contents stay.
        unsafe {
            mm::msync(
                self.start.as_ptr().cast(),
                self.mapped_len,
                MsyncFlags::SYNC,
            )
        }
        .map_err(Error::os("synchronise a mapping"))
    }
}

impl Drop for Mapping {
    fn drop(&mut self) {
        // Unregister before another mapping can get this range.
        self.watch = None;
        // SAFETY: the range belongs to this region, and no slice of it can outlive `self`. The call
        // cannot fail, since `mmap` returned the range.
        let _ = unsafe { mm::munmap(self.reserved.as_ptr().cast(), self.reserved_len) };
    }
}

fn nonnull(address: *mut u8) -> NonNull<u8> {
    NonNull::new(address).expect("a successful mmap without MAP_FIXED never maps page 0")
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use super::*;
    use crate::file::LockedFile;
    use crate::memory::{FileMapping, Mapping};

    #[test]
    fn huge_pages_are_huge_or_refused_with_a_reason() {
        match Mapping::anonymous(16 << 20, PageSize::Huge) {
            Ok(mut memory) => {
                let alignment = huge_page_bytes().unwrap() as usize;
                assert!(memory.as_slice().as_ptr().addr().is_multiple_of(alignment));
                // A neighbour of the same kind must not count.
                let mut neighbour = Mapping::anonymous(16 << 20, PageSize::Huge).unwrap();
                neighbour.populate().unwrap();
                assert_eq!(memory.huge_bytes().unwrap(), 0);
                memory.populate().unwrap();
                let huge = memory.huge_bytes().unwrap();
                if huge == 0 {
                    println!("skipped: the kernel found no free huge page");
                }
                assert!(huge <= 16 << 20);
            }
            Err(Error::NoHugePages { reason }) => println!("skipped: {reason}"),
            Err(error) => panic!("{error}"),
        }
    }

    fn file_holding(text: &str) -> tempfile::NamedTempFile {
        let mut file = tempfile::NamedTempFile::new().unwrap();
        file.write_all(text.as_bytes()).unwrap();
        file
    }

    #[test]
    fn a_file_that_is_cut_short_reads_as_zeros_and_is_an_error() {
        let page = base_page_bytes();
        let file = file_holding(&"x".repeat(4 * page));
        let mut locked = LockedFile::lock(file.reopen().unwrap(), Access::Write).unwrap();
        let mut mapping = FileMapping::new(&mut locked, 0, 4 * page).unwrap();
        assert!(mapping.as_slice().iter().all(|byte| *byte == b'x'));
        mapping.ensure_whole().unwrap();

        file.as_file().set_len(page as u64 + 1).unwrap();
        mapping.ensure_whole().unwrap();
        let (kept, gone) = mapping.as_slice().split_at(page + 1);
        assert!(kept.iter().all(|byte| *byte == b'x'));
        assert!(gone.iter().all(|byte| *byte == 0));
        let error = mapping.ensure_whole().unwrap_err();
        assert!(error.to_string().contains("cut short"), "{error}");
        mapping.as_mut_slice().unwrap().fill(1);
        assert_eq!(std::fs::read(file.path()).unwrap(), vec![1; page + 1]);
    }

    #[test]
    fn a_file_that_is_cut_short_before_a_write_is_an_error() {
        let page = base_page_bytes();
        let file = file_holding(&"x".repeat(2 * page));
        let mut locked = LockedFile::lock(file.reopen().unwrap(), Access::Write).unwrap();
        let mut mapping = FileMapping::new(&mut locked, 0, 2 * page).unwrap();
        file.as_file().set_len(0).unwrap();
        mapping.as_mut_slice().unwrap().fill(1);
        mapping.ensure_whole().unwrap_err();
        drop(mapping);
        // The next mapping starts without marks.
        locked.file().set_len(page as u64).unwrap();
        let mapping = FileMapping::new(&mut locked, 0, page).unwrap();
        assert_eq!(mapping.as_slice()[0], 0);
        mapping.ensure_whole().unwrap();
    }

    #[test]
    fn a_file_that_cannot_be_mapped_is_an_error() {
        let file = file_holding("x");
        let read_only = File::open(file.path()).unwrap();
        let mut read_only = LockedFile::lock(read_only, Access::Write).unwrap();
        FileMapping::new(&mut read_only, 0, 1).unwrap_err();

        let file = file_holding("x");
        let mut locked = LockedFile::lock(file.reopen().unwrap(), Access::Read).unwrap();
        FileMapping::new(&mut locked, 1, 1).unwrap_err();
        FileMapping::new(&mut locked, 0, 0).unwrap_err();
    }
}
