//! Peers that are no senders, do not know the token, stay silent, or demand too much.

use crate::common::proxy::{Change, Mischief, Ways, between};
use crate::common::{
    PLAN, Served, TestDirectories, bytes, greeting, hear, job, patient_sender, receive_options,
    say, sealed, send_options, send_to, token,
};
use oscope_transfer::Error;
use oscope_transfer::method::{ReceiveMethod, SendMethod};
use oscope_transfer::protocol::VERSION;
use oscope_transfer::receiver::Receiver;
use std::fs;
use std::io::Read;
use std::net::{Shutdown, TcpStream};
use std::sync::Arc;
use std::time::Duration;

#[test]
fn a_peer_that_does_not_know_the_token_gets_nothing() {
    let dirs = TestDirectories::new();
    let served = Served::with(&dirs, |it| it.token = Some(token("the right token, long")));
    let jobs = [dirs.file("file", b"x")];
    let wrong = sealed("the wrong token, long", SendMethod::File);
    let error = served.send_by(&jobs, PLAN, &wrong).error();
    assert!(matches!(error, Error::WrongToken), "{error}");
    served.wait_for("does not know the token");
    let error = served.send(&jobs, PLAN).error().to_string();
    assert!(error.contains("wants a token"), "{error}");
    served.wait_for("turned away: it has no token");
    let error = Served::of(&dirs).send_by(&jobs, PLAN, &wrong).error();
    assert!(error.to_string().contains("has no token"), "{error}");
    assert_eq!(dirs.names(), [""; 0]);
}

#[test]
fn strangers_get_a_short_close_and_a_line_in_the_log() {
    let dirs = TestDirectories::new();
    let served = Served::of(&dirs);
    let answer = |said: &[u8]| {
        let socket = say(served.address, said);
        let _ = socket.shutdown(Shutdown::Write);
        hear(socket)
    };
    assert_eq!(answer(b"GET / HTTP/1.1\r\nHost: localhost\r\n\r\n"), b"");
    served.wait_for("no sender: it said \"GET / HTTP/1.1");
    // A text longer than a greeting.
    let long = format!("POST / HTTP/1.1\r\nUser-Agent: {}\r\n\r\n", "x".repeat(100));
    assert_eq!(answer(long.as_bytes()), b"");
    served.wait_for("no sender: it said \"POST / HTTP/1.1");
    for round in 0..200 {
        let garbage = bytes(1 + round * 7, round as u64 + 1);
        assert_eq!(answer(&garbage), b"");
    }
    // A port scanner: connects, says nothing and leaves.
    drop(TcpStream::connect(served.address).unwrap());
    served.wait_for("it said nothing");
    // Garbage behind a good greeting.
    for round in 0..200 {
        let garbage = bytes(1 + round * 11, round as u64 + 1);
        // The receiver looks for the owner of a connection that is still open.
        let mut socket = say(served.address, &[&greeting(VERSION)[..], &garbage].concat());
        let mut welcome = [0; 64];
        socket.read_exact(&mut welcome).unwrap();
        assert_eq!(welcome[10], 0);
        let _ = socket.shutdown(Shutdown::Write);
        hear(socket);
    }
    let jobs = [dirs.file("file", b"still at work")];
    served.send(&jobs, PLAN).assert(1, 0);
    assert_eq!(dirs.names(), ["file"]);
}

#[test]
fn a_peer_of_another_version_is_named() {
    let dirs = TestDirectories::new();
    let served = Served::of(&dirs);
    // The receiver closes, and does not cut.
    let mut other = greeting(2);
    other[32..].fill(7);
    let heard = hear(say(served.address, &other));
    assert_eq!((heard.len(), &heard[..8]), (64, &b"oscope\r\n"[..]));
    assert_eq!((heard[8], heard[10]), (VERSION as u8, 1));
    served.wait_for("another version");
    // Its answer, of that other version.
    let change: Change = Arc::new(|words| words[8] = 2);
    let rewritten = Ways::back(Mischief::Rewrite(64, change));
    let address = between(served.address, [rewritten]);
    let jobs = [dirs.file("file", b"x")];
    let error = send_to(address, &jobs, PLAN, &send_options(SendMethod::File)).error();
    assert!(matches!(error, Error::Refused(_)), "{error}");
    let text = error.to_string();
    assert!(text.contains("speaks another version"), "{text}");
}

#[test]
fn silence_is_not_waited_for() {
    let patience = Duration::from_secs(1);
    let dirs = TestDirectories::new();
    let served = Served::with(&dirs, |it| it.limits.patience = patience);
    let silent = TcpStream::connect(served.address).unwrap();
    served.wait_for("silent or too slow");
    drop(silent);
    // A byte now and then counts as silence, also after authentication.
    served.log.lock().unwrap().clear();
    let jobs = [dirs.file("file", &bytes(1 << 20, 3))];
    let trickle = between(served.address, [Mischief::Trickle(100_000)]);
    send_to(trickle, &jobs, PLAN, &send_options(SendMethod::File)).error();
    assert!(served.log().contains("began"), "{}", served.log());
    served.wait_for("too slow");

    // The reverse: a receiver that reads nothing.
    let deaf = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let options = patient_sender(patience);
    let jobs = [dirs.file("file", b"x")];
    let error = send_to(deaf.local_addr().unwrap(), &jobs, PLAN, &options).error();
    assert!(matches!(error, Error::Silent(_)), "{error}");
}

#[test]
fn limits_on_sizes_counts_and_connections_hold() {
    let dirs = TestDirectories::new();
    let served = Served::with(&dirs, |it| {
        (it.max_size, it.max_files, it.max_connections) = (1000, 3, 1);
    });
    let jobs = [
        dirs.file("a", &bytes(1000, 1)),
        dirs.file("b", &bytes(1001, 1)),
        dirs.file("c", b"x"),
        dirs.file("d", b"x"),
    ];
    let outcomes = served.send(&jobs, PLAN).outcomes;
    let failed: Vec<_> = outcomes.iter().map(|it| it.failure.is_some()).collect();
    assert_eq!(failed, [false, true, false, true], "{outcomes:?}");
    assert_eq!(dirs.names(), ["a", "c"]);

    // An unknown size does not evade the size limit.
    let fifo = dirs.named_pipe("fifo");
    let jobs = [job("pipe", &fifo)];
    // The reader closes before it has read everything.
    let writer = std::thread::spawn(move || drop(fs::write(fifo, vec![1; 1 << 20])));
    served.wait_for("ended");
    served.send(&jobs, PLAN).assert_failure(0, "larger than");
    writer.join().unwrap();

    served.wait_for_ends(2);
    std::thread::sleep(Duration::from_millis(100));
    let held = served.session(&send_options(SendMethod::File));
    let error = served.send(&jobs, PLAN).error().to_string();
    assert!(error.contains("as many connections"), "{error}");
    drop(held);
}

#[test]
fn a_receiver_without_a_token_serves_other_machines_only_on_request() {
    let dirs = TestDirectories::new();
    for address in ["0.0.0.0:0", "[::]:0"] {
        let mut options = receive_options(&dirs.to(), ReceiveMethod::File);
        let open = Receiver::bind(address, options.clone());
        let error = open.err().expect("it is refused");
        assert!(matches!(error, Error::Open(_)), "{error}");
        assert!(error.to_string().contains("--token-file"), "{error}");
        options.insecure = true;
        match Receiver::bind(address, options) {
            Err(Error::Listen { reason, .. }) => println!("skipped: {address}: {reason}"),
            bound => drop(bound.expect("it is free")),
        }
    }
}
