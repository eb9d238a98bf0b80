//! Reasons why a connection could not be measured.

use std::io;
use std::net::SocketAddr;

/// The reason why a connection could not be measured.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The machine has no address at which others could reach it.
    #[error("no network interface has an address other than loopback{}", .0.as_ref().map(|name| format!(" and is or has {name}")).unwrap_or_default())]
    NoAddress(Option<String>),
    /// The system refused.
    #[error("cannot {action}: {source}")]
    System {
        /// The refused action, as a verb.
        action: &'static str,
        /// The system's reason.
        source: io::Error,
    },
    /// None of the addresses answers.
    #[error("no answer from {}: {last}", list(.addresses))]
    Unreachable {
        /// The addresses that were tried.
        addresses: Vec<SocketAddr>,
        /// The reason at the last of them.
        last: io::Error,
    },
    /// Not one datagram came back.
    #[error("none of {0} datagrams came back: a firewall may drop UDP")]
    AllLost(u64),
    /// The other machine says things that make no sense.
    #[error("the other machine speaks another protocol: {0}")]
    Nonsense(&'static str),
}

/// A result with [`Error`].
pub type Result<T> = std::result::Result<T, Error>;

impl Error {
    /// Wraps the reason why `action` was refused.
    pub(crate) fn system(action: &'static str) -> impl Fn(io::Error) -> Self {
        move |source| Self::System { action, source }
    }
}

fn list(addresses: &[SocketAddr]) -> String {
    let addresses = addresses.iter().map(ToString::to_string);
    addresses.collect::<Vec<_>>().join(" or ")
}
