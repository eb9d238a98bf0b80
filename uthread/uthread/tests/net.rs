//! Sockets: values, limits, requests to cancel, and the ends of connections.
#![cfg(target_os = "linux")]
#![expect(clippy::unwrap_used, reason = "what fails here fails the test")]
#![expect(
    unsafe_code,
    reason = "a preemptive runtime is a promise about thread-locals"
)]

mod common;

use std::io::{ErrorKind, Read, Write};
use std::net::{IpAddr, Ipv4Addr, Shutdown, SocketAddr};
use std::sync::Arc;
use std::time::Duration;

use common::{MINUTE, runtimes, virtual_time};
use uthread::net::{
    Address, TcpListener, TcpStream, UdpSocket, UnixListener, UnixStream, resolve, resolve_timeout,
};
use uthread::{Cancelled, Runtime, spawn, yield_now};

const HERE: (&str, u16) = ("127.0.0.1", 0);
const MOMENT: Duration = Duration::from_millis(1);

/// Runtimes of all kinds, also on virtual time.
fn kinds() -> Vec<Runtime> {
    let mut kinds = runtimes();
    kinds.push(virtual_time(7));
    kinds
}

/// True if the operation was cancelled.
fn is_cancelled<T>(result: std::io::Result<T>) -> bool {
    let error = result.err().unwrap();
    let cause = error.get_ref();
    cause.is_some_and(<dyn std::error::Error + Send + Sync>::is::<Cancelled>)
}

fn is_late<T>(result: std::io::Result<T>) -> bool {
    result.err().unwrap().kind() == ErrorKind::TimedOut
}

/// Sends back all that comes.
fn echo(mut stream: impl Read + Write) {
    let mut block = [0; 1000];
    loop {
        let bytes = stream.read(&mut block).unwrap();
        if bytes == 0 {
            return;
        }
        stream.write_all(&block[..bytes]).unwrap();
    }
}

/// More than the buffers of a connection hold.
const LONG: usize = 300_000;

fn pattern() -> Vec<u8> {
    (0..LONG).map(|i| (i * i) as u8).collect()
}

#[test]
fn tcp_carries_everything_between_many_threads() {
    for runtime in kinds() {
        runtime.run(|| {
            let listener = TcpListener::bind(HERE).unwrap();
            let address = listener.local_addr().unwrap();
            let server = spawn(move || {
                for _ in 0..8 {
                    let (stream, peer) = listener.accept().unwrap();
                    assert_eq!(stream.peer_addr().unwrap(), peer);
                    drop(spawn(move || echo(stream)));
                }
            });
            let client = |_| {
                spawn(move || {
                    let stream = Arc::new(TcpStream::connect(address).unwrap());
                    stream.set_nodelay(true).unwrap();
                    let from = Arc::clone(&stream);
                    let reader = spawn(move || {
                        let mut came = Vec::new();
                        (&*from).read_to_end(&mut came).unwrap();
                        came
                    });
                    (&*stream).write_all(&pattern()).unwrap();
                    stream.shutdown(Shutdown::Write).unwrap();
                    assert!(reader.join().unwrap() == pattern());
                })
            };
            let clients: Vec<_> = (0..8).map(client).collect();
            for client in clients {
                client.join().unwrap();
            }
            server.join().unwrap();
        });
    }
}

#[test]
fn a_datagram_arrives_with_its_sender() {
    for runtime in kinds() {
        runtime.run(|| {
            let [left, right] = [(); 2].map(|()| UdpSocket::bind("127.0.0.1:0").unwrap());
            let (from, to) = (left.local_addr().unwrap(), right.local_addr().unwrap());
            let receiver = spawn(move || {
                let mut text = [0; 10];
                assert_eq!(right.recv_from(&mut text).unwrap(), (5, from));
                right.connect(from).unwrap();
                assert_eq!(right.send(&text[..5]).unwrap(), 5);
            });
            yield_now();
            assert_eq!(left.send_to(b"hello", to).unwrap(), 5);
            let mut text = [0; 10];
            assert_eq!(left.recv_timeout(&mut text, MINUTE).unwrap(), 5);
            assert_eq!(&text[..5], b"hello");
            assert!(is_late(left.recv_from_timeout(&mut text, MOMENT)));
            receiver.join().unwrap();
        });
    }
}

#[test]
fn unix_sockets_have_paths_and_pairs() {
    for runtime in kinds() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("socket");
        runtime.run(|| {
            let listener = UnixListener::bind(&path).unwrap();
            let server = spawn(move || echo(listener.accept().unwrap()));
            let mut stream = UnixStream::connect(&path).unwrap();
            stream.write_all(b"hello").unwrap();
            stream.shutdown(Shutdown::Write).unwrap();
            let mut text = String::new();
            stream.read_to_string(&mut text).unwrap();
            assert_eq!(text, "hello");
            server.join().unwrap();

            let (left, mut right) = UnixStream::pair().unwrap();
            let sent = spawn(move || (&left).write_all(&pattern()));
            let mut came = Vec::new();
            right.read_to_end(&mut came).unwrap();
            assert!(came == pattern());
            sent.join().unwrap().unwrap();
            let long = "x".repeat(200);
            let error = UnixStream::connect(long).unwrap_err();
            assert_eq!(error.kind(), ErrorKind::InvalidInput);
        });
    }
}

/// A listener whose queue is full, and the connections in it.
fn full_listener(folder: &tempfile::TempDir) -> (UnixListener, Vec<UnixStream>) {
    let path = folder.path().join("full");
    let listener = UnixListener::bind(&path).unwrap();
    let mut waiting = Vec::new();
    while let Ok(stream) = UnixStream::connect_timeout(&path, MOMENT) {
        waiting.push(stream);
    }
    (listener, waiting)
}

#[test]
fn every_wait_has_a_limit() {
    for runtime in kinds() {
        let folder = tempfile::tempdir().unwrap();
        runtime.run(|| {
            let tcp = TcpListener::bind(HERE).unwrap();
            assert!(is_late(tcp.accept_timeout(MOMENT)));
            let stream = TcpStream::connect_timeout(tcp.local_addr().unwrap(), MINUTE).unwrap();
            assert!(is_late(stream.recv_timeout(&mut [0; 10], MOMENT)));
            tcp.accept_timeout(MINUTE).unwrap();

            let (left, right) = UnixStream::pair().unwrap();
            while left.send_timeout(&pattern(), MOMENT).is_ok() {}
            assert!(is_late(left.send_timeout(&pattern(), MOMENT)));
            assert!(right.recv_timeout(&mut [0; 10], MINUTE).unwrap() == 10);

            let (listener, waiting) = full_listener(&folder);
            let late = UnixStream::connect_timeout(folder.path().join("full"), 2 * MOMENT);
            assert!(is_late(late));
            assert!(is_late(
                UnixListener::bind(folder.path().join("empty"))
                    .unwrap()
                    .accept_timeout(MOMENT)
            ));
            drop((listener, waiting));
        });
    }
}

#[test]
fn every_wait_is_cancelled_with_its_thread() {
    for runtime in kinds() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("full");
        runtime.run(|| {
            let (listener, waiting) = full_listener(&folder);
            let (full, _receiver) = UnixStream::pair().unwrap();
            while full.send_timeout(&pattern(), MOMENT).is_ok() {}
            let (empty, _sender) = UnixStream::pair().unwrap();
            let socket = UdpSocket::bind(HERE).unwrap();
            let tcp = TcpListener::bind(HERE).unwrap();
            let waits = [
                spawn(move || is_cancelled(tcp.accept())),
                spawn(move || is_cancelled(full.send(&pattern()))),
                spawn(move || is_cancelled(empty.recv(&mut [0; 10]))),
                spawn(move || is_cancelled(socket.recv(&mut [0; 10]))),
            ];
            for wait in waits {
                uthread::io::sleep(MOMENT);
                wait.cancel();
                assert!(wait.join().unwrap(), "it was not cancelled");
            }
            // A listener that has no room is asked again and again: the sleep in between unwinds.
            let connects = spawn(move || drop(UnixStream::connect(&path)));
            uthread::io::sleep(MOMENT);
            connects.cancel();
            assert!(connects.join().unwrap_err().is::<Cancelled>());
            drop((listener, waiting));
        });
    }
}

/// The requests come at all times: while bytes arrive, and while none do.
#[test]
fn receipts_that_are_cancelled_or_late_lose_no_bytes() {
    const BYTES: usize = 3000;
    const SHORT: Duration = Duration::from_micros(20);
    for runtime in kinds() {
        runtime.run(|| {
            let (left, right) = UnixStream::pair().unwrap();
            let receiver = spawn(move || {
                let mut found = Vec::new();
                while found.len() < BYTES {
                    let mut buffer = [0; 7];
                    let limited = found.len() % 2 == 0;
                    let received = if limited {
                        right.recv_timeout(&mut buffer, SHORT)
                    } else {
                        right.recv(&mut buffer)
                    };
                    match received {
                        Ok(bytes) => found.extend_from_slice(&buffer[..bytes]),
                        Err(error) if error.kind() == ErrorKind::TimedOut => {}
                        error => assert!(is_cancelled(error)),
                    }
                }
                found
            });
            for i in 0..BYTES {
                assert_eq!(left.send(&[i as u8]).unwrap(), 1);
                match i % 8 {
                    0 => uthread::io::sleep(SHORT),
                    3 => receiver.cancel(),
                    6 => yield_now(),
                    _ => {}
                }
            }
            // The last request may come after the last byte.
            let found = receiver.join().unwrap();
            assert!(found.into_iter().eq((0..BYTES).map(|i| i as u8)));
        });
    }
}

#[test]
fn the_end_of_one_side_ends_the_waits_of_the_other() {
    for runtime in kinds() {
        runtime.run(|| {
            let listener = TcpListener::bind(HERE).unwrap();
            let address = listener.local_addr().unwrap();
            let (stream, other) = (
                TcpStream::connect(address).unwrap(),
                listener.accept().unwrap().0,
            );
            let waits = spawn(move || stream.recv(&mut [0; 10]).unwrap());
            yield_now();
            drop(other);
            assert_eq!(waits.join().unwrap(), 0);
            drop(listener);
            let refused = TcpStream::connect(address).unwrap_err();
            assert_eq!(refused.kind(), ErrorKind::ConnectionRefused);
        });
    }
}

#[test]
fn names_are_resolved_while_other_threads_run() {
    for runtime in kinds() {
        runtime.run(|| {
            let here = |found: &[SocketAddr]| found.iter().all(|one| one.ip().is_loopback());
            let found = resolve("localhost", 80).unwrap();
            assert!(!found.is_empty() && here(&found), "{found:?}");
            assert!(here(&resolve_timeout("localhost", 80, MINUTE).unwrap()));
            // The answer may be there at once.
            let at_once = resolve_timeout("localhost", 80, Duration::ZERO);
            assert!(at_once.is_ok() || is_late(at_once));

            let listener = TcpListener::bind(HERE).unwrap();
            let port = listener.local_addr().unwrap().port();
            drop(TcpStream::connect(("localhost", port)).unwrap());
            drop(TcpStream::connect(format!("localhost:{port}")).unwrap());
            for wrong in ["localhost", "localhost:port"] {
                let error = wrong.addresses(None).unwrap_err();
                assert_eq!(error.kind(), ErrorKind::InvalidInput);
            }
            let address = (IpAddr::from(Ipv4Addr::LOCALHOST), port);
            assert_eq!(address.addresses(None).unwrap().len(), 1);
        });
    }
}

#[test]
fn sockets_of_the_standard_library_become_user_thread_ones() {
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let socket = std::net::TcpStream::connect(listener.local_addr().unwrap()).unwrap();
    uthread::run(|| {
        let stream = TcpStream::try_from(socket).unwrap();
        let other = TcpListener::try_from(listener).unwrap().accept().unwrap().0;
        let waits = spawn(move || other.recv(&mut [0; 10]).unwrap());
        yield_now();
        assert_eq!(stream.send(b"hello").unwrap(), 5);
        assert_eq!(waits.join().unwrap(), 5);
    });
}
