//! Recorded traffic is replayed, to the same receiver or to a sender.

use super::{ANSWER, GREETING, OPENING, Scene};
use crate::common::{hear, say};
use oscope_transfer::Cover;
use std::io::{Read, Write};
use std::net::{Shutdown, TcpListener};
use std::thread;
use std::time::Duration;

#[test]
fn a_session_that_is_repeated_does_nothing() {
    let scene = Scene::new(Cover::Sealed);
    let [words, _] = scene.record();
    // The handshake, the first frame, all but the last frame, and all.
    for end in [OPENING, OPENING + 49, words.len() - 49, words.len()] {
        for closes in [false, true] {
            scene.served.log.lock().unwrap().clear();
            let socket = say(scene.served.address, &words[..end]);
            if closes {
                let _ = socket.shutdown(Shutdown::Write);
            }
            let heard = hear(socket);
            scene.served.wait_for_ends(1);
            // Greeting and handshake, but nothing that takes more than the first messages.
            assert!(heard.len() <= ANSWER, "{} bytes", heard.len());
            let log = scene.served.log();
            assert!(!log.contains("began"), "{log}");
            assert_eq!(scene.dirs.names(), [""; 0]);
        }
    }
    // An honest transfer goes on after all of that.
    scene.record();
}

#[test]
fn a_peer_that_only_repeats_takes_nobodys_place() {
    let scene = Scene::with(Cover::Sealed, |it| {
        (it.limits.patience, it.max_connections) = (Duration::from_mins(1), 1);
    });
    let [words, _] = scene.record();
    let held: Vec<_> = (0..20)
        .map(|_| {
            let mut socket = say(scene.served.address, &words[..OPENING]);
            socket.read_exact(&mut [0; ANSWER]).expect("it answers");
            socket
        })
        .collect();
    scene.served.log.lock().unwrap().clear();
    assert_eq!(scene.dirs.names(), [""; 0]);
    let sent = scene.send(scene.served.address);
    sent.expect("the one place is free");
    assert_eq!(scene.dirs.names(), ["file"]);
    let log = scene.served.log();
    assert!(
        !log.contains("given up"),
        "those who only repeat still wait: {log}"
    );
    drop(held);
}

#[test]
fn a_receiver_that_only_repeats_is_refused() {
    let scene = Scene::new(Cover::Sealed);
    let [_, old] = scene.record();
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    // Also a peer that knows no token and claims that none is needed.
    for words in [&old[..], &old[..ANSWER], &old[..GREETING]] {
        thread::scope(|scope| {
            scope.spawn(|| {
                let (mut socket, _) = listener.accept().expect("a sender comes");
                socket.write_all(words).expect("it listens");
                let _ = socket.read_to_end(&mut Vec::new());
            });
            assert!(scene.connect(address).is_err());
        });
    }
}
