//! Limits on the memory of a worker, and swap for it. Both are undone even if this process is
//! killed.
//!
//! Everything created here is recorded in a scratch directory first. [`crate::scratch`] undoes it
//! before it removes that directory, whether its owner exited or was killed, in this order: it
//! kills the processes of the group and waits for them, raises the limit, switches the swap file
//! off, and removes the group, the file and the record.

use std::path::Path;
use std::time::Duration;

use crate::{Result, os};

/// A control group that limits the total memory of its processes
/// ([cgroups(7)](https://man7.org/linux/man-pages/man7/cgroups.7.html), version 1 or 2). A worker
/// enters it before its program starts ([`crate::process::WorkerOptions`]). Dropping it kills all
/// processes in it and removes it.
#[derive(Debug)]
pub struct MemoryGroup(pub(crate) os::confinement::MemoryGroup);

/// A temporary swap file. Dropping it switches it off and removes it.
#[derive(Debug)]
pub struct SwapFile(
    #[allow(dead_code, reason = "it is held until it is dropped")] os::confinement::SwapFile,
);

face! {
    os::confinement;

    /// True if [`MemoryGroup::create`] will probably work here.
    pub fn can_limit_memory() -> bool = false;

    /// Free swap space, in bytes.
    pub fn free_swap_bytes() -> u64 = 0;

    // True for the names of the files that tell `undo` what to undo.
    fn is_record(name: &str) -> bool = false;
    // Undoes everything created for a scratch directory.
    fn undo(scratch: &Path, exit_wait: Duration) -> Result<()> = Ok(());

    impl MemoryGroup {
        /// Creates a group. Each scratch directory can have one at a time. Its removal kills its
        /// processes, and gives up if they have not left the group after `exit_wait`. The limit
        /// reserves no memory, and may exceed the available memory.
        ///
        /// # Errors
        /// [`crate::Error::NotPermitted`] without the right; [`crate::Error::NotSupported`] if no
        /// memory controller is accessible.
        pub fn create(limit_bytes: u64, scratch: &Path, exit_wait: Duration) -> Result<Self>
            = refuse("limiting the memory of a worker");

        /// Forbids swap for the group: if its memory does not fit within the limit, one of its
        /// processes is killed.
        ///
        /// # Errors
        /// If the system refuses.
        pub fn forbid_swap(&self) -> Result<()>;

        /// The group's peak memory so far, in bytes, page cache included; `None` if the kernel does not
        /// report it (version 2 before Linux 5.19).
        pub fn peak_bytes(&self) -> Option<u64>;
    }

    impl SwapFile {
        /// Creates a swap file of `len_bytes` in a scratch directory, one per directory, and switches
        /// it on ([swapon(2)](https://man7.org/linux/man-pages/man2/swapon.2.html)).
        ///
        /// # Errors
        /// [`crate::Error::NotPermitted`] without the right, [`crate::Error::NotSupported`] if the file
        /// system does not support swap files, [`crate::Error::Path`] if no space is left.
        pub fn create(len_bytes: u64, scratch: &Path) -> Result<Self>
            = refuse("a temporary swap file");
    }
}
