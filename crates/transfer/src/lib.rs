//! Files from one machine to another over TCP, each side reading or writing in the way it is told.
//!
//! # What it is
//!
//! The protocol ([`protocol`], described in `docs/transfer-protocol.md`), a [`sender`] and a
//! [`receiver`]. Either side chooses its [`method`] of moving bytes; any of one works with any of the
//! other. A file appears under its name only when all of it has arrived and its checksum agrees.
//!
//! # What it uses
//!
//! `platform` for every call that the standard library does not have. The checksum of what is sent
//! without a token is XXH3, the fastest there is with 128 bits; with a token it is BLAKE3, which
//! nobody can forge.
//!
//! # What it must never do
//!
//! Print, read the command line, or know any experiment.

mod buffer;
mod clock;
mod connection;
mod digest;
mod error;
pub mod method;
mod outcome;
pub mod protocol;
mod random;
pub mod receiver;
pub mod sender;
mod token;

pub use digest::Checksum;
pub use error::{Error, Result};
pub use outcome::{Outcome, Timing};
pub use token::Token;

use std::sync::atomic::AtomicBool;
use std::time::Duration;

/// What both sides of a transfer agree to bear.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    /// A peer that is silent, or next to it, for so long is given up.
    pub patience: Duration,
    /// Raised when the transfer shall stop.
    pub stop: &'static AtomicBool,
}

/// How long a peer may be silent if nobody says otherwise.
pub const USUAL_PATIENCE: Duration = Duration::from_secs(30);
