//! Files from one machine to another over TCP, each side reading or writing in the way it is told.
//!
//! # What it is
//!
//! The protocol ([`protocol`], described in `docs/transfer-protocol.md`), a [`sender`] and a
//! [`receiver`]. Either side chooses its [`method`] of moving bytes; any of one works with any of the
//! other. A file appears under its name only when all of it has arrived and each frame of it was found
//! as it was sent.
//!
//! # What it uses
//!
//! `platform` for every call that the standard library does not have. With a token everything is sealed:
//! the handshake is `snow`'s, the cipher `aws-lc-rs`'s. Without one frames are summed by XXH3. BLAKE3 names
//! ranges of files, of which one side has a part already.
//!
//! # What it must never do
//!
//! Print, read the command line, or know any experiment.

mod buffer;
mod clock;
mod connection;
mod cover;
mod error;
pub mod method;
mod outcome;
pub mod protocol;
mod random;
mod ranges;
pub mod receiver;
pub mod sender;
mod token;

pub use cover::{Cover, Suite};
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
