use std::fs::File;
use std::io::{self, IoSlice, IoSliceMut, Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::time::Duration;

/// Called on each timeout; an error ends the call.
type Retry<'a> = &'a mut dyn FnMut(io::Error) -> io::Result<()>;

fn unsupported<T>() -> io::Result<T> {
    Err(io::ErrorKind::Unsupported.into())
}

/// It interrupts no wait here: waits last a few ms only.
#[derive(Debug)]
pub(crate) struct Bell;

impl Bell {
    #[expect(clippy::unnecessary_wraps, reason = "other systems can fail")]
    pub(crate) fn new() -> io::Result<Self> {
        Ok(Self)
    }

    pub(crate) fn ring(&self) {}
}

#[expect(clippy::unnecessary_wraps, reason = "other systems can fail")]
pub(crate) fn wait_for_connection(
    _listener: &TcpListener,
    _bell: &Bell,
    timeout: Duration,
) -> io::Result<()> {
    std::thread::sleep(timeout.min(Duration::from_millis(5)));
    Ok(())
}

pub(crate) fn connect(address: &SocketAddr, timeout: Duration) -> io::Result<TcpStream> {
    TcpStream::connect_timeout(address, timeout)
}

pub(crate) fn listen(address: &SocketAddr) -> io::Result<TcpListener> {
    TcpListener::bind(address)
}

#[expect(clippy::unnecessary_wraps, reason = "other systems can fail")]
pub(crate) fn is_of_same_user(_: &TcpStream) -> io::Result<Option<bool>> {
    Ok(None)
}

pub(crate) fn tells_users() -> bool {
    false
}

pub(crate) fn receive_parts(
    mut socket: &TcpStream,
    parts: &mut [IoSliceMut<'_>],
) -> io::Result<usize> {
    socket.read_vectored(parts)
}

pub(crate) fn send_parts(
    mut socket: &TcpStream,
    parts: &[IoSlice<'_>],
    _more: bool,
) -> io::Result<usize> {
    socket.write_vectored(parts)
}

#[expect(clippy::unnecessary_wraps, reason = "other systems can fail")]
pub(crate) fn wake_at(_: &TcpStream, _bytes: usize) -> io::Result<()> {
    Ok(())
}

pub(crate) fn pending_bytes(_: &TcpStream) -> io::Result<u64> {
    unsupported()
}

pub(crate) fn on_their_way(_: &TcpStream) -> io::Result<usize> {
    unsupported()
}

pub(crate) fn send_file(_: &TcpStream, _: &File, _: u64, _: usize) -> io::Result<usize> {
    unsupported()
}

#[derive(Debug)]
pub(crate) enum Pipe {}

impl Pipe {
    pub(crate) fn new(_capacity: usize) -> io::Result<Self> {
        unsupported()
    }

    pub(crate) fn send(
        &mut self,
        _: &File,
        _: u64,
        _: &TcpStream,
        _: usize,
        _: Retry<'_>,
    ) -> io::Result<usize> {
        match *self {}
    }

    pub(crate) fn take(&mut self, _: &TcpStream, _: usize) -> io::Result<usize> {
        match *self {}
    }

    pub(crate) fn put(&mut self, _: &File, _: u64, _: usize) -> io::Result<()> {
        match *self {}
    }
}

#[derive(Debug)]
pub(crate) enum ZeroCopyRing {}

impl ZeroCopyRing {
    pub(crate) fn new(_: &TcpStream, _: usize, _: usize) -> io::Result<Self> {
        unsupported()
    }

    pub(crate) fn advance(&mut self, _: &TcpStream) -> io::Result<()> {
        match *self {}
    }

    pub(crate) fn buffer(&mut self) -> &mut [u8] {
        match *self {}
    }

    pub(crate) fn send(&mut self, _: &TcpStream, _: usize, _: Retry<'_>) -> io::Result<()> {
        match *self {}
    }

    pub(crate) fn was_copied(&self) -> bool {
        match *self {}
    }
}
