use std::fs::File;
use std::io::{self, ErrorKind, IoSlice, IoSliceMut, Read, Write};
use std::net::{Ipv4Addr, TcpListener, TcpStream, UdpSocket};
use std::os::windows::io::{AsRawHandle, AsRawSocket};
use std::ptr;
use std::time::Duration;

use windows_sys::Win32::Networking::WinSock::{
    FIONREAD, POLLRDNORM, SOCKET, SOCKET_ERROR, TransmitFile, WSAGetLastError, WSAPOLLFD, WSAPoll,
    ioctlsocket,
};
use windows_sys::Win32::Storage::FileSystem::{FILE_BEGIN, SetFilePointerEx};

pub(crate) use crate::socket::lacking::*;

use super::identity;

/// A socket that is connected with itself. A byte in it stands for a ring.
#[derive(Debug)]
pub(crate) struct Bell {
    socket: UdpSocket,
}

impl Bell {
    pub(crate) fn new() -> io::Result<Self> {
        let socket = UdpSocket::bind((Ipv4Addr::LOCALHOST, 0))?;
        socket.connect(socket.local_addr()?)?;
        socket.set_nonblocking(true)?;
        Ok(Self { socket })
    }

    pub(crate) fn ring(&self) {
        // A full buffer holds rings enough.
        let _ = self.socket.send(&[1]);
    }

    /// Takes the byte of one ring, if there is one.
    fn answer(&self) {
        let _ = self.socket.recv(&mut [0]);
    }
}

pub(crate) fn wait_for_connection(
    listener: &TcpListener,
    bell: &Bell,
    timeout: Duration,
) -> io::Result<()> {
    let raw = [listener.as_raw_socket(), bell.socket.as_raw_socket()];
    let mut sockets = raw.map(|socket| WSAPOLLFD {
        fd: socket as SOCKET,
        events: POLLRDNORM,
        revents: 0,
    });
    let timeout_ms = i32::try_from(timeout.as_millis()).unwrap_or(i32::MAX);
    // SAFETY: the list has the given length.
    let ready = unsafe { WSAPoll(sockets.as_mut_ptr(), sockets.len() as u32, timeout_ms) };
    if ready == SOCKET_ERROR {
        return Err(last_error());
    }
    if sockets[1].revents != 0 {
        bell.answer();
    }
    Ok(())
}

pub(crate) fn receive_parts(
    mut socket: &TcpStream,
    parts: &mut [IoSliceMut<'_>],
) -> io::Result<usize> {
    socket.read_vectored(parts).map_err(as_would_block)
}

pub(crate) fn send_parts(
    mut socket: &TcpStream,
    parts: &[IoSlice<'_>],
    _more: bool,
) -> io::Result<usize> {
    socket.write_vectored(parts).map_err(as_would_block)
}

pub(crate) fn pending_bytes(socket: &TcpStream) -> io::Result<u64> {
    let mut count = 0;
    // SAFETY: there is room for the result.
    match unsafe { ioctlsocket(raw(socket), FIONREAD, &raw mut count) } {
        SOCKET_ERROR => Err(last_error()),
        _ => Ok(u64::from(count)),
    }
}

/// `TransmitFile` starts at the file's position, and waits until all is sent.
pub(crate) fn send_file(
    socket: &TcpStream,
    file: &File,
    offset: u64,
    len: usize,
) -> io::Result<usize> {
    /// The call sends at most 2 GiB - 2 bytes.
    const MOST: u64 = i32::MAX as u64 - 1;
    let size = identity::standard(file)?.EndOfFile.cast_unsigned();
    let len = (len as u64).min(size.saturating_sub(offset)).min(MOST);
    // For the call, 0 bytes stand for the whole file.
    if len == 0 {
        return Ok(0);
    }
    let handle = file.as_raw_handle();
    let position = offset.cast_signed();
    // SAFETY: the result may be left out.
    if unsafe { SetFilePointerEx(handle, position, ptr::null_mut(), FILE_BEGIN) } == 0 {
        return Err(io::Error::last_os_error());
    }
    // SAFETY: both handles are open; nothing is sent before or after the file.
    let sent = unsafe {
        TransmitFile(
            raw(socket),
            handle,
            len as u32,
            0,
            ptr::null_mut(),
            ptr::null(),
            0,
        )
    };
    match sent {
        0 => Err(last_error()),
        _ => Ok(len as usize),
    }
}

fn raw(socket: &TcpStream) -> SOCKET {
    socket.as_raw_socket() as SOCKET
}

fn last_error() -> io::Error {
    // SAFETY: the call has no arguments.
    as_would_block(io::Error::from_raw_os_error(unsafe { WSAGetLastError() }))
}

/// Windows tells a passed timeout of a connection apart from a call that would wait.
fn as_would_block(error: io::Error) -> io::Error {
    match error.kind() {
        ErrorKind::TimedOut => ErrorKind::WouldBlock.into(),
        _ => error,
    }
}
