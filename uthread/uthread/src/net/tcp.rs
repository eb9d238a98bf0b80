//! TCP.

use core::time::Duration;
use std::io;
use std::net::{self, Shutdown, SocketAddr};
use std::os::fd::{AsFd, BorrowedFd};

use super::address::Address;
use super::connect::connect;
use super::stream::Stream;
use super::wait::{Deadline, when_ready};
use crate::io::Interest;

/// A connection by TCP.
pub type TcpStream = Stream<net::TcpStream>;

impl TcpStream {
    /// Connects to an address, or to the first that answers of those that a name has. Other threads run meanwhile.
    ///
    /// # Errors
    /// Those of connect(2), of the last address; those of [`resolve`](super::resolve).
    ///
    /// # Panics
    /// Outside a runtime, and while preemption is disabled.
    pub fn connect(address: impl Address) -> io::Result<Self> {
        Self::connect_within(&address, "TcpStream::connect", None)
    }

    /// Like [`connect`](Self::connect), but waits not longer than `limit`.
    ///
    /// # Errors
    /// [`io::ErrorKind::TimedOut`] at the end of the limit, and those of [`connect`](Self::connect).
    ///
    /// # Panics
    /// Same as [`connect`](Self::connect).
    pub fn connect_timeout(address: impl Address, limit: Duration) -> io::Result<Self> {
        Self::connect_within(&address, "TcpStream::connect_timeout", Some(limit))
    }

    fn connect_within(
        address: &impl Address,
        operation: &str,
        limit: Option<Duration>,
    ) -> io::Result<Self> {
        let deadline = Deadline::new(operation, limit);
        let mut result = Err(io::ErrorKind::AddrNotAvailable.into());
        for address in address.addresses(limit)? {
            result = connect(&address.into(), operation, deadline);
            let over = deadline.left().is_some_and(|left| left.is_zero());
            if result.is_ok() || over {
                break;
            }
        }
        result.map(|socket| Self::new(socket.into()))
    }

    /// The address of the other side.
    ///
    /// # Errors
    /// Those of getpeername(2).
    pub fn peer_addr(&self) -> io::Result<SocketAddr> {
        self.socket().peer_addr()
    }

    /// The address of this side.
    ///
    /// # Errors
    /// Those of getsockname(2).
    pub fn local_addr(&self) -> io::Result<SocketAddr> {
        self.socket().local_addr()
    }

    /// Ends one direction, or both. Threads that wait in that direction go on.
    ///
    /// # Errors
    /// Those of shutdown(2).
    pub fn shutdown(&self, how: Shutdown) -> io::Result<()> {
        self.socket().shutdown(how)
    }

    /// If true, small parts are sent at once (`TCP_NODELAY`).
    ///
    /// # Errors
    /// Those of setsockopt(2).
    pub fn set_nodelay(&self, at_once: bool) -> io::Result<()> {
        self.socket().set_nodelay(at_once)
    }
}

impl TryFrom<net::TcpStream> for TcpStream {
    type Error = io::Error;

    /// The socket does not block from here on.
    fn try_from(socket: net::TcpStream) -> io::Result<Self> {
        socket.set_nonblocking(true)?;
        Ok(Self::new(socket))
    }
}

/// A socket that accepts connections by TCP.
#[derive(Debug)]
pub struct TcpListener(net::TcpListener);

impl TcpListener {
    /// Listens at an address; at port 0, the system chooses the port.
    ///
    /// # Errors
    /// Those of bind(2) and listen(2), and those of [`resolve`](super::resolve).
    ///
    /// # Panics
    /// Outside a runtime, if it has to resolve a name.
    pub fn bind(address: impl Address) -> io::Result<Self> {
        let addresses = address.addresses(None)?;
        Self::try_from(net::TcpListener::bind(addresses.as_slice())?)
    }

    /// Waits for a connection, and returns it with the address of its other side.
    ///
    /// # Errors
    /// Those of accept(2).
    ///
    /// # Panics
    /// Outside a runtime, and if it has to wait while preemption is disabled.
    pub fn accept(&self) -> io::Result<(TcpStream, SocketAddr)> {
        self.accept_within("TcpListener::accept", None)
    }

    /// Like [`accept`](Self::accept), but waits not longer than `limit`.
    ///
    /// # Errors
    /// [`io::ErrorKind::TimedOut`] if nobody came in all that time, and those of [`accept`](Self::accept).
    ///
    /// # Panics
    /// Same as [`accept`](Self::accept).
    pub fn accept_timeout(&self, limit: Duration) -> io::Result<(TcpStream, SocketAddr)> {
        self.accept_within("TcpListener::accept_timeout", Some(limit))
    }

    fn accept_within(
        &self,
        operation: &str,
        limit: Option<Duration>,
    ) -> io::Result<(TcpStream, SocketAddr)> {
        let accept = || self.0.accept();
        let (socket, peer) = when_ready(&self.0, Interest::READABLE, operation, limit, accept)?;
        Ok((socket.try_into()?, peer))
    }

    /// The address at which it listens.
    ///
    /// # Errors
    /// Those of getsockname(2).
    pub fn local_addr(&self) -> io::Result<SocketAddr> {
        self.0.local_addr()
    }
}

impl TryFrom<net::TcpListener> for TcpListener {
    type Error = io::Error;

    /// The socket does not block from here on.
    fn try_from(socket: net::TcpListener) -> io::Result<Self> {
        socket.set_nonblocking(true)?;
        Ok(Self(socket))
    }
}

impl AsFd for TcpListener {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.0.as_fd()
    }
}
