//! The two directions of a connection: frames in and out, with limited patience for a slow peer.

mod inlet;
mod outlet;
mod patience;

pub(crate) use inlet::Inlet;
pub(crate) use outlet::Outlet;
pub(crate) use patience::Patience;

use crate::error::{Error, Result};
use std::net::TcpStream;
use std::time::Duration;

/// Longest wait of one call, and so the longest delay before a stop request is noticed.
pub(crate) const TICK: Duration = Duration::from_millis(100);

/// Configures a socket for both directions.
pub(crate) fn prepare(socket: &TcpStream) -> Result<()> {
    socket
        .set_nodelay(true)
        .and_then(|()| socket.set_read_timeout(Some(TICK)))
        .and_then(|()| socket.set_write_timeout(Some(TICK)))
        .map_err(Error::network)
}
