use std::io::{self, IoSlice, IoSliceMut, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::time::Duration;

pub(crate) use crate::socket::lacking::*;

/// It interrupts no wait here: waits last a few ms only.
#[derive(Debug)]
pub(crate) struct Bell;

impl Bell {
    #[expect(clippy::unnecessary_wraps, reason = "other systems can fail")]
    pub(crate) fn new() -> io::Result<Self> {
        Ok(Self)
    }

    #[expect(clippy::unused_self, reason = "other systems have something to ring")]
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
