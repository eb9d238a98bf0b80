//! The side that gets the files.

mod connection;
mod door;
mod greeting;
mod incoming;
mod listener;
mod method;
mod place;
mod room;
mod store;
mod target;

pub use listener::Receiver;

use crate::method::ReceiveMethod;
use crate::outcome::Outcome;
use crate::{Cover, Limits, Token};
use std::net::SocketAddr;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::AtomicU64;
use std::time::Duration;

/// How files are received.
#[derive(Clone)]
#[expect(clippy::struct_excessive_bools, reason = "each is a switch of its own")]
pub struct Options {
    /// Where they go; `None` throws them away once they are verified.
    pub directory: Option<PathBuf>,
    /// Whether it serves measurements and nothing else: the sender chooses how each file is received,
    /// and what was received goes away with the next file or the connection.
    pub measures: bool,
    /// How the receiver writes them, where the sender does not choose; `None` for the fastest.
    pub method: Option<ReceiveMethod>,
    /// What both sides know. Without one only this machine is listened to, and only the user of this
    /// process.
    pub token: Option<Token>,
    /// Whether contents that are not sealed are taken, though there is a token.
    pub unsealed: bool,
    /// Whether files are taken whose names begin with a dot.
    pub allow_hidden: bool,
    /// The largest file, in bytes.
    pub max_size: u64,
    /// The most files of one connection.
    pub max_files: u64,
    /// The most bytes that files which are not complete may take together, to be gone on with.
    pub max_partial: u64,
    /// The most connections at a time.
    pub max_connections: usize,
    /// Whether a file is on the device before it counts as stored.
    pub fsync: bool,
    /// Whether files that are there are replaced.
    pub force: bool,
    /// What is borne.
    pub limits: Limits,
    /// Counts the bytes that were received, for whoever watches.
    pub progress: Arc<AtomicU64>,
}

/// Something that happened at a receiver.
#[derive(Debug)]
pub enum Event<'e> {
    /// A sender that may send has connected.
    Began {
        /// Who.
        peer: SocketAddr,
        /// What protects contents on their way.
        cover: Cover,
    },
    /// A file has come to its end, good or bad.
    Settled {
        /// From whom.
        peer: SocketAddr,
        /// What became of it.
        outcome: &'e Outcome,
    },
    /// A connection has come to its end.
    Ended {
        /// Whose.
        peer: SocketAddr,
        /// CPU time spent on it.
        cpu: Duration,
    },
    /// A connection was given up.
    GivenUp {
        /// Whose.
        peer: SocketAddr,
        /// Why.
        reason: String,
    },
}

/// Is told what happens, from several threads.
pub type Observer<'o> = dyn Fn(&Event<'_>) + Sync + 'o;
