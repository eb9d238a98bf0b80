//! Amounts of memory, and memory with a given page size.

use std::fs::File;
use std::io;
use std::marker::PhantomData;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::file::{Access, LockedFile};
use crate::{Error, Result, os};

/// A control group with a memory limit that contains this process.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct GroupRoom {
    /// Limit for the sum of its processes, in bytes.
    pub limit_bytes: u64,
    /// Memory left in it, in bytes. Inactive page-cache pages count as free.
    pub left_bytes: u64,
}

/// Page size of a [`Mapping`]; [`page_bytes`] tells it in bytes.
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "snake_case")]
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
    /// No special pattern.
    Normal,
    /// From start to end.
    Sequential,
    /// At random: read-ahead is of no use.
    Random,
    /// The memory is needed soon.
    WillNeed,
    /// The memory is not needed soon. Private memory loses its contents and reads as zeros.
    DontNeed,
}

/// Private memory that starts on a huge-page boundary and has inaccessible pages on both sides. It
/// reads as zeros, and its pages are allocated on the first touch. Dropping it unmaps it.
#[derive(Debug)]
pub struct Mapping(os::memory::Mapping);

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
/// The file stays locked and borrowed meanwhile, so that oscope cannot change it during the life of
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
        let access = file.access();
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
}

face! {
    os::memory;

    /// Memory that this process can still use without swapping, in bytes: the minimum of the system's
    /// available memory, the room in its control groups and the room under its address-space limit.
    pub fn available_bytes() -> Option<u64> = None;

    /// Size of a page in bytes; `None` if the system has no such pages. Cheaper than
    /// [`Machine::read`](crate::machine::Machine::read), which looks at every processor.
    pub fn page_bytes(size: PageSize) -> Option<u64> = None;

    /// The control group of this process that leaves the least memory; `None` if no group has a limit.
    pub fn group_room() -> Option<GroupRoom> = None;

    /// Resident memory of this process in bytes, including its page tables. It does not include other
    /// kernel memory of the process, such as the kernel stacks of its threads.
    pub fn footprint_bytes() -> Option<u64> = None;

    /// True if this virtual machine reports its free pages to its host, which may take them back
    /// ([free page reporting](https://docs.kernel.org/mm/free_page_reporting.html)).
    pub fn reports_free_pages() -> Option<bool> = None;

    /// Allocations since the start of the system that had to wait until the kernel had moved pages to
    /// make a large block.
    pub fn compaction_stalls() -> Option<u64> = None;

    impl Mapping {
        /// Reserves `len` bytes (at least 1) with pages of one size: base pages only, or huge pages as
        /// far as the kernel can allocate them ([`Mapping::huge_bytes`] reports the number of bytes).
        ///
        /// # Errors
        /// [`Error::NoHugePages`] with the reason, if huge pages are requested and switched off;
        /// [`Error::Os`] if the memory cannot be mapped.
        pub fn anonymous(len: usize, page_size: PageSize) -> Result<Self>
            = refuse("memory of a known page size");

        /// The memory.
        pub fn as_slice(&self) -> &[u8];

        /// The memory, mutable.
        pub fn as_mut_slice(&mut self) -> &mut [u8];

        /// Allocates all pages now, so that no later touch faults. The contents stay.
        ///
        /// # Errors
        /// If memory runs out.
        pub fn populate(&mut self) -> Result<()>;

        /// Bytes currently backed by huge pages.
        ///
        /// # Errors
        /// If the system does not report it.
        pub fn huge_bytes(&self) -> Result<u64> = refuse("counting huge pages");

        /// Gives the kernel a hint about the use of the memory.
        ///
        /// # Errors
        /// If the kernel refuses.
        pub fn advise(&mut self, advice: Advice) -> Result<()> = refuse("advice on memory");

        /// Asks the kernel to move all of it to swap now (`MADV_PAGEOUT`, Linux since 5.4). The kernel
        /// may move only a part: check [`Mapping::resident_bytes`], and repeat.
        ///
        /// # Errors
        /// [`crate::Error::NotSupported`] on an older kernel.
        pub fn page_out(&mut self) -> Result<()> = refuse("moving memory to swap on request");

        /// Binds pages that are not allocated yet to the memory of one [`crate::node::Node`]
        /// ([mbind(2)](https://man7.org/linux/man-pages/man2/mbind.2.html)). Windows prefers that node, and
        /// refuses memory of which pages are in use already.
        ///
        /// # Errors
        /// If the node does not exist or has no memory; [`crate::Error::NotPermitted`] in containers
        /// that forbid the call.
        pub fn bind_to_node(&mut self, node: usize) -> Result<()>
            = refuse("binding memory to a node");

        /// Bytes that are currently in the memory of a node
        /// ([move_pages(2)](https://man7.org/linux/man-pages/man2/move_pages.2.html)).
        ///
        /// # Errors
        /// As for [`Mapping::bind_to_node`].
        pub fn bytes_on_node(&self, node: usize) -> Result<u64>
            = refuse("asking for the node of memory");

        /// Bytes that are currently resident, including those about to be swapped out
        /// ([mincore(2)](https://man7.org/linux/man-pages/man2/mincore.2.html)).
        ///
        /// # Errors
        /// If the system does not report it.
        pub fn resident_bytes(&self) -> Result<u64> = refuse("asking for the residency of memory");
    }

    impl FileMapping<'_> {
        /// The bytes.
        pub fn as_slice(&self) -> &[u8];

        /// Waits until all changes are on the device
        /// ([msync(2)](https://man7.org/linux/man-pages/man2/msync.2.html) with `MS_SYNC`).
        ///
        /// # Errors
        /// If the device refuses.
        pub fn sync(&self) -> Result<()>;

        /// Gives the kernel a hint about the use of the memory.
        ///
        /// # Errors
        /// If the kernel refuses.
        pub fn advise(&mut self, advice: Advice) -> Result<()> = refuse("advice on memory");

        fn over(file: &File, offset: u64, len: usize, access: Access) -> Result<Self>
            = refuse("mapping a file");
        fn as_mut_slice(&mut self) -> &mut [u8];
        fn has_lost(&self) -> bool;
    }
}

#[cfg(test)]
mod tests {
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
}
