//! Forbids system calls, as a container's profile does.

use crate::Result;

/// A system call that can be forbidden.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Call {
    /// Creation of an event counter ([`crate::channel::event_counter`]).
    EventCounter,
    /// Creation of a timer ([`crate::timer::Timer`]).
    Timer,
    /// A copy within the kernel ([`crate::block_io::copy_range`]).
    CopyRange,
}

face! {
    os::sandbox;

    /// Forbids `call` for this thread, and for all threads and processes that it starts from now on:
    /// the call fails with "operation not permitted". This cannot be undone
    /// ([seccomp(2)](https://man7.org/linux/man-pages/man2/seccomp.2.html)).
    ///
    /// Use it to test a program under such a profile.
    ///
    /// # Errors
    /// If this kernel has no such filters, or not for this processor.
    pub fn forbid(call: Call) -> Result<()> = refuse("forbidding calls");
}
