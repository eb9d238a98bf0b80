//! Trust in a peer without a token: only between processes of one machine, and as far as the system
//! reports who they belong to.

use crate::error::{Distrust, Error, Result};
use platform::socket::{Owner, peer_owner, reports_owners};
use std::net::{IpAddr, TcpStream};

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

/// Checks that the other end of a connection belongs to this user.
pub(crate) fn is_of_this_user(socket: &TcpStream) -> std::result::Result<(), Distrust> {
    is_owned_by(socket, &[Owner::ThisUser])
}

/// Checks that the other end of a connection belongs to this user or to root.
pub(crate) fn is_of_this_user_or_root(socket: &TcpStream) -> std::result::Result<(), Distrust> {
    is_owned_by(socket, &[Owner::ThisUser, Owner::Root])
}

/// An error of the system counts as an unknown owner.
fn is_owned_by(socket: &TcpStream, trusted: &[Owner]) -> std::result::Result<(), Distrust> {
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
