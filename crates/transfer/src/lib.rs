//! Transfers files between machines over TCP. Each side chooses its own method of reading or
//! writing.
//!
//! # What it is
//!
//! The protocol ([`protocol`], described in `docs/transfer-protocol.md`), a [`sender`] and a
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

#[cfg(test)]
use testing as _;
mod connection;
mod cover;
mod error;
pub mod method;
mod outcome;
mod peer;
pub mod protocol;
mod ranges;
pub mod receiver;
pub mod sender;
mod token;

pub use cover::{Cover, Suite};
pub use error::{Distrust, Error, Result};
pub use outcome::{Outcome, Timing};
pub use token::Token;

use std::sync::atomic::AtomicBool;
use std::time::Duration;

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
