//! Limits on the memory of a worker, and swap for it, all undone even after this process was killed.
//!
//! What is made here is recorded in a scratch directory before it is made. [`crate::scratch`] undoes
//! it before it removes that directory, whether its owner ended well or was killed: the processes
//! of the group are killed and waited for, its limit is raised, the swap file is switched off, and
//! the group, the file and the record go.

use std::path::Path;

use crate::{Result, os};

/// A control group whose processes together may hold so much memory and no more
/// ([cgroups(7)](https://man7.org/linux/man-pages/man7/cgroups.7.html), version 1 or 2). A worker
/// enters it before its program starts ([`crate::process::WorkerOptions`]). Dropping it kills
/// whoever is still in it and removes it.
#[derive(Debug)]
pub struct MemoryGroup {
    pub(crate) group: os::confinement::Group,
}

impl MemoryGroup {
    /// Makes a group. There is one at a time for each scratch directory.
    ///
    /// # Errors
    /// [`crate::Error::NotPermitted`] without the right to; [`crate::Error::NotSupported`] where no
    /// memory controller is within reach; [`crate::Error::TooMuch`] if the limit is above what is
    /// available, since the host and not the limit would then stop the group.
    pub fn create(limit_bytes: u64, scratch: &Path) -> Result<Self> {
        os::confinement::Group::create(limit_bytes, scratch).map(|group| Self { group })
    }
}

impl MemoryGroup {
    /// Lets the group move nothing to swap: what does not fit within the limit ends a process of it.
    ///
    /// # Errors
    /// If the system does not let it.
    pub fn forbid_swap(&self) -> Result<()> {
        self.group.forbid_swap()
    }

    /// The most memory that the group has held so far, in bytes, pages of files included; `None` where
    /// the kernel does not tell (version 2 before Linux 5.19).
    pub fn peak_bytes(&self) -> Option<u64> {
        self.group.peak_bytes()
    }
}

/// A temporary file that the system uses as swap. Dropping it switches it off and removes it.
#[derive(Debug)]
pub struct SwapFile {
    _file: os::confinement::SwapFile,
}

impl SwapFile {
    /// Makes a file of so many bytes in a scratch directory, one for each directory, and switches it
    /// on ([swapon(2)](https://man7.org/linux/man-pages/man2/swapon.2.html)).
    ///
    /// # Errors
    /// [`crate::Error::NotPermitted`] without the right to, [`crate::Error::NotSupported`] where the
    /// file system cannot hold swap, [`crate::Error::Path`] if there is no room.
    pub fn create(len_bytes: u64, scratch: &Path) -> Result<Self> {
        os::confinement::SwapFile::create(len_bytes, scratch).map(|file| Self { _file: file })
    }
}

/// Whether [`MemoryGroup::create`] is likely to work here.
pub fn can_limit_memory() -> bool {
    os::confinement::can_limit_memory()
}

/// Swap that nobody uses, in bytes.
pub fn free_swap_bytes() -> u64 {
    os::confinement::free_swap_bytes()
}
