//! The events that threads wait for.

use core::fmt;

/// The event that a blocked thread waits for.
///
/// ```
/// assert_eq!(uthread::Wait::Lock.to_string(), "waits for a lock");
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum Wait {
    /// A lock.
    Lock,
    /// The lock that it handed over in a signal.
    Urgent,
    /// A condition variable.
    Condition,
    /// The end of a thread.
    Join,
    /// A `resume`.
    Suspended,
    /// A permit of a semaphore.
    Semaphore,
    /// A value in a channel, or room for one.
    Channel,
    /// Other threads at a barrier.
    Barrier,
    /// Another thread in a function that runs once.
    Once,
    /// A transfer in the kernel.
    Io,
    /// A point in time.
    Sleep,
}

impl fmt::Display for Wait {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Lock => "waits for a lock",
            Self::Urgent => "has signalled and waits for its lock",
            Self::Condition => "waits for a condition",
            Self::Join => "joins a thread",
            Self::Suspended => "is suspended",
            Self::Semaphore => "waits for a semaphore",
            Self::Channel => "waits for a channel",
            Self::Barrier => "waits at a barrier",
            Self::Once => "waits for a function that runs once",
            Self::Io => "waits for input or output",
            Self::Sleep => "sleeps",
        })
    }
}
