//! UDP.

use core::time::Duration;
use std::io;
use std::net::{self, SocketAddr};
use std::os::fd::{AsFd, BorrowedFd};

use super::address::Address;
use super::wait::when_ready;
use crate::io::Interest;

/// A socket for datagrams by UDP.
///
/// ```
/// use uthread::net::UdpSocket;
///
/// # fn main() -> std::io::Result<()> {
/// uthread::run(|| {
///     let (left, right) = (UdpSocket::bind("127.0.0.1:0")?, UdpSocket::bind("127.0.0.1:0")?);
///     left.send_to(b"hello", right.local_addr()?)?;
///     let mut text = [0; 10];
///     assert_eq!(right.recv_from(&mut text)?, (5, left.local_addr()?));
///     Ok(())
/// })
/// # }
/// ```
#[derive(Debug)]
pub struct UdpSocket(net::UdpSocket);

impl UdpSocket {
    /// A socket with an address; at port 0, the system chooses the port.
    ///
    /// # Errors
    /// Those of bind(2), and those of [`resolve`](super::resolve).
    ///
    /// # Panics
    /// Outside a runtime, if it has to resolve a name.
    pub fn bind(address: impl Address) -> io::Result<Self> {
        let addresses = address.addresses(None)?;
        Self::try_from(net::UdpSocket::bind(addresses.as_slice())?)
    }

    /// Sets the address for [`send`](Self::send), from which alone it receives then.
    ///
    /// # Errors
    /// Those of connect(2), and those of [`resolve`](super::resolve).
    ///
    /// # Panics
    /// Outside a runtime, if it has to resolve a name.
    pub fn connect(&self, address: impl Address) -> io::Result<()> {
        self.0.connect(address.addresses(None)?.as_slice())
    }

    /// Waits for a datagram. What does not fit into the buffer is lost.
    ///
    /// # Errors
    /// Those of recv(2).
    ///
    /// # Panics
    /// Outside a runtime, and if it has to wait while preemption is disabled.
    pub fn recv(&self, buffer: &mut [u8]) -> io::Result<usize> {
        self.read("UdpSocket::recv", None, || self.0.recv(buffer))
    }

    /// Like [`recv`](Self::recv), but waits not longer than `limit`.
    ///
    /// # Errors
    /// [`io::ErrorKind::TimedOut`] if nothing came in all that time, and those of [`recv`](Self::recv).
    ///
    /// # Panics
    /// Same as [`recv`](Self::recv).
    pub fn recv_timeout(&self, buffer: &mut [u8], limit: Duration) -> io::Result<usize> {
        self.read("UdpSocket::recv_timeout", Some(limit), || {
            self.0.recv(buffer)
        })
    }

    /// Like [`recv`](Self::recv), with the address of the sender.
    ///
    /// # Errors
    /// Same as [`recv`](Self::recv).
    ///
    /// # Panics
    /// Same as [`recv`](Self::recv).
    pub fn recv_from(&self, buffer: &mut [u8]) -> io::Result<(usize, SocketAddr)> {
        self.read("UdpSocket::recv_from", None, || self.0.recv_from(buffer))
    }

    /// Like [`recv_from`](Self::recv_from), but waits not longer than `limit`.
    ///
    /// # Errors
    /// Same as [`recv_timeout`](Self::recv_timeout).
    ///
    /// # Panics
    /// Same as [`recv`](Self::recv).
    pub fn recv_from_timeout(
        &self,
        buffer: &mut [u8],
        limit: Duration,
    ) -> io::Result<(usize, SocketAddr)> {
        self.read("UdpSocket::recv_from_timeout", Some(limit), || {
            self.0.recv_from(buffer)
        })
    }

    fn read<T>(
        &self,
        operation: &str,
        limit: Option<Duration>,
        call: impl FnMut() -> io::Result<T>,
    ) -> io::Result<T> {
        when_ready(&self.0, Interest::READABLE, operation, limit, call)
    }

    /// Sends a datagram to the address of [`connect`](Self::connect). Other threads run while the system has no room.
    ///
    /// # Errors
    /// Those of send(2).
    ///
    /// # Panics
    /// Same as [`recv`](Self::recv).
    pub fn send(&self, bytes: &[u8]) -> io::Result<usize> {
        self.write("UdpSocket::send", None, || self.0.send(bytes))
    }

    /// Like [`send`](Self::send), but waits not longer than `limit`.
    ///
    /// # Errors
    /// [`io::ErrorKind::TimedOut`] if there was no room in all that time, and those of [`send`](Self::send).
    ///
    /// # Panics
    /// Same as [`recv`](Self::recv).
    pub fn send_timeout(&self, bytes: &[u8], limit: Duration) -> io::Result<usize> {
        self.write("UdpSocket::send_timeout", Some(limit), || {
            self.0.send(bytes)
        })
    }

    /// Sends a datagram to an address.
    ///
    /// # Errors
    /// Those of send(2).
    ///
    /// # Panics
    /// Same as [`recv`](Self::recv).
    pub fn send_to(&self, bytes: &[u8], address: SocketAddr) -> io::Result<usize> {
        self.write("UdpSocket::send_to", None, || {
            self.0.send_to(bytes, address)
        })
    }

    /// Like [`send_to`](Self::send_to), but waits not longer than `limit`.
    ///
    /// # Errors
    /// Same as [`send_timeout`](Self::send_timeout).
    ///
    /// # Panics
    /// Same as [`recv`](Self::recv).
    pub fn send_to_timeout(
        &self,
        bytes: &[u8],
        address: SocketAddr,
        limit: Duration,
    ) -> io::Result<usize> {
        self.write("UdpSocket::send_to_timeout", Some(limit), || {
            self.0.send_to(bytes, address)
        })
    }

    fn write(
        &self,
        operation: &str,
        limit: Option<Duration>,
        call: impl FnMut() -> io::Result<usize>,
    ) -> io::Result<usize> {
        when_ready(&self.0, Interest::WRITABLE, operation, limit, call)
    }

    /// The address of this socket.
    ///
    /// # Errors
    /// Those of getsockname(2).
    pub fn local_addr(&self) -> io::Result<SocketAddr> {
        self.0.local_addr()
    }
}

impl TryFrom<net::UdpSocket> for UdpSocket {
    type Error = io::Error;

    /// The socket does not block from here on.
    fn try_from(socket: net::UdpSocket) -> io::Result<Self> {
        socket.set_nonblocking(true)?;
        Ok(Self(socket))
    }
}

impl AsFd for UdpSocket {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.0.as_fd()
    }
}
