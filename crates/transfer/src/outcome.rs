//! What became of files.

use std::time::Duration;

/// How long a file took at the receiver.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Timing {
    /// From its announcement until its last byte was received.
    pub received: Duration,
    /// From its announcement until it was complete under its name: in the page cache, or on the
    /// device if that was asked for.
    pub stored: Duration,
}

/// What became of a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Outcome {
    /// Its name as bytes.
    pub name: Vec<u8>,
    /// Its size in bytes, as far as it is known.
    pub size: u64,
    /// How long it took.
    pub timing: Timing,
    /// Why it was not kept; `None` if it was.
    pub failure: Option<String>,
}
