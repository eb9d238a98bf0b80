//! The parts of a machine that a value can be about.

use choice::Choice;

/// A part of a machine, or of its operating system, that can be slow by itself. Its name is for readers as well.
#[derive(Choice, Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Component {
    /// Arithmetic, library functions and the caches of one core.
    Core,
    /// The cache that cores share.
    SharedCache,
    /// Memory beyond all caches.
    Memory,
    /// Memory in huge pages.
    HugePages,
    /// System calls.
    #[choice("system calls")]
    Calls,
    /// Processes and their pages: fork, exec, page faults.
    Processes,
    /// Threads, locks, and what goes from one core to another.
    Threads,
    /// Pauses of threads that compute.
    Interruptions,
    /// Files in the page cache.
    #[choice("page cache")]
    Files,
    /// The device below the files.
    Disk,
    /// Connections to other programs and machines.
    Network,
}
