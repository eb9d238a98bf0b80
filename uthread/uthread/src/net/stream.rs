//! Connected sockets.

use core::fmt;
use core::time::Duration;
use std::io::{self, Read, Write};
use std::os::fd::{AsFd, BorrowedFd};

use super::wait::when_ready;
use crate::io::{Interest, receive};

/// A connected socket: a [`TcpStream`](super::TcpStream) or a [`UnixStream`](super::UnixStream). Threads may share it:
/// one may receive while another sends.
pub struct Stream<S>(S);

impl<S: AsFd> Stream<S>
where
    for<'a> &'a S: Read + Write,
{
    /// The socket must not block.
    pub(super) const fn new(socket: S) -> Self {
        Self(socket)
    }

    /// The socket of the standard library, which does not block.
    pub(super) const fn socket(&self) -> &S {
        &self.0
    }

    /// Receives some bytes. Other threads run until there are any; 0 if the other side sends no more.
    ///
    /// # Errors
    /// Those of recv(2).
    ///
    /// # Panics
    /// Outside a runtime, and if it has to wait while preemption is disabled.
    ///
    /// ```
    /// use uthread::net::UnixStream;
    ///
    /// # fn main() -> std::io::Result<()> {
    /// uthread::run(|| {
    ///     let (left, right) = UnixStream::pair()?;
    ///     left.send(b"hello")?;
    ///     let mut text = [0; 10];
    ///     assert_eq!(right.recv(&mut text)?, 5);
    ///     Ok(())
    /// })
    /// # }
    /// ```
    pub fn recv(&self, buffer: &mut [u8]) -> io::Result<usize> {
        self.recv_within(buffer, "Stream::recv", None)
    }

    /// Like [`recv`](Self::recv), but waits not longer than `limit`.
    ///
    /// # Errors
    /// [`io::ErrorKind::TimedOut`] if nothing came in all that time, and those of [`recv`](Self::recv).
    ///
    /// # Panics
    /// Same as [`recv`](Self::recv).
    pub fn recv_timeout(&self, buffer: &mut [u8], limit: Duration) -> io::Result<usize> {
        self.recv_within(buffer, "Stream::recv_timeout", Some(limit))
    }

    fn recv_within(
        &self,
        buffer: &mut [u8],
        operation: &str,
        limit: Option<Duration>,
    ) -> io::Result<usize> {
        receive(&self.0, buffer, operation, limit)
    }

    /// Sends some of the bytes, and returns their number. Other threads run while the other side has no room.
    ///
    /// # Errors
    /// Those of send(2).
    ///
    /// # Panics
    /// Same as [`recv`](Self::recv).
    pub fn send(&self, bytes: &[u8]) -> io::Result<usize> {
        self.send_within(bytes, "Stream::send", None)
    }

    /// Like [`send`](Self::send), but waits not longer than `limit`.
    ///
    /// # Errors
    /// [`io::ErrorKind::TimedOut`] if there was no room in all that time, and those of [`send`](Self::send).
    ///
    /// # Panics
    /// Same as [`recv`](Self::recv).
    pub fn send_timeout(&self, bytes: &[u8], limit: Duration) -> io::Result<usize> {
        self.send_within(bytes, "Stream::send_timeout", Some(limit))
    }

    fn send_within(
        &self,
        bytes: &[u8],
        operation: &str,
        limit: Option<Duration>,
    ) -> io::Result<usize> {
        when_ready(&self.0, Interest::WRITABLE, operation, limit, || {
            (&self.0).write(bytes)
        })
    }
}

impl<S: AsFd> Read for &Stream<S>
where
    for<'a> &'a S: Read + Write,
{
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        self.recv(buffer)
    }
}

impl<S: AsFd> Read for Stream<S>
where
    for<'a> &'a S: Read + Write,
{
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        self.recv(buffer)
    }
}

impl<S: AsFd> Write for &Stream<S>
where
    for<'a> &'a S: Read + Write,
{
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.send(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl<S: AsFd> Write for Stream<S>
where
    for<'a> &'a S: Read + Write,
{
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.send(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl<S: AsFd> AsFd for Stream<S> {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.0.as_fd()
    }
}

impl<S: fmt::Debug> fmt::Debug for Stream<S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}
