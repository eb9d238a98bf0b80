//! Errors of a transfer as a whole.

use crate::protocol::{Malformed, Verdict};
use std::io;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::time::Duration;

/// The error that ended a transfer, or one of its connections, early.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The peer cannot be reached.
    #[error("cannot connect to {address}: {reason}")]
    Connect {
        /// The peer's address.
        address: String,
        /// The system's reason.
        reason: io::Error,
    },
    /// The address cannot be listened on.
    #[error("cannot listen on {address}: {reason}")]
    Listen {
        /// The address.
        address: String,
        /// The system's reason.
        reason: io::Error,
    },
    /// A receiver without a token would listen at an address that other machines can reach.
    #[error("listening on {0}, which others can reach, needs a token (--token-file)")]
    Open(SocketAddr),
    /// A sender without a token would send to an address that another machine can have.
    #[error("sending to {0}, which is not on this machine, needs a token (--token-file)")]
    Away(SocketAddr),
    /// Without a token, the system would have to report who peers belong to.
    #[error("this system does not report who connects, so both sides need a token (--token-file)")]
    NoOwners,
    /// The sender does not trust the receiver.
    #[error("the receiver is not trusted: {0}, and there is no token (--token-file on both sides)")]
    Distrusted(Distrust),
    /// The peer closed the connection before the transfer was complete.
    #[error("the peer is gone")]
    PeerGone,
    /// The peer was silent, or nearly so, for this long.
    #[error("the peer was silent or too slow for {} s", .0.as_secs())]
    Silent(Duration),
    /// The peer did not identify itself in time.
    #[error("the peer did not prove in time that it may send")]
    Late,
    /// The program was asked to stop.
    #[error("interrupted")]
    Interrupted,
    /// The network failed.
    #[error("the connection failed: {0}")]
    Network(io::Error),
    /// The peer violated the protocol.
    #[error("the peer sent {0}")]
    Malformed(#[from] Malformed),
    /// The peer is no oscope sender; the text is its first words.
    #[error("no sender: {}", if .0.is_empty() { "it said nothing".into() } else { format!("it said \"{}\"", .0) })]
    Stranger(String),
    /// The receiver refused the sender.
    #[error("the receiver {}", words(*.0)[0])]
    Refused(Verdict),
    /// This receiver refused a sender.
    #[error("turned away: {}", words(*.0)[1])]
    TurnedAway(Verdict),
    /// This receiver, which has no token, does not trust a sender.
    #[error("turned away: {0}, and there is no token (--token-file)")]
    Untrusted(Distrust),
    /// The other side does not know the token.
    #[error("the peer does not know the token")]
    WrongToken,
    /// The handshake failed.
    #[error("the handshake failed: {0}")]
    Handshake(#[from] snow::Error),
    /// A method by which the kernel moves contents that must be sealed.
    #[error(
        "with a token contents are sealed, which the kernel cannot do: `--method {0}` needs \
             `--unsealed` on both sides, or another method: `--method file`"
    )]
    Unsealable(&'static str),
    /// No more threads can be started.
    #[error("cannot start a thread: {0} (a limit on processes, or too little memory)")]
    Thread(io::Error),
    /// A token file that cannot be used.
    #[error("cannot use the token in {}: {reason}", path.display())]
    Token {
        /// The file.
        path: PathBuf,
        /// The reason.
        reason: String,
    },
    /// The receiver does not measure, or cannot measure as requested.
    #[error("the receiver cannot measure this: {0}")]
    Unready(String),
    /// The system does not support the method.
    #[error("{0}; `--method file` works everywhere")]
    Method(#[source] platform::Error),
    /// Any other system call that failed.
    #[error(transparent)]
    Platform(#[from] platform::Error),
}

/// The reason why a peer is not trusted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Distrust {
    /// It is not on this machine.
    #[error("it is not on this machine")]
    Elsewhere,
    /// It belongs to another user.
    #[error("it belongs to another user")]
    AnotherUser,
    /// Its owner is unknown: it has closed the connection, or the system does not report it.
    #[error("the system does not report whose it is")]
    Unknown,
}

/// A result with this crate's [`Error`].
pub type Result<T> = std::result::Result<T, Error>;

/// Why a receiver refuses a sender: for the sender, and for the receiver.
fn words(verdict: Verdict) -> [&'static str; 2] {
    match verdict {
        Verdict::Welcome => ["goes on", "nothing is wrong with it"],
        Verdict::Version => [
            "speaks another version of the protocol: both sides need the same oscope",
            "it speaks another version of the protocol",
        ],
        Verdict::TokenNeeded => ["wants a token (--token-file)", "it has no token"],
        Verdict::NoToken => [
            "has no token to check the sender's with (--token-file)",
            "it has a token, and there is none here (--token-file)",
        ],
        Verdict::Busy => [
            "has as many connections as it can have",
            "there are as many connections as there can be",
        ],
        Verdict::Unsealed => [
            "takes no contents that are not sealed (--unsealed there allows it)",
            "its contents are not sealed (--unsealed allows it)",
        ],
        Verdict::Sealed => [
            "lets the kernel move contents, which cannot be sealed (--unsealed here allows it)",
            "its contents are sealed, which the kernel cannot open (--unsealed there allows it)",
        ],
        Verdict::Stranger => [
            "has no token and takes files of its own user only (--token-file on both sides)",
            "it is not known to be this user's, and there is no token",
        ],
    }
}

impl Error {
    /// Classifies an I/O error of a connection.
    pub(crate) fn network(error: io::Error) -> Self {
        match error.kind() {
            io::ErrorKind::UnexpectedEof
            | io::ErrorKind::BrokenPipe
            | io::ErrorKind::ConnectionReset
            | io::ErrorKind::ConnectionAborted => Self::PeerGone,
            _ => Self::Network(error),
        }
    }

    /// For `map_err`: names the action that the system refused.
    pub(crate) fn system(action: &'static str) -> impl FnOnce(io::Error) -> Self {
        move |source| platform::Error::Os { action, source }.into()
    }
}

/// True if the failed call may succeed when repeated.
pub(crate) fn is_passing(error: &io::Error) -> bool {
    matches!(
        error.kind(),
        io::ErrorKind::WouldBlock | io::ErrorKind::Interrupted
    )
}
