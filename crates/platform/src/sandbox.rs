//! Calls that are forbidden, as a container's profile forbids them.

use crate::{Result, os};

/// A call that can be forbidden.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Call {
    /// Making a counter to wait for ([`crate::channel::event_counter`]).
    EventCounter,
    /// Making a timer to wait for ([`crate::timer::Timer`]).
    Timer,
}

/// Forbids `call` to this thread, and to all threads and processes that it starts from now on: it
/// fails with "operation not permitted". There is no way back
/// ([seccomp(2)](https://man7.org/linux/man-pages/man2/seccomp.2.html)).
///
/// It is for finding out what a program does under such a profile.
///
/// # Errors
/// If this kernel has no such filters, or not for this processor.
pub fn forbid(call: Call) -> Result<()> {
    os::sandbox::forbid(call)
}
