//! Sockets between processes of one machine.

use core::time::Duration;
use std::io;
use std::net::Shutdown;
use std::os::fd::{AsFd, BorrowedFd};
use std::os::unix::net;
use std::path::Path;

use super::connect::{KernelAddress, connect};
use super::stream::Stream;
use super::wait::{Deadline, when_ready};
use crate::io::Interest;

/// A connection between processes, or threads, of one machine.
pub type UnixStream = Stream<net::UnixStream>;

impl UnixStream {
    /// Connects to the listener at a path. Other threads run meanwhile.
    ///
    /// # Errors
    /// Those of connect(2); [`io::ErrorKind::InvalidInput`] if the path is too long.
    ///
    /// # Panics
    /// Outside a runtime, and while preemption is disabled.
    pub fn connect(path: impl AsRef<Path>) -> io::Result<Self> {
        Self::connect_within(path.as_ref(), "UnixStream::connect", None)
    }

    /// Like [`connect`](Self::connect), but waits not longer than `limit`.
    ///
    /// # Errors
    /// [`io::ErrorKind::TimedOut`] if the listener had no room in all that time, and those of
    /// [`connect`](Self::connect).
    ///
    /// # Panics
    /// Same as [`connect`](Self::connect).
    pub fn connect_timeout(path: impl AsRef<Path>, limit: Duration) -> io::Result<Self> {
        Self::connect_within(path.as_ref(), "UnixStream::connect_timeout", Some(limit))
    }

    fn connect_within(path: &Path, operation: &str, limit: Option<Duration>) -> io::Result<Self> {
        let deadline = Deadline::new(operation, limit);
        let socket = connect(&KernelAddress::try_from(path)?, operation, deadline)?;
        Ok(Self::new(socket.into()))
    }

    /// Two sockets that are connected to each other.
    ///
    /// # Errors
    /// Those of socketpair(2).
    pub fn pair() -> io::Result<(Self, Self)> {
        let (left, right) = net::UnixStream::pair()?;
        Ok((left.try_into()?, right.try_into()?))
    }

    /// Ends one direction, or both. Threads that wait in that direction go on.
    ///
    /// # Errors
    /// Those of shutdown(2).
    pub fn shutdown(&self, how: Shutdown) -> io::Result<()> {
        self.socket().shutdown(how)
    }
}

impl TryFrom<net::UnixStream> for UnixStream {
    type Error = io::Error;

    /// The socket does not block from here on.
    fn try_from(socket: net::UnixStream) -> io::Result<Self> {
        socket.set_nonblocking(true)?;
        Ok(Self::new(socket))
    }
}

/// A socket that accepts connections at a path.
#[derive(Debug)]
pub struct UnixListener(net::UnixListener);

impl UnixListener {
    /// Listens at a path, where no file may be. Dropping the listener leaves the file there.
    ///
    /// # Errors
    /// Those of bind(2) and listen(2).
    pub fn bind(path: impl AsRef<Path>) -> io::Result<Self> {
        Self::try_from(net::UnixListener::bind(path)?)
    }

    /// Waits for a connection.
    ///
    /// # Errors
    /// Those of accept(2).
    ///
    /// # Panics
    /// Outside a runtime, and if it has to wait while preemption is disabled.
    pub fn accept(&self) -> io::Result<UnixStream> {
        self.accept_within("UnixListener::accept", None)
    }

    /// Like [`accept`](Self::accept), but waits not longer than `limit`.
    ///
    /// # Errors
    /// [`io::ErrorKind::TimedOut`] if nobody came in all that time, and those of [`accept`](Self::accept).
    ///
    /// # Panics
    /// Same as [`accept`](Self::accept).
    pub fn accept_timeout(&self, limit: Duration) -> io::Result<UnixStream> {
        self.accept_within("UnixListener::accept_timeout", Some(limit))
    }

    fn accept_within(&self, operation: &str, limit: Option<Duration>) -> io::Result<UnixStream> {
        let accept = || self.0.accept();
        let (socket, _) = when_ready(&self.0, Interest::READABLE, operation, limit, accept)?;
        socket.try_into()
    }
}

impl TryFrom<net::UnixListener> for UnixListener {
    type Error = io::Error;

    /// The socket does not block from here on.
    fn try_from(socket: net::UnixListener) -> io::Result<Self> {
        socket.set_nonblocking(true)?;
        Ok(Self(socket))
    }
}

impl AsFd for UnixListener {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.0.as_fd()
    }
}
