//! Ways of moving bytes between files and TCP connections that the standard library does not have.
//!
//! All of them respect the timeouts of the connection ([`TcpStream::set_read_timeout`]): they then
//! fail with [`std::io::ErrorKind::WouldBlock`].

use std::fs::File;
use std::io::{self, IoSlice, IoSliceMut};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::time::Duration;

use crate::os;

/// Calls a thread away from [`accept_within`].
#[derive(Debug)]
pub struct Bell {
    bell: os::socket::Bell,
}

impl Bell {
    /// A bell that nobody has rung.
    ///
    /// # Errors
    /// If the system has no more descriptors.
    pub fn new() -> io::Result<Self> {
        os::socket::Bell::new().map(|bell| Self { bell })
    }

    /// Rings it: whoever waits, or is the next to, is called away once.
    pub fn ring(&self) {
        self.bell.ring();
    }
}

/// Accepts the next connection, if one comes within `timeout` and before `bell` is rung. The listener
/// must not block ([`TcpListener::set_nonblocking`]); the connection does.
///
/// # Errors
/// If the listener fails.
pub fn accept_within(
    listener: &TcpListener,
    bell: &Bell,
    timeout: Duration,
) -> io::Result<Option<TcpStream>> {
    os::socket::wait_for_connection(listener, &bell.bell, timeout)?;
    match listener.accept() {
        Ok((socket, _)) => {
            socket.set_nonblocking(false)?;
            Ok(Some(socket))
        }
        // Nobody came, or went away again.
        Err(error)
            if matches!(
                error.kind(),
                io::ErrorKind::WouldBlock
                    | io::ErrorKind::ConnectionAborted
                    | io::ErrorKind::Interrupted
            ) =>
        {
            Ok(None)
        }
        Err(error) => Err(error),
    }
}

/// Connects to `address`, or gives up after `timeout`.
///
/// A connection that does not leave this machine is not paced: an algorithm for networks such as BBR
/// spaces packets by a timer, which here only makes both ends wait. Reno
/// ([tcp(7)](https://man7.org/linux/man-pages/man7/tcp.7.html)) sends whatever there is room for. It
/// is chosen before the connection is made; chosen later, the timer stays.
///
/// # Errors
/// If nobody listens there, or not in time.
pub fn connect(address: &SocketAddr, timeout: Duration) -> io::Result<TcpStream> {
    os::socket::connect(address, timeout)
}

/// Listens at the first of `addresses` that can be had. What it accepts on this machine is not paced,
/// as with [`connect`].
///
/// # Errors
/// If none can be had: that of the last.
pub fn listen(addresses: &[SocketAddr]) -> io::Result<TcpListener> {
    let mut last = io::Error::new(io::ErrorKind::InvalidInput, "there is no such address");
    for address in addresses {
        match os::socket::listen(address) {
            Ok(listener) => return Ok(listener),
            Err(error) => last = error,
        }
    }
    Err(last)
}

/// True if the process at the other end of a connection within this machine acts for the same user as
/// this one; `None` where the system does not tell (on Linux `sock_diag` is asked, or `/proc/net/tcp` is read).
///
/// # Errors
/// If the connection is gone.
pub fn is_of_same_user(socket: &TcpStream) -> io::Result<Option<bool>> {
    os::socket::is_of_same_user(socket)
}

/// True if the system tells who holds the other end of a connection ([`is_of_same_user`]).
pub fn tells_users() -> bool {
    os::socket::tells_users()
}

/// Receives until all `parts` are full, the connection's timeout passes or the peer has closed, in one
/// call (`MSG_WAITALL`); 0 means that the peer has closed.
///
/// # Errors
/// If the connection fails.
pub fn receive_parts(socket: &TcpStream, parts: &mut [IoSliceMut<'_>]) -> io::Result<usize> {
    os::socket::receive_parts(socket, parts)
}

/// Sends `parts` one after the other in one call, and tells how many bytes the system took. With
/// `more`, it need not make a packet of the last of them, since more follows at once (`MSG_MORE`).
///
/// # Errors
/// If the connection fails.
pub fn send_parts(socket: &TcpStream, parts: &[IoSlice<'_>], more: bool) -> io::Result<usize> {
    os::socket::send_parts(socket, parts, more)
}

/// How many bytes are there to be received at once (`FIONREAD`).
///
/// # Errors
/// If the connection is gone.
pub fn pending_bytes(socket: &TcpStream) -> io::Result<u64> {
    os::socket::pending_bytes(socket)
}

/// Lets whoever waits for the connection sleep until so many bytes are there (`SO_RCVLOWAT`). Woken
/// for each packet, a receiver costs the sender more than its packets do. Fewer bytes than this wake
/// nobody, not even one who waits for fewer: set it to 1 again before the last of them.
///
/// # Errors
/// If the connection fails.
pub fn wake_at(socket: &TcpStream, bytes: usize) -> io::Result<()> {
    os::socket::wake_at(socket, bytes)
}

/// How many bytes that were sent have not arrived at the other end yet (`SIOCOUTQ`,
/// [tcp(7)](https://man7.org/linux/man-pages/man7/tcp.7.html)).
///
/// # Errors
/// If the system does not tell.
pub fn on_their_way(socket: &TcpStream) -> io::Result<usize> {
    os::socket::on_their_way(socket)
}

/// Sends up to `len` bytes of a file from `offset` without bringing them into this process
/// ([sendfile(2)](https://man7.org/linux/man-pages/man2/sendfile.2.html)). Tells how many it took; 0
/// means that the file ends there.
///
/// # Errors
/// If the file or the connection fails; [`io::ErrorKind::Unsupported`] where the system has no such
/// call.
pub fn send_file(socket: &TcpStream, file: &File, offset: u64, len: usize) -> io::Result<usize> {
    os::socket::send_file(socket, file, offset, len)
}

/// A pipe within the kernel through which bytes go from a file to a connection or back
/// ([splice(2)](https://man7.org/linux/man-pages/man2/splice.2.html)).
#[derive(Debug)]
pub struct Conduit {
    pipe: os::socket::Pipe,
}

impl Conduit {
    /// A pipe that holds `capacity` bytes, or as many as the user may have.
    ///
    /// # Errors
    /// If there is none to be had.
    pub fn new(capacity: usize) -> io::Result<Self> {
        os::socket::Pipe::new(capacity).map(|pipe| Self { pipe })
    }

    /// Moves up to `len` bytes of a file from `offset` to a connection, and tells how many; 0 means
    /// that the file ends there. After an error the conduit may hold bytes: drop it.
    ///
    /// # Errors
    /// If the file or the connection fails.
    pub fn send(
        &mut self,
        file: &File,
        offset: u64,
        socket: &TcpStream,
        len: usize,
        mut retry: impl FnMut(io::Error) -> io::Result<()>,
    ) -> io::Result<usize> {
        self.pipe.send(file, offset, socket, len, &mut retry)
    }

    /// Takes up to `len` bytes from a connection into the pipe, and tells how many; 0 means that the
    /// peer has closed.
    ///
    /// # Errors
    /// If the connection fails.
    pub fn take(&mut self, socket: &TcpStream, len: usize) -> io::Result<usize> {
        self.pipe.take(socket, len)
    }

    /// Puts `len` bytes from the pipe, which must hold them, into a file at `offset`. After an error
    /// the conduit may still hold some: drop it.
    ///
    /// # Errors
    /// If the file fails.
    pub fn put(&mut self, file: &File, offset: u64, len: usize) -> io::Result<()> {
        self.pipe.put(file, offset, len)
    }
}

/// Sends out of its own buffers without copying them
/// ([`MSG_ZEROCOPY`](https://docs.kernel.org/networking/msg_zerocopy.html)): a buffer is given out
/// again only when the kernel has said that it no longer needs it.
///
/// Over loopback the kernel copies all the same, and [`ZeroCopy::was_copied`] tells.
#[derive(Debug)]
pub struct ZeroCopy {
    ring: os::socket::ZeroCopyRing,
}

impl ZeroCopy {
    /// Buffers of `buffer_len` bytes each for a connection.
    ///
    /// # Errors
    /// [`io::ErrorKind::Unsupported`] where the system cannot do this.
    pub fn new(socket: &TcpStream, buffers: usize, buffer_len: usize) -> io::Result<Self> {
        os::socket::ZeroCopyRing::new(socket, buffers, buffer_len).map(|ring| Self { ring })
    }

    /// Goes on to the next buffer, once it is free. [`io::ErrorKind::WouldBlock`] if it is not within
    /// the connection's write timeout.
    ///
    /// # Errors
    /// If the connection fails.
    pub fn advance(&mut self, socket: &TcpStream) -> io::Result<()> {
        self.ring.advance(socket)
    }

    /// The buffer, to be filled. It must not be changed between [`ZeroCopy::send`] and
    /// [`ZeroCopy::advance`], or what arrives is undefined.
    pub fn buffer(&mut self) -> &mut [u8] {
        self.ring.buffer()
    }

    /// Sends the first `len` bytes of the buffer. `retry` is
    /// asked whether to go on each time that the connection's timeout passes.
    ///
    /// # Errors
    /// If the connection fails.
    pub fn send(
        &mut self,
        socket: &TcpStream,
        len: usize,
        mut retry: impl FnMut(io::Error) -> io::Result<()>,
    ) -> io::Result<()> {
        self.ring.send(socket, len, &mut retry)
    }

    /// Whether the kernel said of a buffer that it copied it.
    pub fn was_copied(&self) -> bool {
        self.ring.was_copied()
    }
}
