use std::fs::File;
use std::io::{self, ErrorKind, IoSlice, IoSliceMut, Read, Write};
use std::net::{Ipv4Addr, SocketAddr, TcpListener, TcpStream, UdpSocket};
use std::os::windows::io::{AsRawHandle, AsRawSocket, RawSocket};
use std::ptr;
use std::time::Duration;

use windows_sys::Win32::Networking::WinSock::{
    FIONREAD, POLLRDNORM, POLLWRNORM, SOCKET, SOCKET_ERROR, TransmitFile, WSAGetLastError,
    WSAPOLLFD, WSAPoll, ioctlsocket,
};
use windows_sys::Win32::Storage::FileSystem::{FILE_BEGIN, SetFilePointerEx};

use super::private;
use crate::error::absent;
use crate::socket::Owner;

/// A socket that is connected with itself. A byte in it means a ring.
#[derive(Debug)]
pub struct Bell {
    socket: UdpSocket,
}

impl Bell {
    pub fn new() -> io::Result<Self> {
        let socket = UdpSocket::bind((Ipv4Addr::LOCALHOST, 0))?;
        socket.connect(socket.local_addr()?)?;
        socket.set_nonblocking(true)?;
        Ok(Self { socket })
    }

    pub fn ring(&self) {
        // A full buffer holds rings enough.
        let _ = self.socket.send(&[1]);
    }
}

pub(crate) fn wait_for_connection(
    listener: &TcpListener,
    bell: &Bell,
    timeout: Duration,
) -> io::Result<()> {
    let sockets = [listener.as_raw_socket(), bell.socket.as_raw_socket()];
    let [_, is_rung] = poll(sockets, POLLRDNORM, Some(timeout))?;
    if is_rung {
        // The byte of one ring.
        let _ = bell.socket.recv(&mut [0]);
    }
    Ok(())
}

/// Waits until one of these events happens to a socket, or for the timeout, and returns to which they did.
fn poll<const COUNT: usize>(
    sockets: [RawSocket; COUNT],
    events: i16,
    timeout: Option<Duration>,
) -> io::Result<[bool; COUNT]> {
    let mut polled = sockets.map(|socket| WSAPOLLFD {
        fd: socket as SOCKET,
        events,
        revents: 0,
    });
    let most_ms = |time: Duration| i32::try_from(time.as_millis()).unwrap_or(i32::MAX);
    let timeout_ms = timeout.map_or(-1, most_ms);
    // SAFETY: the list has the given length.
    match unsafe { WSAPoll(polled.as_mut_ptr(), COUNT as u32, timeout_ms) } {
        SOCKET_ERROR => Err(last_error()),
        _ => Ok(polled.map(|socket| socket.revents != 0)),
    }
}

/// The timeouts are kept as the longest waits of [`patiently`].
pub fn wait_at_most(socket: &TcpStream, longest: Duration) -> io::Result<()> {
    socket.set_nonblocking(true)?;
    socket.set_read_timeout(Some(longest))?;
    socket.set_write_timeout(Some(longest))
}

/// Repeats a call once if the connection is ready in time. A call that waits by itself is given up at a timeout
/// without a word on what it has transferred.
fn patiently<T>(
    socket: &TcpStream,
    events: i16,
    mut call: impl FnMut() -> io::Result<T>,
) -> io::Result<T> {
    match call() {
        Err(error) if error.kind() == ErrorKind::WouldBlock => {
            wait_until_ready(socket, events)?;
            call()
        }
        outcome => outcome,
    }
}

/// Waits until the connection is ready or has failed; fails itself once the timeout has passed.
fn wait_until_ready(socket: &TcpStream, events: i16) -> io::Result<()> {
    let timeout = match events {
        POLLRDNORM => socket.read_timeout(),
        _ => socket.write_timeout(),
    };
    match poll([socket.as_raw_socket()], events, timeout?)? {
        [true] => Ok(()),
        [false] => Err(ErrorKind::WouldBlock.into()),
    }
}

pub fn receive_parts(mut socket: &TcpStream, parts: &mut [IoSliceMut<'_>]) -> io::Result<usize> {
    patiently(socket, POLLRDNORM, || socket.read_vectored(parts))
}

pub fn send_parts(mut socket: &TcpStream, parts: &[IoSlice<'_>], _more: bool) -> io::Result<usize> {
    patiently(socket, POLLWRNORM, || socket.write_vectored(parts))
}

pub fn pending_bytes(socket: &TcpStream) -> io::Result<u64> {
    let mut count = 0;
    // SAFETY: there is room for the result.
    match unsafe { ioctlsocket(raw(socket), FIONREAD, &raw mut count) } {
        SOCKET_ERROR => Err(last_error()),
        _ => Ok(u64::from(count)),
    }
}

/// `TransmitFile` starts at the file's position, and waits without a limit until all is sent. So it starts when
/// the connection takes bytes, and with as many as it takes soon.
pub fn send_file(socket: &TcpStream, file: &File, offset: u64, len: usize) -> io::Result<usize> {
    const MOST: u64 = 256 << 10;
    let size = private::standard(file)?.EndOfFile.cast_unsigned();
    let len = (len as u64).min(size.saturating_sub(offset)).min(MOST);
    // For the call, 0 bytes stand for the whole file.
    if len == 0 {
        return Ok(0);
    }
    wait_until_ready(socket, POLLWRNORM)?;
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
    io::Error::from_raw_os_error(unsafe { WSAGetLastError() })
}

pub fn connect(
    address: &SocketAddr,
    timeout: Duration,
    _congestion: Option<&str>,
) -> io::Result<TcpStream> {
    TcpStream::connect_timeout(address, timeout)
}

pub fn listen(address: &SocketAddr, _congestion: Option<&str>) -> io::Result<TcpListener> {
    TcpListener::bind(address)
}

absent! {
    fn peer_owner(&TcpStream) -> io::Result<Option<Owner>> = Ok(None);
    fn reports_owners() -> bool = false;
    fn wake_at(&TcpStream, usize) -> io::Result<()> = Ok(());
    fn on_their_way(&TcpStream) -> io::Result<usize> = Err(ErrorKind::Unsupported.into());
}

absent! {
    enum Conduit = Err(ErrorKind::Unsupported.into()) => {
        fn new(usize) -> io::Result<Self>;
        fn send(&mut self, &File, u64, &TcpStream, usize, impl FnMut(io::Error) -> io::Result<()>) -> io::Result<usize>;
        fn take(&mut self, &TcpStream, usize) -> io::Result<usize>;
        fn put(&mut self, &File, u64, usize) -> io::Result<()>;
    }

    enum ZeroCopy = Err(ErrorKind::Unsupported.into()) => {
        fn new(&TcpStream, usize, usize) -> io::Result<Self>;
        fn advance(&mut self, &TcpStream) -> io::Result<()>;
        fn buffer(&mut self) -> &mut [u8];
        fn send(&mut self, &TcpStream, usize, impl FnMut(io::Error) -> io::Result<()>) -> io::Result<()>;
    }
}
