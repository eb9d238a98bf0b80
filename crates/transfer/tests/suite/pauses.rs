//! A side that is at work for longer than the other side's patience is waited for.

use crate::common::proxy::{Mischief, Ways, between};
use crate::common::{
    PATIENCE, PLAN, Served, TWO, TestDirectories, bytes, deliver, item, job, patient_sender,
    receive_options, send_to,
};
use oscope_transfer::method::ReceiveMethod;
use oscope_transfer::receiver::{Event, Receiver};
use oscope_transfer::sender::{self, Contents};
use oscope_transfer::{Cover, Error};
use std::fs::File;
use std::io::Write;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;

/// Shorter than every pause here.
const SHORT: Duration = Duration::from_secs(2);
const PAUSE: Duration = Duration::from_secs(5);

/// A receiver with little patience.
fn hasty_receiver(dirs: &TestDirectories) -> Served {
    Served::with(dirs, |it| it.limits.patience = SHORT)
}

#[test]
fn a_receiver_waits_while_a_source_stalls() {
    let contents = bytes(3 << 20, 1);
    for cover in [Cover::Bare, Cover::Summed] {
        let dirs = TestDirectories::new();
        let served = hasty_receiver(&dirs);
        let options = sender::Options {
            cover,
            ..patient_sender(PATIENCE)
        };
        let mut session = served.session(&options);
        let mut blocks = contents.chunks(512 << 10).enumerate().map(|(at, block)| {
            // As a disk does that fails to answer for a while.
            if at == 3 {
                thread::sleep(PAUSE);
            }
            ((at * (512 << 10)) as u64, block)
        });
        let item = item(0, "file", Some(3 << 20));
        let outcome = deliver(&mut session, &item, Contents::Blocks(&mut blocks));
        assert_eq!(outcome.failure, None, "{cover:?} {}", served.log());
        session.finish().unwrap();
        assert!(dirs.received("file") == contents);
    }
}

#[test]
fn a_receiver_waits_while_a_pipe_is_silent() {
    let dirs = TestDirectories::new();
    let served = hasty_receiver(&dirs);
    let pipe = dirs.named_pipe("pipe");
    thread::scope(|scope| {
        scope.spawn(|| {
            let mut pipe = File::options().write(true).open(&pipe).unwrap();
            pipe.write_all(b"the beginning").unwrap();
            thread::sleep(PAUSE);
            pipe.write_all(b" and the end").unwrap();
        });
        let jobs = [job("piped", &pipe)];
        served
            .send_by(&jobs, PLAN, &patient_sender(PATIENCE))
            .assert(1, 0);
    });
    assert_eq!(dirs.received("piped"), b"the beginning and the end");
}

#[test]
fn a_sender_waits_while_the_receiver_is_at_work() {
    let dirs = TestDirectories::new();
    let options = receive_options(&dirs.to(), ReceiveMethod::File);
    let stop = options.limits.stop;
    let receiver = Receiver::bind("127.0.0.1:0", options).unwrap();
    let address = receiver.address().unwrap();
    let is_first = AtomicBool::new(true);
    thread::scope(|scope| {
        // As long as storing to a slow device takes, with the next file on its way.
        let observe = |event: &Event<'_>| {
            if matches!(event, Event::Settled { .. }) && is_first.swap(false, Ordering::Relaxed) {
                thread::sleep(PAUSE);
            }
        };
        let receiver = &receiver;
        scope.spawn(move || receiver.serve(true, &observe).unwrap());
        let jobs = [
            dirs.file("first", b"x"),
            dirs.file("second", &bytes(64 << 20, 2)),
        ];
        let options = patient_sender(SHORT);
        let sent = sender::send(&address.to_string(), &jobs, PLAN, &options, &|_| {});
        stop.store(true, Ordering::Release);
        assert_eq!(sent.unwrap().files, 2);
    });
}

#[test]
fn a_connection_that_is_ahead_waits_for_the_others() {
    let dirs = TestDirectories::new();
    let served = hasty_receiver(&dirs);
    let pipe = dirs.named_pipe("pipe");
    let contents = bytes(2 << 20, 3);
    let mut jobs = vec![job("piped", &pipe)];
    // More divided files than may be incomplete at a time.
    jobs.extend((0..40).map(|at| dirs.file(&format!("file{at}"), &contents)));
    thread::scope(|scope| {
        scope.spawn(|| {
            let mut pipe = File::options().write(true).open(&pipe).unwrap();
            thread::sleep(PAUSE);
            pipe.write_all(b"late").unwrap();
        });
        served
            .send_by(&jobs, TWO, &patient_sender(SHORT))
            .assert(41, 0);
    });
    assert!(dirs.received("file39") == contents);
}

#[test]
fn a_sender_whose_replies_are_lost_waits_for_its_patience_and_no_longer() {
    let dirs = TestDirectories::new();
    let served = Served::of(&dirs);
    // The answer to the greeting, and the first frame with its two checks.
    let heard = 64 + (16 + 16) + (11 + 16);
    let address = between(served.address, [Ways::back(Mischief::Lose(heard))]);
    let jobs = [dirs.file("file", &bytes(100_000, 4))];
    let error = send_to(address, &jobs, PLAN, &patient_sender(SHORT)).error();
    assert!(matches!(error, Error::Silent(SHORT)), "{error}");
}

#[test]
fn a_sender_waits_while_a_slow_line_holds_what_it_sent() {
    // All of it takes longer than the sender waits for a silent receiver, and each part far less. The
    // first line leaves the bytes with the sender, the second takes them at once.
    for (name, len, line) in [
        ("full", 1 << 20, Mischief::Slow(SHORT / 5)),
        ("long", 4 << 20, Mischief::Tunnel(SHORT / 20)),
    ] {
        let dirs = TestDirectories::new();
        let served = Served::of(&dirs);
        let contents = bytes(len, 5);
        let jobs = [dirs.file(name, &contents)];
        let address = between(served.address, [line]);
        send_to(address, &jobs, PLAN, &patient_sender(SHORT)).assert(1, 0);
        assert!(dirs.received(name) == contents, "{name}");
    }
}
