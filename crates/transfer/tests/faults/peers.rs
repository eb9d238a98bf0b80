//! Peers that are no senders, do not know the token, stay silent, or demand too much.

use crate::common::proxy::{Mischief, between};
use crate::common::{
    PLAN, Place, Served, bytes, job, limits, receive_options, send, send_options, send_to, token,
};
use oscope_transfer::method::{ReceiveMethod, SendMethod};
use oscope_transfer::protocol::VERSION;
use oscope_transfer::receiver::Receiver;
use oscope_transfer::sender::Session;
use oscope_transfer::{Cover, Error, Limits, receiver, sender};
use std::fs;
use std::io::{ErrorKind, Read, Write};
use std::net::{Shutdown, TcpStream};
use std::time::Duration;

#[test]
fn who_does_not_know_the_token_gets_nothing() {
    let place = Place::new();
    let served = Served::start(receiver::Options {
        token: Some(token("the right token, long")),
        ..receive_options(&place.to(), ReceiveMethod::File)
    });
    let jobs = [place.file("file", b"x")];
    let with = |text| sender::Options {
        token: Some(token(text)),
        cover: Cover::Sealed,
        ..send_options(SendMethod::File)
    };
    let error = send(&served, &jobs, PLAN, &with("the wrong token, long"))
        .0
        .unwrap_err();
    assert!(matches!(error, Error::WrongToken), "{error}");
    served.wait_for("does not know the token");
    let error = send(&served, &jobs, PLAN, &send_options(SendMethod::File))
        .0
        .unwrap_err();
    assert!(error.to_string().contains("wants a token"), "{error}");
    served.wait_for("turned away: it has no token");
    let open = Served::start(receive_options(&place.to(), ReceiveMethod::File));
    let error = send(&open, &jobs, PLAN, &with("any token that is long"))
        .0
        .unwrap_err();
    assert!(error.to_string().contains("has no token"), "{error}");
    assert_eq!(place.names(), [""; 0]);
    let everywhere = Receiver::bind(
        "0.0.0.0:0",
        receive_options(&place.to(), ReceiveMethod::File),
    );
    let error = everywhere.err().expect("it is refused").to_string();
    assert!(error.contains("--token-file"), "{error}");
}

/// A connection that has said this to the receiver.
fn say(served: &Served, said: &[u8]) -> TcpStream {
    let mut socket = TcpStream::connect(served.address).expect("it listens");
    socket
        .set_read_timeout(Some(Duration::from_secs(10)))
        .expect("a time above zero");
    let _ = socket.write_all(said);
    socket
}

/// All that the receiver says before it closes, to a peer that says nothing more.
fn hear(mut socket: TcpStream) -> Vec<u8> {
    let _ = socket.shutdown(Shutdown::Write);
    let mut answer = Vec::new();
    match socket.read_to_end(&mut answer) {
        Err(error) if error.kind() != ErrorKind::ConnectionReset => panic!("{error}"),
        _ => answer,
    }
}

/// The receiver's answer to `said`, up to its closing.
fn answer(served: &Served, said: &[u8]) -> Vec<u8> {
    hear(say(served, said))
}

#[test]
fn strangers_get_a_short_close_and_a_line_in_the_log() {
    let place = Place::new();
    let served = Served::start(receive_options(&place.to(), ReceiveMethod::File));
    assert_eq!(
        answer(&served, b"GET / HTTP/1.1\r\nHost: localhost\r\n\r\n"),
        b""
    );
    served.wait_for("no sender: it said \"GET / HTTP/1.1");
    // A text longer than a greeting.
    let long = format!("POST / HTTP/1.1\r\nUser-Agent: {}\r\n\r\n", "x".repeat(100));
    assert_eq!(answer(&served, long.as_bytes()), b"");
    served.wait_for("no sender: it said \"POST / HTTP/1.1");
    for round in 0..200 {
        let garbage = bytes(1 + round * 7, round as u64 + 1);
        assert_eq!(answer(&served, &garbage), b"");
    }
    // A port scanner: connects, says nothing and leaves.
    drop(TcpStream::connect(served.address).unwrap());
    served.wait_for("it said nothing");

    let hello = |version: u16| {
        let mut hello = [0; 64];
        hello[..8].copy_from_slice(b"oscope\r\n");
        hello[8..10].copy_from_slice(&version.to_le_bytes());
        hello[12] = 1;
        hello
    };
    let refused = answer(&served, &hello(9));
    assert_eq!((refused.len(), refused[10]), (64, 1));
    served.wait_for("another version");
    // Garbage behind a good greeting.
    for round in 0..200 {
        let mut said = hello(VERSION).to_vec();
        said.extend(bytes(1 + round * 11, round as u64 + 1));
        // The receiver looks for the owner of a connection that is still open.
        let mut socket = say(&served, &said);
        let mut welcome = [0; 64];
        socket.read_exact(&mut welcome).unwrap();
        assert_eq!(welcome[10], 0);
        hear(socket);
    }
    let jobs = [place.file("file", b"still at work")];
    send(&served, &jobs, PLAN, &send_options(SendMethod::File))
        .0
        .unwrap();
    assert_eq!(place.names(), ["file"]);
}

#[test]
fn silence_is_not_borne_for_long() {
    let place = Place::new();
    let served = Served::start(receiver::Options {
        limits: Limits {
            patience: Duration::from_secs(1),
            ..limits()
        },
        ..receive_options(&place.to(), ReceiveMethod::File)
    });
    let silent = TcpStream::connect(served.address).unwrap();
    served.wait_for("silent or too slow");
    drop(silent);
    // A byte now and then counts as silence.
    let mut slow = TcpStream::connect(served.address).unwrap();
    let mut hello = [0; 64];
    hello[..8].copy_from_slice(b"oscope\r\n");
    hello[8..10].copy_from_slice(&VERSION.to_le_bytes());
    hello[12] = 1;
    served.log.lock().unwrap().clear();
    for byte in hello {
        let is_over = slow.write_all(&[byte]).is_err() || served.ends() > 0;
        if is_over {
            break;
        }
        std::thread::sleep(Duration::from_millis(150));
    }
    served.wait_for("did not prove in time");
    // It also does so after authentication.
    served.log.lock().unwrap().clear();
    let jobs = [place.file("file", &bytes(1 << 20, 3))];
    let trickle = between(served.address, Mischief::Trickle(100_000));
    send_to(trickle, &jobs, PLAN, &send_options(SendMethod::File))
        .0
        .unwrap_err();
    assert!(served.log().contains("began"), "{}", served.log());
    served.wait_for("too slow");

    // The reverse: a receiver that reads nothing.
    let deaf = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let options = sender::Options {
        limits: Limits {
            patience: Duration::from_secs(1),
            ..limits()
        },
        ..send_options(SendMethod::File)
    };
    let jobs = [place.file("file", b"x")];
    let address = deaf.local_addr().unwrap();
    let error = send_to(address, &jobs, PLAN, &options).0.unwrap_err();
    assert!(matches!(error, Error::Silent(_)), "{error}");
}

#[test]
fn a_slow_line_is_not_silent_while_it_holds_what_was_sent() {
    let place = Place::new();
    let served = Served::start(receive_options(&place.to(), ReceiveMethod::File));
    let contents = bytes(1 << 20, 4);
    let jobs = [place.file("file", &contents)];
    let sender = sender::Options {
        limits: Limits {
            patience: Duration::from_secs(6),
            ..limits()
        },
        ..send_options(SendMethod::File)
    };
    // All the sent data takes longer than a sender waits for a silent receiver, and each part of it far less.
    let address = between(served.address, Mischief::Slow(Duration::from_millis(700)));
    let (summary, _) = send_to(address, &jobs, PLAN, &sender);
    assert_eq!(summary.unwrap().files, 1);
    assert!(place.received("file") == contents);
}

#[test]
fn limits_on_sizes_counts_and_connections_hold() {
    let place = Place::new();
    let served = Served::start(receiver::Options {
        max_size: 1000,
        max_files: 3,
        max_connections: 1,
        ..receive_options(&place.to(), ReceiveMethod::File)
    });
    let jobs = [
        place.file("a", &bytes(1000, 1)),
        place.file("b", &bytes(1001, 1)),
        place.file("c", b"x"),
        place.file("d", b"x"),
    ];
    let (_, outcomes) = send(&served, &jobs, PLAN, &send_options(SendMethod::File));
    let failed: Vec<_> = outcomes
        .iter()
        .map(|outcome| outcome.failure.is_some())
        .collect();
    assert_eq!(failed, [false, true, false, true], "{outcomes:?}");
    assert_eq!(place.names(), ["a", "c"]);

    // An unknown size does not evade the size limit.
    let fifo = place.named_pipe("fifo");
    let writer = std::thread::spawn({
        let fifo = fifo.clone();
        // The reader closes before it has read everything.
        move || drop(fs::write(fifo, vec![1; 1 << 20]))
    });
    served.wait_for("ended");
    let (_, outcomes) = send(
        &served,
        &[job("pipe", &fifo)],
        PLAN,
        &send_options(SendMethod::File),
    );
    assert!(
        outcomes[0]
            .failure
            .as_ref()
            .unwrap()
            .contains("larger than"),
        "{outcomes:?}"
    );
    writer.join().unwrap();

    served.wait_for_ends(2);
    std::thread::sleep(Duration::from_millis(100));
    let options = send_options(SendMethod::File);
    let address = served.address.to_string();
    let held = Session::connect(&address, &options, [0; 16], (0, 1)).unwrap();
    let error = send(&served, &jobs, PLAN, &send_options(SendMethod::File))
        .0
        .unwrap_err();
    assert!(error.to_string().contains("as many connections"), "{error}");
    drop(held);
}
