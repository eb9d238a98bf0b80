//! Methods of moving bytes between files and TCP connections that the standard library does not have.
//! All of them wait no longer than [`wait_at_most`] allows, and then fail with
//! [`std::io::ErrorKind::WouldBlock`].

use std::io;
use std::net::{SocketAddr, TcpListener, TcpStream, ToSocketAddrs};
use std::time::Duration;

use crate::os;

pub use crate::os::socket::{
    Bell, Conduit, ZeroCopy, connect, listen, on_their_way, peer_owner, pending_bytes,
    receive_parts, reports_owners, send_file, send_parts, wait_at_most, wake_at,
};

/// Accepts the next connection, if one arrives within `timeout` and before `bell` is rung. The
/// listener must be non-blocking ([`TcpListener::set_nonblocking`]); the connection is blocking.
pub fn accept_within(
    listener: &TcpListener,
    bell: &Bell,
    timeout: Duration,
) -> io::Result<Option<TcpStream>> {
    os::socket::wait_for_connection(listener, bell, timeout)?;
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

#[cfg(test)]
mod tests {
    use std::io::{ErrorKind, IoSlice, IoSliceMut, Read};
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
    fn a_bell_ends_the_wait_once_and_a_connection_is_taken_all_the_same() {
        let (listener, bell) = (listener(), Bell::new().unwrap());
        thread::scope(|scope| {
            scope.spawn(|| bell.ring());
            assert!(accept_within(&listener, &bell, LONG).unwrap().is_none());
        });
        let short = Duration::from_millis(1);
        assert!(accept_within(&listener, &bell, short).unwrap().is_none());
        let _ours = connect(&listener.local_addr().unwrap(), LONG, None).unwrap();
        bell.ring();
        assert!(accept_within(&listener, &bell, LONG).unwrap().is_some());
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

    /// Sends `len` bytes by a call that takes an offset and may pass its timeout. Returns how often it did.
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
        let (mut one, mut other) = ([0; 3], [0; 100]);
        let mut parts = [IoSliceMut::new(&mut one), IoSliceMut::new(&mut other)];
        let error = receive_parts(&theirs, &mut parts).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::WouldBlock);
        let sent = send_parts(&ours, &[IoSlice::new(b"ab"), IoSlice::new(b"cd")], false);
        assert_eq!(sent.unwrap(), 4);
        drop(ours);
        wait_at_most(&theirs, LONG).unwrap();
        assert_eq!(receive_parts(&theirs, &mut parts).unwrap(), 4);
        assert_eq!(receive_parts(&theirs, &mut parts).unwrap(), 0);
        assert_eq!((&one, other[0]), (b"abc", b'd'));
    }
}
