use std::fs::File;
use std::io::{self, IoSlice, IoSliceMut};
use std::net::{IpAddr, Ipv4Addr, SocketAddr, TcpListener, TcpStream};
use std::os::fd::{AsFd, AsRawFd, OwnedFd};
use std::time::Duration;

use rustix::event::{EventfdFlags, PollFd, PollFlags, eventfd, poll};
use rustix::io::Errno;
use rustix::net::{
    AddressFamily, RecvAncillaryBuffer, RecvFlags, SendAncillaryBuffer, SendFlags, SocketFlags,
    SocketType, sockopt,
};
use rustix::pipe::{PipeFlags, SpliceFlags};

use super::clock::timespec_of;
use super::parse::{maps_all_users, socket_owner};
use super::{check, socket_diag};

pub use super::zero_copy::ZeroCopy;
use crate::socket::Owner;

/// Interrupts a thread in [`crate::socket::accept_within`].
#[derive(Debug)]
pub struct Bell(OwnedFd);

impl Bell {
    /// A bell that has not been rung.
    pub fn new() -> io::Result<Self> {
        let flags = EventfdFlags::CLOEXEC | EventfdFlags::NONBLOCK;
        Ok(Self(eventfd(0, flags)?))
    }

    /// Rings it: the thread that waits now, or the next one that does, is interrupted once.
    pub fn ring(&self) {
        // It fails only if the counter overflows, after 2^64 rings without a wait.
        let _ = rustix::io::write(&self.0, &1_u64.to_ne_bytes());
    }
}

pub(crate) fn wait_for_connection(
    listener: &TcpListener,
    bell: &Bell,
    timeout: Duration,
) -> io::Result<()> {
    let timeout = timespec_of(timeout);
    let mut watched = [
        PollFd::new(listener, PollFlags::IN),
        PollFd::new(&bell.0, PollFlags::IN),
    ];
    match poll(&mut watched, Some(&timeout)) {
        Ok(_) => {
            if !watched[1].revents().is_empty() {
                // Resets the bell, unless another thread has.
                let _ = rustix::io::read(&bell.0, &mut [0; 8]);
            }
            Ok(())
        }
        Err(Errno::INTR) => Ok(()),
        Err(errno) => Err(errno.into()),
    }
}

/// An unconnected TCP socket. An algorithm must be selected before the connection is established:
/// afterwards the timer of one that paces remains.
fn tcp_socket(address: &SocketAddr, congestion: Option<&str>) -> io::Result<OwnedFd> {
    let family = match address {
        SocketAddr::V4(_) => AddressFamily::INET,
        SocketAddr::V6(_) => AddressFamily::INET6,
    };
    let flags = SocketFlags::CLOEXEC;
    let socket = rustix::net::socket_with(family, SocketType::STREAM, flags, None)?;
    if let Some(algorithm) = congestion {
        // The system may not have it.
        let _ = sockopt::set_tcp_congestion(&socket, algorithm);
    }
    Ok(socket)
}

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
) -> io::Result<TcpStream> {
    let socket = tcp_socket(address, congestion)?;
    rustix::io::ioctl_fionbio(&socket, true)?;
    match rustix::net::connect(&socket, address) {
        Ok(()) => {}
        Err(Errno::INPROGRESS | Errno::INTR) => {
            let mut watched = [PollFd::new(&socket, PollFlags::OUT)];
            if poll(&mut watched, Some(&timespec_of(timeout)))? == 0 {
                return Err(io::ErrorKind::TimedOut.into());
            }
            sockopt::socket_error(&socket)??;
        }
        Err(errno) => return Err(errno.into()),
    }
    rustix::io::ioctl_fionbio(&socket, false)?;
    Ok(socket.into())
}

/// Maximum number of connections that wait to be accepted, the same as in the standard library.
const BACKLOG: i32 = 128;

/// Listens on `address`. Accepted connections have the algorithm `congestion`, as with [`connect`].
pub fn listen(address: &SocketAddr, congestion: Option<&str>) -> io::Result<TcpListener> {
    let socket = tcp_socket(address, congestion)?;
    sockopt::set_socket_reuseaddr(&socket, true)?;
    rustix::net::bind(&socket, address)?;
    rustix::net::listen(&socket, BACKLOG)?;
    Ok(socket.into())
}

/// The user whose process has the other end of a connection open; `None` if the system reports none,
/// as when the other end is closed, or on another machine (Linux: from `sock_diag` or `/proc/net/tcp`).
pub fn peer_owner(socket: &TcpStream) -> io::Result<Option<Owner>> {
    let (peer, own) = (socket.peer_addr()?, socket.local_addr()?);
    let user = match socket_diag::socket_owner(peer, own) {
        Ok(Some(user)) => Some(user),
        // The kernel refuses the query, or there is no such socket.
        _ => owner_by_table(peer, own),
    };
    Ok(user
        .filter(|user| is_one_user(*user))
        .map(|user| match user {
            user if user == rustix::process::geteuid().as_raw() => Owner::ThisUser,
            0 => Owner::Root,
            _ => Owner::AnotherUser,
        }))
}

fn owner_by_table(peer: SocketAddr, own: SocketAddr) -> Option<u32> {
    // If /proc is hidden, the system does not report owners.
    let search = |path, peer, own| {
        let table = std::fs::read_to_string(path).ok()?;
        socket_owner(&table, peer, own)
    };
    let with = |address: SocketAddr, ip: IpAddr| SocketAddr::new(ip, address.port());
    match (peer.ip().to_canonical(), own.ip().to_canonical()) {
        (IpAddr::V4(peer_ip), IpAddr::V4(own_ip)) => {
            let (peer_4, own_4) = (with(peer, peer_ip.into()), with(own, own_ip.into()));
            let of = |ip: Ipv4Addr| ip.to_ipv6_mapped().into();
            let (peer_6, own_6) = (with(peer, of(peer_ip)), with(own, of(own_ip)));
            search("/proc/net/tcp", peer_4, own_4)
                .or_else(|| search("/proc/net/tcp6", peer_6, own_6))
        }
        _ => search("/proc/net/tcp6", peer, own),
    }
}

/// False for the one number that a user namespace gives to all users whom it does not know
/// ([user_namespaces(7)](https://man7.org/linux/man-pages/man7/user_namespaces.7.html)).
fn is_one_user(user: u32) -> bool {
    let read = |path| std::fs::read_to_string(path).unwrap_or_default();
    let unknown = read("/proc/sys/kernel/overflowuid")
        .trim()
        .parse()
        .unwrap_or(65534);
    user != unknown || maps_all_users(&read("/proc/self/uid_map"))
}

/// True if the system reports the owners of connections ([`peer_owner`]).
pub fn reports_owners() -> bool {
    let nobody = SocketAddr::from((Ipv4Addr::LOCALHOST, 0));
    socket_diag::socket_owner(nobody, nobody).is_ok() || File::open("/proc/net/tcp").is_ok()
}

/// Receives in one call until all `parts` are full, the connection's timeout passes or the peer
/// closes (`MSG_WAITALL`); 0 means that the peer has closed.
pub fn receive_parts(socket: &TcpStream, parts: &mut [IoSliceMut<'_>]) -> io::Result<usize> {
    let mut nothing = RecvAncillaryBuffer::default();
    let received = rustix::net::recvmsg(socket, parts, &mut nothing, RecvFlags::WAITALL)?;
    Ok(received.bytes)
}

/// Sends `parts` in order in one call, and returns the number of bytes accepted. With `more`, the
/// kernel may hold back the last packet, since more data follows at once (`MSG_MORE`).
pub fn send_parts(socket: &TcpStream, parts: &[IoSlice<'_>], more: bool) -> io::Result<usize> {
    let mut flags = SendFlags::NOSIGNAL;
    flags.set(SendFlags::MORE, more);
    let mut nothing = SendAncillaryBuffer::default();
    Ok(rustix::net::sendmsg(socket, parts, &mut nothing, flags)?)
}

/// Number of bytes that can be received at once (`FIONREAD`).
pub fn pending_bytes(socket: &TcpStream) -> io::Result<u64> {
    Ok(rustix::io::ioctl_fionread(socket)?)
}

/// Lets a waiting receiver sleep until `bytes` bytes have arrived (`SO_RCVLOWAT`). A wake-up for
/// each packet would cost the sender more than the packets do. Fewer bytes than this wake no
/// receiver, not even one that needs fewer: set it to 1 again before the last bytes.
pub fn wake_at(socket: &TcpStream, bytes: usize) -> io::Result<()> {
    let bytes = bytes.try_into().unwrap_or(libc::c_int::MAX);
    set_option(socket, libc::SO_RCVLOWAT, bytes)
}

pub(super) fn set_option(
    socket: &TcpStream,
    option: libc::c_int,
    value: libc::c_int,
) -> io::Result<()> {
    // SAFETY: `value` lives through the call and has the given length.
    check(unsafe {
        libc::setsockopt(
            socket.as_raw_fd(),
            libc::SOL_SOCKET,
            option,
            (&raw const value).cast(),
            size_of_val(&value) as libc::socklen_t,
        )
    })
}

/// Number of sent bytes that the other end has not acknowledged yet (`SIOCOUTQ`,
/// [tcp(7)](https://man7.org/linux/man-pages/man7/tcp.7.html)).
pub fn on_their_way(socket: &TcpStream) -> io::Result<usize> {
    let mut bytes: libc::c_int = 0;
    // SAFETY: the call writes one `int` to `bytes`, which lives through it. `TIOCOUTQ` is called
    // `SIOCOUTQ` in `linux/sockios.h`.
    check(unsafe { libc::ioctl(socket.as_raw_fd(), libc::TIOCOUTQ, &raw mut bytes) })?;
    Ok(usize::try_from(bytes).unwrap_or(0))
}

/// Sends up to `len` bytes of a file from `offset` without copying them into this process
/// ([sendfile(2)](https://man7.org/linux/man-pages/man2/sendfile.2.html)). Returns the number of
/// bytes; 0 means the end of the file.
///
/// # Errors
/// If the file or the connection fails; [`io::ErrorKind::Unsupported`] if the system has no such
/// call.
pub fn send_file(
    socket: &TcpStream,
    file: &File,
    mut offset: u64,
    len: usize,
) -> io::Result<usize> {
    Ok(rustix::fs::sendfile(socket, file, Some(&mut offset), len)?)
}

/// A pipe within the kernel that moves bytes from a file to a connection or back
/// ([splice(2)](https://man7.org/linux/man-pages/man2/splice.2.html)).
#[derive(Debug)]
pub struct Conduit {
    read: OwnedFd,
    write: OwnedFd,
}

impl Conduit {
    /// A pipe of `capacity` bytes, or of as many as the user's limit allows.
    pub fn new(capacity: usize) -> io::Result<Self> {
        let (read, write) = rustix::pipe::pipe_with(PipeFlags::CLOEXEC)?;
        match rustix::pipe::fcntl_setpipe_size(&write, capacity) {
            // The user's limit is lower; the default of 64 KiB remains.
            Ok(_) | Err(Errno::PERM) => Ok(Self { read, write }),
            Err(errno) => Err(errno.into()),
        }
    }

    /// Moves up to `len` bytes of a file from `offset` to a connection, and returns the number; 0
    /// means the end of the file. After an error the conduit may hold bytes: drop it.
    pub fn send(
        &mut self,
        file: &File,
        mut offset: u64,
        socket: &TcpStream,
        len: usize,
        mut retry: impl FnMut(io::Error) -> io::Result<()>,
    ) -> io::Result<usize> {
        let filled = splice(file, Some(&mut offset), &self.write, None, len)?;
        let mut left = filled;
        while left > 0 {
            match splice(&self.read, None, socket, None, left) {
                Ok(0) => return Err(io::ErrorKind::WriteZero.into()),
                Ok(moved) => left -= moved,
                Err(error) => retry(error)?,
            }
        }
        Ok(filled)
    }

    /// Moves up to `len` bytes from a connection into the pipe, and returns the number; 0 means
    /// that the peer has closed.
    pub fn take(&mut self, socket: &TcpStream, len: usize) -> io::Result<usize> {
        splice(socket, None, &self.write, None, len)
    }

    /// Moves `len` bytes from the pipe, which must hold them, into a file at `offset`. After an
    /// error the conduit may still hold bytes: drop it.
    pub fn put(&mut self, file: &File, mut offset: u64, mut len: usize) -> io::Result<()> {
        while len > 0 {
            match splice(&self.read, None, file, Some(&mut offset), len) {
                Ok(0) => return Err(io::ErrorKind::WriteZero.into()),
                Ok(moved) => len -= moved,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
        Ok(())
    }
}

fn splice(
    from: impl AsFd,
    from_offset: Option<&mut u64>,
    to: impl AsFd,
    to_offset: Option<&mut u64>,
    len: usize,
) -> io::Result<usize> {
    let flags = SpliceFlags::MOVE | SpliceFlags::MORE;
    Ok(rustix::pipe::splice(
        from,
        from_offset,
        to,
        to_offset,
        len,
        flags,
    )?)
}

/// The longest wait of a call of this module. On Windows the connection becomes non-blocking: what a call
/// that times out has transferred is not known there
/// ([SO_SNDTIMEO](https://learn.microsoft.com/en-us/windows/win32/winsock/sol-socket-socket-options)).
pub fn wait_at_most(socket: &TcpStream, longest: Duration) -> io::Result<()> {
    socket
        .set_read_timeout(Some(longest))
        .and_then(|()| socket.set_write_timeout(Some(longest)))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn connected() -> (TcpStream, TcpStream) {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
        let near = TcpStream::connect(listener.local_addr().unwrap()).unwrap();
        (near, listener.accept().unwrap().0)
    }

    #[test]
    fn a_connection_has_the_congestion_control_of_its_socket_from_the_first_packet() {
        let listener = listen(&(Ipv4Addr::LOCALHOST, 0).into(), Some("reno")).unwrap();
        let address = listener.local_addr().unwrap();
        let near = connect(&address, Duration::from_secs(9), Some("reno")).unwrap();
        let (far, _) = listener.accept().unwrap();
        for socket in [&near, &far] {
            assert_eq!(sockopt::tcp_congestion(socket).unwrap(), "reno");
        }
        drop(listener);
        let error = connect(&address, Duration::from_secs(9), None).unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::ConnectionRefused);
    }

    #[test]
    fn the_owner_of_the_other_end_is_known_while_it_is_open() {
        if !reports_owners() {
            return println!("skipped: the system reports no owners here");
        }
        let (near, far) = connected();
        assert_eq!(peer_owner(&far).unwrap(), Some(Owner::ThisUser));
        assert_eq!(peer_owner(&near).unwrap(), Some(Owner::ThisUser));
        let (peer, own) = (far.peer_addr().unwrap(), far.local_addr().unwrap());
        let user = rustix::process::geteuid().as_raw();
        assert_eq!(owner_by_table(peer, own), Some(user));
        drop(near);
        // A process that another test is forking has it open as well for a while.
        let is_closed = || peer_owner(&far).unwrap().is_none();
        testing::wait_until("the other end is closed", is_closed);
    }
}
