//! Outcomes of files.

use platform::usage::Usage;
use std::time::Duration;

/// Time that a file took at the receiver.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Timing {
    /// From its announcement until its last byte was received.
    pub received: Duration,
    /// From its announcement until it was complete under its name: in the page cache, or on the
    /// device if the receiver syncs files.
    pub stored: Duration,
}

/// The outcome of one file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Outcome {
    /// The file's name as bytes.
    pub name: Vec<u8>,
    /// The file's size in bytes, as far as it is known.
    pub size: u64,
    /// Time that the file took.
    pub timing: Timing,
    /// The reason why the file was not kept; `None` if it was.
    pub failure: Option<String>,
    /// True if the receiver keeps the beginning of a file that failed, so that it can be resumed. A
    /// sender says so only if the receiver must have got some.
    pub is_kept: bool,
    /// True if the file failed since the receiver has no room for it.
    pub needs_room: bool,
}

/// CPU time of the calling thread; zero where the system does not account for it.
pub(crate) fn thread_cpu() -> Duration {
    Usage::of_thread().map_or(Duration::ZERO, |usage| {
        Duration::from_nanos(usage.user_ns + usage.system_ns)
    })
}
