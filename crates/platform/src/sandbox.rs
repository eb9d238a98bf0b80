//! Forbids system calls, as a container's profile does.

pub use crate::os::sandbox::forbid;

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
