//! How much memory there is, and memory of a known page size.

use std::io;
use std::marker::PhantomData;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::file::{Access, LockedFile};
use crate::{Error, Result, os};

/// Memory that this process could still use without swapping, in bytes: the least of what the
/// system has, what the control groups leave and what the address-space limit leaves.
pub fn available_bytes() -> Option<u64> {
    os::memory::available_bytes()
}

/// A control group with a limit on memory that holds this process.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct GroupRoom {
    /// What its processes together may hold, in bytes.
    pub limit_bytes: u64,
    /// What they can still have, in bytes. Pages of files that were not used of late count as free.
    pub left_bytes: u64,
}

/// The control group around this process that leaves the least memory; `None` if none has a limit.
pub fn group_room() -> Option<GroupRoom> {
    os::memory::group_room()
}

/// Memory that this process has in RAM, its page tables included, in bytes. What the kernel keeps
/// for the process otherwise, such as the kernel stacks of its threads, is not in it.
pub fn footprint_bytes() -> Option<u64> {
    os::memory::footprint_bytes()
}

/// The pages behind a [`Mapping`]. Their sizes are in [`crate::machine::Machine`].
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "snake_case")]
pub enum PageSize {
    /// The smallest, on x86-64 always 4 KiB.
    Base,
    /// The size of transparent huge pages, on x86-64 2 MiB.
    Huge,
}

/// What a program tells about its use of memory
/// ([madvise(2)](https://man7.org/linux/man-pages/man2/madvise.2.html)).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Advice {
    /// Nothing in particular.
    Normal,
    /// From the start to the end.
    Sequential,
    /// In no order: reading ahead is of no use.
    Random,
    /// Soon.
    WillNeed,
    /// Not soon. Private memory loses its contents and reads as zeros.
    DontNeed,
}

/// Private memory that starts on the boundary of a huge page and has inaccessible pages on both
/// sides. It reads as zeros, and its pages are made at the first touch. Given back on drop.
#[derive(Debug)]
pub struct Mapping {
    region: os::memory::Region,
}

impl Mapping {
    /// Reserves `len` bytes (at least 1) that shall be backed by pages of one size: huge ones as far
    /// as the kernel finds them ([`Mapping::huge_bytes`] tells how far that was), or base ones only.
    ///
    /// # Errors
    /// [`Error::NoHugePages`] with the reason, if huge ones are asked for and switched off;
    /// [`Error::Os`] if the memory cannot be had.
    pub fn anonymous(len: usize, page_size: PageSize) -> Result<Self> {
        os::memory::Region::anonymous(len, page_size).map(|region| Self { region })
    }

    /// Length in bytes, as asked for.
    #[expect(clippy::len_without_is_empty, reason = "a mapping is never empty")]
    pub fn len(&self) -> usize {
        self.region.as_slice().len()
    }

    /// The memory.
    pub fn as_slice(&self) -> &[u8] {
        self.region.as_slice()
    }

    /// The memory, to be changed.
    pub fn as_mut_slice(&mut self) -> &mut [u8] {
        self.region.as_mut_slice()
    }

    /// Makes all pages now, so that no later touch faults. The contents stay.
    ///
    /// # Errors
    /// If memory runs out.
    pub fn populate(&mut self) -> Result<()> {
        self.region.populate()
    }

    /// How many bytes are backed by huge pages now.
    ///
    /// # Errors
    /// If the system does not tell.
    pub fn huge_bytes(&self) -> Result<u64> {
        self.region.huge_bytes()
    }

    /// Tells the kernel how the memory will be used.
    ///
    /// # Errors
    /// If the kernel refuses.
    pub fn advise(&mut self, advice: Advice) -> Result<()> {
        self.region.advise(advice)
    }

    /// Asks the kernel to move all of it to swap now (`MADV_PAGEOUT`, Linux since 5.4). It moves what
    /// it likes: ask [`Mapping::resident_bytes`], and ask again.
    ///
    /// # Errors
    /// [`crate::Error::NotSupported`] by an older kernel.
    pub fn page_out(&mut self) -> Result<()> {
        self.region.page_out()
    }

    /// Has pages that are not there yet come from the memory of one [`crate::node::Node`] and no
    /// other ([mbind(2)](https://man7.org/linux/man-pages/man2/mbind.2.html)).
    ///
    /// # Errors
    /// If there is no such node or it has no memory; [`crate::Error::NotPermitted`] in containers
    /// that forbid the call.
    pub fn bind_to_node(&mut self, node: usize) -> Result<()> {
        self.region.bind_to_node(node)
    }

    /// How many bytes lie in the memory of a node now
    /// ([move_pages(2)](https://man7.org/linux/man-pages/man2/move_pages.2.html)).
    ///
    /// # Errors
    /// As for [`Mapping::bind_to_node`].
    pub fn bytes_on_node(&self, node: usize) -> Result<u64> {
        self.region.bytes_on_node(node)
    }

    /// How many bytes are in memory now, those about to be swapped included
    /// ([mincore(2)](https://man7.org/linux/man-pages/man2/mincore.2.html)).
    ///
    /// # Errors
    /// If the system does not tell.
    pub fn resident_bytes(&self) -> Result<u64> {
        self.region.resident_bytes()
    }
}

/// A part of a file as memory, shared with the file: what is written here reaches it, and anybody
/// who reads it. Taken away on drop.
///
/// The file is locked and borrowed for as long, so that oscope cannot change it behind the slices.
/// Another program that ignores the lock can, as it can write to `/proc/PID/mem`. Should it cut the
/// file short, what is gone reads as zeros and takes writes that reach nobody, instead of ending the
/// process with SIGBUS; [`FileMapping::ensure_whole`] tells.
#[derive(Debug)]
pub struct FileMapping<'file> {
    region: os::memory::Region,
    access: Access,
    file: PhantomData<&'file mut LockedFile>,
}

impl<'file> FileMapping<'file> {
    /// Maps `len` bytes (at least 1) from `offset`, a multiple of the page size. The file should be
    /// at least that long.
    ///
    /// # Errors
    /// If the file's system cannot map, the offset is no multiple, or the file was not opened for
    /// what it was locked for.
    pub fn new(file: &'file mut LockedFile, offset: u64, len: usize) -> Result<Self> {
        let access = file.access();
        let region = os::memory::Region::file(file.file(), offset, len, access)?;
        Ok(Self {
            region,
            access,
            file: PhantomData,
        })
    }

    /// Length in bytes.
    #[expect(clippy::len_without_is_empty, reason = "a mapping is never empty")]
    pub fn len(&self) -> usize {
        self.region.as_slice().len()
    }

    /// The bytes.
    pub fn as_slice(&self) -> &[u8] {
        self.region.as_slice()
    }

    /// The bytes, to be changed; `None` if the file was locked for reading.
    pub fn as_mut_slice(&mut self) -> Option<&mut [u8]> {
        (self.access == Access::Write).then(|| self.region.as_mut_slice())
    }

    /// Makes sure that whatever was touched so far was the file. To be asked after the bytes were
    /// used and before what came of them is believed.
    ///
    /// # Errors
    /// [`Error::Os`] with [`io::ErrorKind::UnexpectedEof`] if a part of the file was gone: cut off,
    /// or on a device that failed.
    pub fn ensure_whole(&self) -> Result<()> {
        if self.region.has_lost() {
            let reason = "it was cut short, or its device failed, while it was mapped";
            let error = io::Error::new(io::ErrorKind::UnexpectedEof, reason);
            return Err(Error::os("use a mapped file")(error));
        }
        Ok(())
    }

    /// Waits until what was changed is on the device
    /// ([msync(2)](https://man7.org/linux/man-pages/man2/msync.2.html) with `MS_SYNC`).
    ///
    /// # Errors
    /// If the device refuses.
    pub fn sync(&self) -> Result<()> {
        self.region.sync()
    }

    /// Tells the kernel how the memory will be used.
    ///
    /// # Errors
    /// If the kernel refuses.
    pub fn advise(&mut self, advice: Advice) -> Result<()> {
        self.region.advise(advice)
    }
}
