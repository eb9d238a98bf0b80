//! Transfers files between machines over TCP.
//!
//! # What it is
//!
//! The protocol ([`protocol`], described in `docs/internals/transfer-protocol.md`), a [`sender`] and a
//! [`receiver`]. Each side chooses its [`method`] of moving bytes; every sending method works with
//! every receiving one. A file appears under its name only when all of it has arrived and every
//! frame of it was verified.
//!
//! # What it uses
//!
//! `platform` for every system call that the standard library does not have. With a token everything is
//! sealed: `snow` provides the handshake, `aws-lc-rs` the ciphers. Without one, XXH3 checksums the
//! frames. BLAKE3 identifies the ranges of a file that the receiver already has.
//!
//! # What it must never do
//!
//! Print, read the command line, or know any experiment.

mod connection;
mod cover;
mod error;
pub mod method;
pub mod protocol;
mod ranges;
pub mod receiver;
pub mod sender;
mod token;

pub use cover::{Cover, Suite};
pub use error::{Distrust, Error, Result};
pub use token::Token;

use platform::usage::Usage;
use std::sync::atomic::AtomicBool;
use std::time::Duration;
#[cfg(test)]
use testing as _;

/// Limits that apply to either side of a transfer.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    /// Longest silence, or near-silence, of a peer before it is given up.
    pub patience: Duration,
    /// Becomes true when the transfer should stop.
    pub stop: &'static AtomicBool,
}

/// Default of [`Limits::patience`].
pub const USUAL_PATIENCE: Duration = Duration::from_secs(30);

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
#[derive(Clone, Debug, Default, PartialEq, Eq)]
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
    /// sender reports it only if the receiver must have got some.
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
