//! The two directions of a connection: frames in and out, with limited patience for a silent peer.

mod inlet;
mod outlet;
mod patience;
#[cfg(test)]
mod rewritten;

pub(crate) use inlet::Inlet;
pub(crate) use outlet::Outlet;

use crate::Limits;
use crate::error::{Distrust, Error, Result};
use patience::Life;
use platform::socket::{Owner, peer_owner, reports_owners, wait_at_most};
use std::net::{IpAddr, SocketAddr, TcpStream};
use std::sync::Arc;
use std::time::Duration;

/// Longest wait of one call, and so the longest delay before a stop request is noticed.
pub(crate) const TICK: Duration = Duration::from_millis(100);

/// Both directions of a connection over `socket`.
pub(crate) fn both(socket: &TcpStream, limits: Limits) -> Result<(Inlet, Outlet)> {
    let clone = || socket.try_clone().map_err(Error::network);
    let life = Arc::new(Life::default());
    let inlet = Inlet::new(clone()?, limits, Arc::clone(&life));
    Ok((inlet, Outlet::new(clone()?, limits, life)))
}

/// Configures a socket for both directions.
pub(crate) fn prepare(socket: &TcpStream) -> Result<()> {
    socket
        .set_nodelay(true)
        .and_then(|()| wait_at_most(socket, TICK))
        .map_err(Error::network)
}

/// The congestion control of a connection at `address`, before it is established.
///
/// A connection within this machine is not paced: an algorithm for networks such as BBR paces packets
/// by a timer, which here only delays both ends. Reno sends as much as fits.
pub(crate) fn congestion(address: &SocketAddr) -> Option<&'static str> {
    is_within_machine(address.ip()).then_some("reno")
}

// Trust in a peer without a token: only between processes of one machine, and as far as the system
// reports who they belong to.

/// Checks that the system reports owners at all.
pub(crate) fn check_that_owners_are_known() -> Result<()> {
    if reports_owners() {
        Ok(())
    } else {
        Err(Error::NoOwners)
    }
}

/// True for an address of this machine that no other machine can have.
pub(crate) fn is_within_machine(address: IpAddr) -> bool {
    address.to_canonical().is_loopback()
}

/// Checks that the other end of a connection belongs to one of these. An error of the system counts as an unknown owner.
pub(crate) fn check_owner(
    socket: &TcpStream,
    trusted: &[Owner],
) -> std::result::Result<(), Distrust> {
    let peer = socket.peer_addr().map_err(|_| Distrust::Unknown)?;
    if !is_within_machine(peer.ip()) {
        return Err(Distrust::Elsewhere);
    }
    match peer_owner(socket) {
        Ok(Some(owner)) if trusted.contains(&owner) => Ok(()),
        Ok(Some(_)) => Err(Distrust::AnotherUser),
        Ok(None) | Err(_) => Err(Distrust::Unknown),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_connection_within_the_machine_is_never_paced() {
        for near in ["127.0.0.1:1", "[::1]:1", "[::ffff:127.0.0.1]:1"] {
            assert_eq!(congestion(&near.parse().unwrap()), Some("reno"));
        }
        for far in ["192.0.2.1:1", "0.0.0.0:1", "[2001:db8::1]:1"] {
            assert_eq!(congestion(&far.parse().unwrap()), None);
        }
    }
}
