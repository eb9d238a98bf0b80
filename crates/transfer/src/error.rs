//! What can go wrong with a transfer as a whole.

use crate::protocol::{Malformed, Verdict};
use std::io;
use std::path::PathBuf;
use std::time::Duration;

/// Why a transfer, or one connection of it, came to its end too early.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// There is no way to the peer.
    #[error("cannot connect to {address}: {reason}")]
    Connect {
        /// Where to.
        address: String,
        /// What the system said.
        reason: io::Error,
    },
    /// The address cannot be listened on.
    #[error("cannot listen on {address}: {reason}")]
    Listen {
        /// Which.
        address: String,
        /// What the system said.
        reason: io::Error,
    },
    /// An address that others can reach, and no token.
    #[error("listening on {0}, which others can reach, needs a token (--token-file)")]
    Open(std::net::SocketAddr),
    /// The other side closed the connection before it was done.
    #[error("the peer is gone")]
    PeerGone,
    /// The other side was silent, or next to it.
    #[error("the peer was silent or too slow for {} s", .0.as_secs())]
    Silent(Duration),
    /// The other side did not say who it is in time.
    #[error("the peer did not prove in time that it may send")]
    Late,
    /// Someone asked to stop.
    #[error("interrupted")]
    Interrupted,
    /// The network failed.
    #[error("the connection failed: {0}")]
    Network(io::Error),
    /// The other side follows no rule of the protocol.
    #[error("the peer sent {0}")]
    Malformed(#[from] Malformed),
    /// Somebody who is no sender, and what they said.
    #[error("no sender: {}", if .0.is_empty() { "it said nothing".into() } else { format!("it said \"{}\"", .0) })]
    Stranger(String),
    /// The receiver does not go on.
    #[error("the receiver {}", refusal(*.0))]
    Refused(Verdict),
    /// A sender that this receiver does not take anything from.
    #[error("turned away: {}", shortcoming(*.0))]
    TurnedAway(Verdict),
    /// The other side does not know the token.
    #[error("the peer does not know the token")]
    WrongToken,
    /// The handshake cannot be made.
    #[error("the handshake failed: {0}")]
    Handshake(snow::Error),
    /// A method by which the kernel moves what has to be sealed.
    #[error(
        "with a token contents are sealed, which the kernel cannot do: `--method {0}` needs \
             `--unsealed` on both sides, or another method: `--method file`"
    )]
    Unsealable(&'static str),
    /// No more threads.
    #[error("cannot start a thread: {0} (a limit on processes, or too little memory)")]
    Thread(io::Error),
    /// A token file that cannot be used.
    #[error("cannot use the token in {}: {reason}", path.display())]
    Token {
        /// Which.
        path: PathBuf,
        /// Why.
        reason: String,
    },
    /// A file that cannot be sent.
    #[error("cannot read {name}: {reason}")]
    Source {
        /// Which.
        name: String,
        /// Why.
        reason: String,
    },
    /// A receiver that does not measure, or not as it was asked to.
    #[error("the receiver cannot measure this: {0}")]
    Unready(String),
    /// A method that the system does not allow.
    #[error("{0}; `--method file` works everywhere")]
    Method(#[source] platform::Error),
    /// The system refused something else.
    #[error("cannot {action}: {reason}")]
    System {
        /// What was tried, as a verb.
        action: &'static str,
        /// What the system said.
        reason: io::Error,
    },
    /// A question put to the operating system failed.
    #[error(transparent)]
    Platform(#[from] platform::Error),
}

/// A result with this crate's [`Error`].
pub type Result<T> = std::result::Result<T, Error>;

fn refusal(verdict: Verdict) -> &'static str {
    match verdict {
        Verdict::Welcome => "goes on",
        Verdict::Version => {
            "speaks another version of the protocol: both sides need the same oscope"
        }
        Verdict::TokenNeeded => "wants a token (--token-file)",
        Verdict::NoToken => "has no token to check the sender's with (--token-file)",
        Verdict::Busy => "has as many connections as it can have",
        Verdict::Unsealed => "takes no contents that are not sealed (--unsealed there allows it)",
        Verdict::Sealed => {
            "lets the kernel move contents, which cannot be sealed (--unsealed here allows it)"
        }
        Verdict::Stranger => {
            "has no token and takes files of its own user only (--token-file on both sides)"
        }
    }
}

/// What is wrong with a sender.
fn shortcoming(verdict: Verdict) -> &'static str {
    match verdict {
        Verdict::Welcome => "nothing is wrong with it",
        Verdict::Version => "it speaks another version of the protocol",
        Verdict::TokenNeeded => "it has no token",
        Verdict::NoToken => "it has a token, and there is none here (--token-file)",
        Verdict::Busy => "there are as many connections as there can be",
        Verdict::Unsealed => "its contents are not sealed (--unsealed allows it)",
        Verdict::Sealed => {
            "its contents are sealed, which the kernel cannot open (--unsealed there allows it)"
        }
        Verdict::Stranger => "it is another user's, and there is no token (--token-file)",
    }
}

impl Error {
    /// A failure of a connection.
    pub(crate) fn network(error: io::Error) -> Self {
        match error.kind() {
            io::ErrorKind::UnexpectedEof
            | io::ErrorKind::BrokenPipe
            | io::ErrorKind::ConnectionReset
            | io::ErrorKind::ConnectionAborted => Self::PeerGone,
            _ => Self::Network(error),
        }
    }

    /// For `map_err`: names what was tried when the system refused.
    pub(crate) fn system(action: &'static str) -> impl FnOnce(io::Error) -> Self {
        move |reason| Self::System { action, reason }
    }
}

/// Whether a call that failed may do better when it is made again.
pub(crate) fn is_passing(error: &io::Error) -> bool {
    matches!(
        error.kind(),
        io::ErrorKind::WouldBlock | io::ErrorKind::Interrupted
    )
}
