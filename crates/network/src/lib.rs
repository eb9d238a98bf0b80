//! The connection between two machines: round trips and throughput, by TCP and UDP.
//!
//! One machine answers ([`Answerer`]) and lets others know where ([`Invitation`]); another one asks ([`Peer`]). Of many
//! machines, [`rounds`] says who asks whom, so that no machine takes part in two measurements at a time.
//!
//! A connection begins with a token from the invitation, so that strangers are refused. The token is no secret from
//! those who see the traffic: measure on networks whose machines you trust.
//!
//! It must never know a fleet, an experiment or a command, or print.

#[cfg(test)]
use testing as _;

mod address;
mod answerer;
mod ask;
mod error;
mod measured;
mod protocol;
pub mod rounds;

pub use address::{addresses, addresses_of};
pub use answerer::Answerer;
pub use ask::Peer;
pub use error::{Error, Result};
pub use measured::{Latency, Measured, Throughput};
pub use protocol::{Invitation, Protocol};
