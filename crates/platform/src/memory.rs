//! Amounts of memory, and memory with a given page size.

use std::io;
use std::marker::PhantomData;

use crate::file::{Access, LockedFile};
use crate::{Error, Result, os};

pub use crate::os::memory::{
    Mapping, available_bytes, compaction_stalls, footprint_bytes, group_room, page_bytes,
    reports_free_pages,
};

/// A control group with a memory limit that contains this process.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct GroupRoom {
    /// Limit for the sum of its processes, in bytes.
    pub limit_bytes: u64,
    /// Memory left in it, in bytes. Inactive page-cache pages count as free.
    pub left_bytes: u64,
}

/// Page size of a [`Mapping`]; [`page_bytes`] returns it in bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PageSize {
    /// The smallest, always 4 KiB on x86-64.
    Base,
    /// The size of transparent huge pages, 2 MiB on x86-64.
    Huge,
}

/// A program's hint about its use of memory
/// ([madvise(2)](https://man7.org/linux/man-pages/man2/madvise.2.html)).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Advice {
    /// From start to end.
    Sequential,
    /// At random: read-ahead is of no use.
    Random,
    /// The memory is not needed soon. Private memory loses its contents and reads as zeros.
    DontNeed,
}

impl Mapping {
    /// Requested length, in bytes.
    #[expect(clippy::len_without_is_empty, reason = "a mapping is never empty")]
    pub fn len(&self) -> usize {
        self.as_slice().len()
    }
}

/// A mapped part of a file, shared with the file: writes to the memory change the file, and all of
/// its readers see them. Dropping it unmaps it.
///
/// The file stays locked and borrowed, so that oscope cannot change it during the life of
/// the slices. Another program that ignores the lock can, just as it can write to `/proc/PID/mem`.
/// If it truncates the file, the lost part reads as zeros and writes to it are lost, instead of a
/// SIGBUS that kills the process; [`FileMapping::ensure_whole`] reports this.
#[derive(Debug)]
pub struct FileMapping<'file>(
    os::memory::FileMapping,
    Access,
    PhantomData<&'file mut LockedFile>,
);

impl<'file> FileMapping<'file> {
    /// Maps `len` bytes (at least 1) from `offset`, a multiple of the page size. The file should be
    /// at least that long.
    ///
    /// # Errors
    /// If the file system does not support mappings, the offset is not a multiple, or the file was
    /// not opened for the access for which it is locked.
    pub fn new(file: &'file mut LockedFile, offset: u64, len: usize) -> Result<Self> {
        let access = file.access;
        let mapping = os::memory::FileMapping::over(file.file(), offset, len, access)?;
        Ok(Self(mapping, access, PhantomData))
    }

    /// Length in bytes.
    #[expect(clippy::len_without_is_empty, reason = "a mapping is never empty")]
    pub fn len(&self) -> usize {
        self.as_slice().len()
    }

    /// The bytes, mutable; `None` if the file was locked for reading.
    pub fn as_mut_slice(&mut self) -> Option<&mut [u8]> {
        (self.1 == Access::Write).then(|| self.0.as_mut_slice())
    }

    /// Checks that all bytes touched so far were the file's. Call it after using the bytes and
    /// before trusting the result.
    ///
    /// # Errors
    /// [`Error::Os`] with [`io::ErrorKind::UnexpectedEof`] if a part of the file was gone:
    /// truncated, or on a failed device. On Windows, a device that fails ends the process before.
    pub fn ensure_whole(&self) -> Result<()> {
        if self.0.has_lost() {
            let reason = "it was cut short, or its device failed, while it was mapped";
            let error = io::Error::new(io::ErrorKind::UnexpectedEof, reason);
            return Err(Error::os("use a mapped file")(error));
        }
        Ok(())
    }

    /// The bytes.
    pub fn as_slice(&self) -> &[u8] {
        self.0.as_slice()
    }

    /// Waits until all changes are on the device
    /// ([msync(2)](https://man7.org/linux/man-pages/man2/msync.2.html) with `MS_SYNC`).
    pub fn sync(&self) -> Result<()> {
        self.0.sync()
    }

    /// Gives the kernel a hint about the use of the memory.
    pub fn advise(&mut self, advice: Advice) -> Result<()> {
        self.0.advise(advice)
    }
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::io::Write;

    use super::*;

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

    #[test]
    fn impossible_lengths_are_errors() {
        Mapping::anonymous(0, PageSize::Base).unwrap_err();
        Mapping::anonymous(usize::MAX, PageSize::Base).unwrap_err();
        Mapping::anonymous(usize::MAX / 2, PageSize::Base).unwrap_err();
    }

    #[test]
    fn memory_reads_as_zeros_and_keeps_what_is_written() {
        let mut memory = Mapping::anonymous(100_000, PageSize::Base).unwrap();
        assert_eq!(memory.len(), 100_000);
        assert!(memory.as_slice().iter().all(|byte| *byte == 0));
        memory.as_mut_slice().fill(7);
        memory.populate().unwrap();
        assert!(memory.as_slice().iter().all(|byte| *byte == 7));
        memory.advise(Advice::DontNeed).unwrap();
        assert!(memory.as_slice().iter().all(|byte| *byte == 0));
        assert_eq!(memory.advise(Advice::Random).is_err(), cfg!(windows));
    }

    #[test]
    fn memory_is_resident_once_it_was_touched() {
        let mut memory = Mapping::anonymous(64 << 10, PageSize::Base).unwrap();
        assert_eq!(memory.resident_bytes().unwrap(), 0);
        memory.as_mut_slice()[..8 << 10].fill(7);
        assert_eq!(memory.resident_bytes().unwrap(), 8 << 10);
        assert_eq!(memory.huge_bytes().unwrap(), 0);
        assert_eq!(memory.page_out().is_err(), cfg!(windows));
        assert!(memory.as_slice()[..8 << 10].iter().all(|byte| *byte == 7));
    }

    fn file_of_pages() -> tempfile::NamedTempFile {
        let mut file = tempfile::NamedTempFile::new().unwrap();
        file.write_all(&[b'a'; 3 * 4096]).unwrap();
        file
    }

    #[test]
    fn a_file_changes_through_its_mapping() {
        let file = file_of_pages();
        let mut locked = LockedFile::lock(file.reopen().unwrap(), Access::Write).unwrap();
        LockedFile::lock(file.reopen().unwrap(), Access::Read).unwrap_err();
        let mut mapping = FileMapping::new(&mut locked, 4096, 4096).unwrap();
        mapping.as_mut_slice().unwrap()[..4].copy_from_slice(b"word");
        mapping.sync().unwrap();
        mapping.advise(Advice::DontNeed).unwrap();
        assert_eq!(&mapping.as_slice()[..5], b"worda");
        drop(locked);
        assert_eq!(fs::read(file.path()).unwrap()[4095..4101], *b"aworda");
    }

    #[test]
    fn readers_share_a_file_and_cannot_change_it() {
        let file = file_of_pages();
        let mut locked = LockedFile::lock(file.reopen().unwrap(), Access::Read).unwrap();
        LockedFile::lock(file.reopen().unwrap(), Access::Read).unwrap();
        LockedFile::lock(file.reopen().unwrap(), Access::Write).unwrap_err();
        let mut mapping = FileMapping::new(&mut locked, 0, 5).unwrap();
        assert_eq!(mapping.as_slice(), b"aaaaa");
        assert!(mapping.as_mut_slice().is_none());
    }
}
