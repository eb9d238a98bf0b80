//! Destinations that are taken, full, sealed or missing.

use crate::common::{
    PLAN, Served, TWO, TestDirectories, bytes, job, receive_methods, receive_options, send_options,
    send_to,
};
use oscope_transfer::method::{ReceiveMethod, SendMethod};
use oscope_transfer::receiver::Receiver;
use oscope_transfer::sender::{Job, Plan};
use oscope_transfer::{Error, receiver};
use std::fs;
use std::sync::atomic::Ordering;
use testing::Tmpfs;

#[test]
fn the_second_sender_of_a_name_is_refused_until_the_first_is_done() {
    let dirs = TestDirectories::new();
    let served = Served::of(&dirs);
    let contents = bytes(2 << 20, 7);
    let jobs = [dirs.file("file", &contents)];
    let (address, go_on) = served.hold(1 << 20);
    std::thread::scope(|scope| {
        let first = scope.spawn(|| send_to(address, &jobs, PLAN, &send_options(SendMethod::File)));
        dirs.wait_for_a_file();
        served.send(&jobs, PLAN).assert_failure(0, "is coming in");
        go_on.store(true, Ordering::Release);
        first.join().unwrap().assert(1, 0);
    });
    assert!(dirs.received("file") == contents);
}

#[test]
fn a_port_that_is_taken_and_a_place_that_is_not_there_are_named() {
    let dirs = TestDirectories::new();
    let options = receive_options(&dirs.to(), ReceiveMethod::File);
    let first = Receiver::bind("127.0.0.1:0", options.clone()).unwrap();
    let address = first.address().unwrap();
    let refused = |address: &str, options| {
        let refused = Receiver::bind(address, options).err();
        refused.expect("it is refused").to_string()
    };
    let taken = address.to_string();
    let error = refused(&taken, options.clone());
    assert!(
        error.contains(&taken) && error.contains("in use"),
        "{error}"
    );
    let directory = Some(dirs.root.path().join("nonexistent"));
    let nowhere = receiver::Options {
        directory,
        ..options
    };
    let error = refused("127.0.0.1:0", nowhere);
    assert!(error.contains("/nonexistent"), "{error}");
    drop(first);
    let jobs = [dirs.file("file", b"x")];
    let error = send_to(address, &jobs, PLAN, &send_options(SendMethod::File)).error();
    assert!(matches!(error, Error::Connect { .. }), "{error}");
}

#[test]
fn files_that_cannot_be_read_do_not_keep_others_back() {
    let dirs = TestDirectories::new();
    let served = Served::of(&dirs);
    let jobs = [
        job("missing", &dirs.root.path().join("nonexistent")),
        job("folder", "/".as_ref()),
        dirs.file("good", b"x"),
    ];
    for streams in [1, 2] {
        served.send(&jobs, Plan { streams, ..PLAN }).assert(1, 2);
        fs::remove_file(dirs.to().join("good")).unwrap();
    }
}

#[test]
fn a_full_disk_at_the_receiver_is_reported_at_once_and_keeps_nothing() {
    for method in receive_methods() {
        let dirs = TestDirectories::new();
        let Some(_small) = Tmpfs::mount(&dirs.to(), "size=10m") else {
            return;
        };
        let served = Served::by(&dirs, method);
        let large = 200 << 20;
        let jobs = [
            dirs.file("large", &vec![7; large]),
            dirs.file("small", b"still fits"),
        ];
        let options = send_options(SendMethod::SendFile);
        let sent = served.send_by(&jobs, PLAN, &options);
        sent.assert(1, 1);
        sent.assert_failure(0, "No space left");
        assert_eq!(dirs.names(), ["small"]);
        // It must not go on and on.
        assert!(options.progress.load(Ordering::Relaxed) < large as u64 / 2);
    }
}

#[test]
fn a_file_that_fits_arrives_although_another_fills_the_disk() {
    for method in receive_methods() {
        let dirs = TestDirectories::new();
        let Some(_small) = Tmpfs::mount(&dirs.to(), "size=8m") else {
            return;
        };
        let served = Served::by(&dirs, method);
        let fits = bytes(3 << 20, 1);
        let jobs = [
            dirs.file("large", &bytes(12 << 20, 2)),
            dirs.file("fits", &fits),
            dirs.file("other", &bytes(12 << 20, 3)),
            dirs.file("small", b"x"),
        ];
        let sent = served.send(&jobs, TWO);
        sent.assert(2, 2);
        for index in [1, 2] {
            sent.assert_failure(index, "the receiver cannot store it");
            assert!(sent.outcomes[index].needs_room, "{method}");
        }
        assert!(dirs.received("fits") == fits, "{method}");
        assert_eq!(dirs.names(), ["fits", "small"]);
    }
}

#[test]
fn a_place_that_may_not_be_written_to_is_an_error_of_each_file() {
    let dirs = TestDirectories::new();
    let Some(_sealed) = Tmpfs::mount(&dirs.to(), "ro") else {
        return;
    };
    let sent = Served::of(&dirs).send(&[dirs.file("file", b"x")], PLAN);
    sent.assert(0, 1);
    sent.assert_failure(0, "Read-only");
}

#[test]
fn hidden_names_are_accepted_only_where_they_are_allowed() {
    for allow_hidden in [false, true] {
        let dirs = TestDirectories::new();
        let served = Served::with(&dirs, |it| it.allow_hidden = allow_hidden);
        let source = dirs.file("source", b"x").source;
        let names = [".bashrc", ".oscope-partial", ".oscope-partial-1", "seen"];
        let jobs = names.map(|name| Job {
            name: name.into(),
            source: source.clone(),
        });
        let sent = served.send(&jobs, PLAN);
        let failed: Vec<_> = sent
            .outcomes
            .iter()
            .map(|it| it.failure.is_some())
            .collect();
        assert_eq!(failed, [!allow_hidden, true, true, false]);
        if allow_hidden {
            assert_eq!(dirs.names(), [".bashrc", "seen"]);
        } else {
            sent.assert_failure(0, "--allow-hidden");
            assert_eq!(dirs.names(), ["seen"]);
        }
    }
}
