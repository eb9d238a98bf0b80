//! Methods of moving bytes between files and TCP connections that the standard library lacks.
//! All of them wait no longer than [`wait_at_most`] says, and then fail with
//! [`std::io::ErrorKind::WouldBlock`].

use std::fs::File;
use std::io::{self, IoSlice, IoSliceMut};
use std::net::{SocketAddr, TcpListener, TcpStream, ToSocketAddrs};
use std::time::Duration;

use crate::os;

/// Interrupts a thread in [`accept_within`].
#[derive(Debug)]
pub struct Bell(os::socket::Bell);

/// Accepts the next connection, if one arrives within `timeout` and before `bell` is rung. The
/// listener must be non-blocking ([`TcpListener::set_nonblocking`]); the connection is blocking.
/// # Errors
/// If the listener fails.
pub fn accept_within(
    listener: &TcpListener,
    bell: &Bell,
    timeout: Duration,
) -> io::Result<Option<TcpStream>> {
    os::socket::wait_for_connection(listener, &bell.0, timeout)?;
    match listener.accept() {
        Ok((socket, _)) => {
            socket.set_nonblocking(false)?;
            Ok(Some(socket))
        }
        // No connection arrived, or it was closed again.
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

/// The user who has one end of a connection open.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Owner {
    /// The user of this process.
    ThisUser,
    /// The superuser, and this process is another user's.
    Root,
    /// Any other user.
    AnotherUser,
}

/// The addresses of `HOST:PORT`. An IPv6 address is in brackets; its scope may be the name of an
/// interface (`[fe80::1%eth0]:80`), which the standard library does not take there.
///
/// # Errors
/// If the text is no address, or no host has this name.
pub fn resolve(address: &str) -> io::Result<Vec<SocketAddr>> {
    let scoped = || {
        let (host, port) = address.strip_prefix('[')?.rsplit_once("]:")?;
        let port: u16 = port.parse().ok()?;
        host.contains('%').then_some((host, port))
    };
    let is_complete = address.parse::<SocketAddr>().is_ok();
    match scoped().filter(|_| !is_complete) {
        Some(host_and_port) => Ok(host_and_port.to_socket_addrs()?.collect()),
        None => Ok(address.to_socket_addrs()?.collect()),
    }
}

/// A pipe within the kernel that moves bytes from a file to a connection or back
/// ([splice(2)](https://man7.org/linux/man-pages/man2/splice.2.html)).
#[derive(Debug)]
pub struct Conduit(os::socket::Conduit);

/// Sends from its own buffers without copying them
/// ([`MSG_ZEROCOPY`](https://docs.kernel.org/networking/msg_zerocopy.html)). A buffer is reused
/// only after the kernel reports that it no longer needs it.
///
/// Over loopback the kernel copies anyway, and [`ZeroCopy::was_copied`] reports it.
#[derive(Debug)]
pub struct ZeroCopy(os::socket::ZeroCopy);

face! {
    os::socket;

    /// Connects to `address`, or gives up after `timeout`. The connection has the algorithm `congestion`
    /// for congestion control ([tcp(7)](https://man7.org/linux/man-pages/man7/tcp.7.html)) from its
    /// first packet, if the system offers it, and otherwise the system's usual one.
    ///
    /// # Errors
    /// If no process listens there, or the connection takes too long.
    pub fn connect(
        address: &SocketAddr,
        timeout: Duration,
        congestion: Option<&str>,
    ) -> io::Result<TcpStream> = TcpStream::connect_timeout(address, timeout);

    /// Listens on `address`. Accepted connections have the algorithm `congestion`, as with [`connect`].
    ///
    /// # Errors
    /// If the address is not available.
    pub fn listen(address: &SocketAddr, congestion: Option<&str>) -> io::Result<TcpListener>
        = TcpListener::bind(address);

    /// The user whose process has the other end of a connection open; `None` if the system reports none,
    /// as when the other end is closed, or on another machine (Linux: from `sock_diag` or `/proc/net/tcp`).
    ///
    /// # Errors
    /// If the connection is closed.
    pub fn peer_owner(socket: &TcpStream) -> io::Result<Option<Owner>> = Ok(None);

    /// True if the system reports the owners of connections ([`peer_owner`]).
    pub fn reports_owners() -> bool = false;

    /// The longest wait of a call of this module. On Windows the connection becomes non-blocking: what a call
    /// that times out has transferred is not known there
    /// ([SO_SNDTIMEO](https://learn.microsoft.com/en-us/windows/win32/winsock/sol-socket-socket-options)).
    ///
    /// # Errors
    /// If the connection is closed.
    pub fn wait_at_most(socket: &TcpStream, longest: Duration) -> io::Result<()> = socket
        .set_read_timeout(Some(longest))
        .and_then(|()| socket.set_write_timeout(Some(longest)));

    /// Receives in one call until all `parts` are full, the connection's timeout passes or the peer
    /// closes (`MSG_WAITALL`); 0 means that the peer has closed.
    ///
    /// # Errors
    /// If the connection fails.
    pub fn receive_parts(socket: &TcpStream, parts: &mut [IoSliceMut<'_>]) -> io::Result<usize>;

    /// Sends `parts` in order in one call, and returns the number of bytes accepted. With `more`, the
    /// kernel may hold back the last packet, since more data follows at once (`MSG_MORE`).
    ///
    /// # Errors
    /// If the connection fails.
    pub fn send_parts(socket: &TcpStream, parts: &[IoSlice<'_>], more: bool) -> io::Result<usize>;

    /// Number of bytes that can be received at once (`FIONREAD`).
    ///
    /// # Errors
    /// If the connection is closed.
    pub fn pending_bytes(socket: &TcpStream) -> io::Result<u64> = refuse_io();

    /// Lets a waiting receiver sleep until `bytes` bytes have arrived (`SO_RCVLOWAT`). A wake-up for
    /// each packet would cost the sender more than the packets do. Fewer bytes than this wake no
    /// receiver, not even one that needs fewer: set it to 1 again before the last bytes.
    ///
    /// # Errors
    /// If the connection fails.
    pub fn wake_at(socket: &TcpStream, bytes: usize) -> io::Result<()> = Ok(());

    /// Number of sent bytes that the other end has not acknowledged yet (`SIOCOUTQ`,
    /// [tcp(7)](https://man7.org/linux/man-pages/man7/tcp.7.html)).
    ///
    /// # Errors
    /// If the system does not report it.
    pub fn on_their_way(socket: &TcpStream) -> io::Result<usize> = refuse_io();

    /// Sends up to `len` bytes of a file from `offset` without copying them into this process
    /// ([sendfile(2)](https://man7.org/linux/man-pages/man2/sendfile.2.html)). Returns the number of
    /// bytes; 0 means the end of the file.
    ///
    /// # Errors
    /// If the file or the connection fails; [`io::ErrorKind::Unsupported`] if the system has no such
    /// call.
    pub fn send_file(socket: &TcpStream, file: &File, offset: u64, len: usize) -> io::Result<usize>
        = refuse_io();

    impl Bell {
        /// A bell that has not been rung.
        ///
        /// # Errors
        /// If no descriptor is left.
        pub fn new() -> io::Result<Self>;

        /// Rings it: the thread that waits now, or the next one that does, is interrupted once.
        pub fn ring(&self);
    }

    impl Conduit {
        /// A pipe of `capacity` bytes, or of as many as the user's limit allows.
        ///
        /// # Errors
        /// If no pipe can be created.
        pub fn new(capacity: usize) -> io::Result<Self> = refuse_io();

        /// Moves up to `len` bytes of a file from `offset` to a connection, and returns the number; 0
        /// means the end of the file. After an error the conduit may hold bytes: drop it.
        ///
        /// # Errors
        /// If the file or the connection fails.
        pub fn send(
            &mut self,
            file: &File,
            offset: u64,
            socket: &TcpStream,
            len: usize,
            retry: impl FnMut(io::Error) -> io::Result<()>,
        ) -> io::Result<usize>;

        /// Moves up to `len` bytes from a connection into the pipe, and returns the number; 0 means
        /// that the peer has closed.
        ///
        /// # Errors
        /// If the connection fails.
        pub fn take(&mut self, socket: &TcpStream, len: usize) -> io::Result<usize>;

        /// Moves `len` bytes from the pipe, which must hold them, into a file at `offset`. After an
        /// error the conduit may still hold bytes: drop it.
        ///
        /// # Errors
        /// If the file fails.
        pub fn put(&mut self, file: &File, offset: u64, len: usize) -> io::Result<()>;
    }

    impl ZeroCopy {
        /// Allocates `buffers` buffers of `buffer_len` bytes each for a connection.
        ///
        /// # Errors
        /// [`io::ErrorKind::Unsupported`] if the system does not support it.
        pub fn new(socket: &TcpStream, buffers: usize, buffer_len: usize) -> io::Result<Self>
            = refuse_io();

        /// Waits for the next buffer to be free and selects it. Fails with
        /// [`io::ErrorKind::WouldBlock`] after the connection's write timeout.
        ///
        /// # Errors
        /// If the connection fails.
        pub fn advance(&mut self, socket: &TcpStream) -> io::Result<()>;

        /// The current buffer, mutable. Do not change it between [`ZeroCopy::send`] and
        /// [`ZeroCopy::advance`], or the received bytes are undefined.
        pub fn buffer(&mut self) -> &mut [u8];

        /// Sends the first `len` bytes of the buffer. Calls `retry` each time that the connection's
        /// timeout passes; its error ends the call.
        ///
        /// # Errors
        /// If the connection fails.
        pub fn send(
            &mut self,
            socket: &TcpStream,
            len: usize,
            retry: impl FnMut(io::Error) -> io::Result<()>,
        ) -> io::Result<()>;

        /// True if the kernel reported that it copied a buffer.
        pub fn was_copied(&self) -> bool;
    }
}

#[cfg(test)]
mod tests {
    use std::io::{ErrorKind, Read};
    use std::net::Ipv4Addr;
    use std::thread;

    use super::*;
    use crate::block_io::write_at;

    const LONG: Duration = Duration::from_mins(1);

    fn listener() -> TcpListener {
        let listener = listen(&(Ipv4Addr::LOCALHOST, 0).into(), None).unwrap();
        listener.set_nonblocking(true).unwrap();
        listener
    }

    fn pair() -> (TcpStream, TcpStream) {
        let (listener, bell) = (listener(), Bell::new().unwrap());
        let ours = connect(&listener.local_addr().unwrap(), LONG, None).unwrap();
        let theirs = accept_within(&listener, &bell, LONG).unwrap().unwrap();
        (ours, theirs)
    }

    #[test]
    fn addresses_are_resolved_with_the_scopes_of_their_names() {
        let one = |address: &str| resolve(address).unwrap()[0].to_string();
        assert_eq!(one("127.0.0.1:80"), "127.0.0.1:80");
        assert_eq!(one("[::1]:80"), "[::1]:80");
        assert_eq!(one("[fe80::1%7]:80"), "[fe80::1%7]:80");
        for wrong in [
            "127.0.0.1",
            "[fe80::1%1]:x",
            "[fe80::1%1]:65536",
            "[fe80::1%none]:80",
            "[%]:1",
        ] {
            resolve(wrong).unwrap_err();
        }
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn the_name_of_an_interface_is_a_scope() {
        let index = std::fs::read_to_string("/sys/class/net/lo/ifindex").unwrap();
        let expected = format!("[fe80::1%{}]:80", index.trim());
        assert_eq!(resolve("[fe80::1%lo]:80").unwrap()[0].to_string(), expected);
    }

    #[test]
    fn a_bell_ends_the_wait_for_a_connection_once() {
        let (listener, bell) = (listener(), Bell::new().unwrap());
        thread::scope(|scope| {
            scope.spawn(|| bell.ring());
            assert!(accept_within(&listener, &bell, LONG).unwrap().is_none());
        });
        let short = Duration::from_millis(1);
        assert!(accept_within(&listener, &bell, short).unwrap().is_none());
    }

    #[test]
    fn a_part_of_a_file_is_sent_up_to_its_end() {
        let (ours, mut theirs) = pair();
        let file = tempfile::tempfile().unwrap();
        write_at(&file, b"abcdef", 0).unwrap();
        assert_eq!(send_file(&ours, &file, 2, 3).unwrap(), 3);
        assert_eq!(send_file(&ours, &file, 5, 100).unwrap(), 1);
        assert_eq!(send_file(&ours, &file, 6, 100).unwrap(), 0);
        drop(ours);
        let mut received = Vec::new();
        theirs.read_to_end(&mut received).unwrap();
        assert_eq!(received, b"cdef");
    }

    /// Sends so many bytes by a call that takes an offset and may pass its timeout. Returns how often it did.
    fn send_all(len: usize, mut call: impl FnMut(usize) -> io::Result<usize>) -> u64 {
        let (mut sent, mut waits) = (0, 0);
        while sent < len {
            match call(sent) {
                Ok(count) => sent += count,
                Err(error) => {
                    assert_eq!(error.kind(), ErrorKind::WouldBlock);
                    waits += 1;
                }
            }
        }
        waits
    }

    #[test]
    fn what_passes_its_timeouts_arrives_whole_and_once() {
        let bytes: Vec<u8> = (0..16_u32 << 20).map(|at| (at / 7) as u8).collect();
        let file = tempfile::tempfile().unwrap();
        write_at(&file, &bytes, 0).unwrap();
        for sends_file in [false, true] {
            let (ours, mut theirs) = pair();
            wait_at_most(&ours, Duration::from_millis(2)).unwrap();
            let received = thread::scope(|scope| {
                let reader = scope.spawn(|| {
                    thread::sleep(Duration::from_millis(100));
                    let mut received = Vec::new();
                    theirs.read_to_end(&mut received).unwrap();
                    received
                });
                let waits = send_all(bytes.len(), |from| {
                    if sends_file {
                        send_file(&ours, &file, from as u64, bytes.len() - from)
                    } else {
                        send_parts(&ours, &[IoSlice::new(&bytes[from..])], false)
                    }
                });
                // `TransmitFile` waits by itself.
                assert!(waits > 0 || sends_file);
                drop(ours);
                reader.join().unwrap()
            });
            assert!(received == bytes, "sends a file: {sends_file}");
        }
    }

    #[test]
    fn a_passed_timeout_is_a_call_that_would_wait() {
        let (ours, theirs) = pair();
        wait_at_most(&theirs, Duration::from_millis(1)).unwrap();
        let mut bytes = [0; 4];
        let mut parts = [IoSliceMut::new(&mut bytes)];
        let error = receive_parts(&theirs, &mut parts).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::WouldBlock);
        let sent = send_parts(&ours, &[IoSlice::new(b"ab"), IoSlice::new(b"cd")], false);
        assert_eq!(sent.unwrap(), 4);
        wait_at_most(&theirs, LONG).unwrap();
        assert_eq!(receive_parts(&theirs, &mut parts).unwrap(), 4);
        assert_eq!(&bytes, b"abcd");
    }
}
