//! The receiving side.

mod connection;
mod destination;
mod door;
mod entry;
mod greeting;
mod listener;
mod method;
mod new_file;
mod room;
mod target;

pub use listener::Receiver;

use crate::method::ReceiveMethod;
use crate::{Cover, Limits, Outcome, Token};
use std::net::SocketAddr;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::AtomicU64;
use std::time::Duration;
use std::{fmt, io};

/// Options of a receiver.
#[derive(Clone)]
#[expect(clippy::struct_excessive_bools, reason = "each is a separate switch")]
pub struct Options {
    /// The directory for files; `None` discards them once verified.
    pub directory: Option<PathBuf>,
    /// True if the receiver accepts only measurements: the sender chooses the method for each file,
    /// and a received file is deleted when the next one begins or the connection ends.
    pub measures: bool,
    /// The method, unless the sender chooses it; `None` for the fastest.
    pub method: Option<ReceiveMethod>,
    /// The shared secret. Without one, the receiver accepts only connections from this machine,
    /// made by its own user.
    pub token: Option<Token>,
    /// True to accept anyone without a token.
    pub insecure: bool,
    /// True if contents may arrive unsealed although there is a token.
    pub unsealed: bool,
    /// True if names of files may begin with a dot.
    pub allow_hidden: bool,
    /// Maximum size of a file, in bytes.
    pub max_size: u64,
    /// Maximum number of files per connection.
    pub max_files: u64,
    /// Maximum total size of incomplete files kept for resuming, in bytes.
    pub max_partial: u64,
    /// Maximum number of simultaneous connections.
    pub max_connections: usize,
    /// True if a file must be on the device before it counts as stored.
    pub fsync: bool,
    /// True if existing files are replaced.
    pub force: bool,
    /// Patience and stop flag.
    pub limits: Limits,
    /// Counter of received bytes, for a progress display.
    pub progress: Arc<AtomicU64>,
}

/// An event at a receiver.
#[derive(Debug)]
pub enum Event<'e> {
    /// An accepted sender has connected.
    Began {
        /// Address of the sender.
        peer: SocketAddr,
        /// Protection of file contents in transit.
        cover: Cover,
    },
    /// A file has ended, successfully or not.
    Settled {
        /// Address of the sender.
        peer: SocketAddr,
        /// Outcome of the file.
        outcome: &'e Outcome,
    },
    /// A connection has ended.
    Ended {
        /// Address of the sender.
        peer: SocketAddr,
        /// CPU time spent on the connection.
        cpu: Duration,
    },
    /// A connection was given up.
    GivenUp {
        /// Address of the peer.
        peer: SocketAddr,
        /// The reason.
        reason: String,
    },
}

/// Receives events, from several threads.
pub type Observer<'o> = dyn Fn(&Event<'_>) + Sync + 'o;

/// The reason why a file is not kept.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{reason}")]
struct Failure {
    reason: String,
    /// True if the device is full, or the user's share of it. The file may fit once others are gone.
    needs_room: bool,
}

impl Failure {
    /// Names the side on which the system refused.
    fn of_system(error: &dyn fmt::Display, kind: Option<io::ErrorKind>) -> Self {
        let needs_room = matches!(
            kind,
            Some(io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded)
        );
        Self {
            reason: format!("the receiver cannot store it: {error}"),
            needs_room,
        }
    }
}

impl From<String> for Failure {
    fn from(reason: String) -> Self {
        Self {
            reason,
            needs_room: false,
        }
    }
}

impl From<&str> for Failure {
    fn from(reason: &str) -> Self {
        reason.to_owned().into()
    }
}

impl From<io::Error> for Failure {
    fn from(error: io::Error) -> Self {
        Self::of_system(&error, Some(error.kind()))
    }
}

impl From<platform::Error> for Failure {
    fn from(error: platform::Error) -> Self {
        Self::of_system(&error, error.kind())
    }
}
