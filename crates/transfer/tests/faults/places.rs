//! Destinations that are taken, full, sealed or missing.

use crate::common::proxy::{Mischief, between};
use crate::common::{
    PLAN, Place, Served, bytes, job, receive_methods, receive_options, send, send_options, send_to,
};
use oscope_transfer::method::{ReceiveMethod, SendMethod};
use oscope_transfer::receiver::Receiver;
use oscope_transfer::sender::{Job, Plan};
use oscope_transfer::{Error, receiver};
use std::fs::{self, File};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use testing::Command;

#[test]
fn the_second_sender_of_a_name_is_refused_until_the_first_is_done() {
    let place = Place::new();
    let served = Served::start(receive_options(&place.to(), ReceiveMethod::File));
    let contents = bytes(2 << 20, 7);
    let jobs = [place.file("file", &contents)];
    let go_on = Arc::new(AtomicBool::new(false));
    let address = between(served.address, Mischief::Hold(1 << 20, Arc::clone(&go_on)));
    std::thread::scope(|scope| {
        let first = scope.spawn(|| send_to(address, &jobs, PLAN, &send_options(SendMethod::File)));
        place.wait_for_a_file();
        let (_, outcomes) = send(&served, &jobs, PLAN, &send_options(SendMethod::File));
        assert!(
            outcomes[0]
                .failure
                .as_ref()
                .unwrap()
                .contains("is coming in"),
            "{outcomes:?}"
        );
        go_on.store(true, Ordering::Release);
        assert_eq!(first.join().unwrap().0.unwrap().files, 1);
    });
    assert!(place.received("file") == contents);
}

#[test]
fn a_port_that_is_taken_and_a_place_that_is_not_there_are_named() {
    let place = Place::new();
    let options = receive_options(&place.to(), ReceiveMethod::File);
    let first = Receiver::bind("127.0.0.1:0", options.clone()).unwrap();
    let address = first.address().unwrap().to_string();
    let error = Receiver::bind(&address, options.clone())
        .err()
        .expect("taken")
        .to_string();
    assert!(
        error.contains(&address) && error.contains("in use"),
        "{error}"
    );
    let nowhere = receiver::Options {
        directory: Some(place.root.path().join("nonexistent")),
        ..options
    };
    let error = Receiver::bind("127.0.0.1:0", nowhere)
        .err()
        .expect("not there")
        .to_string();
    assert!(error.contains("/nonexistent"), "{error}");
    drop(first);
    let jobs = [place.file("file", b"x")];
    let to = address.parse().unwrap();
    let error = send_to(to, &jobs, PLAN, &send_options(SendMethod::File))
        .0
        .unwrap_err();
    assert!(matches!(error, Error::Connect { .. }), "{error}");
}

#[test]
fn files_that_cannot_be_read_do_not_keep_others_back() {
    let place = Place::new();
    let served = Served::start(receive_options(&place.to(), ReceiveMethod::File));
    let jobs = [
        job("missing", &place.root.path().join("nonexistent")),
        job("folder", "/".as_ref()),
        place.file("good", b"x"),
    ];
    for streams in [1, 2] {
        let plan = Plan { streams, ..PLAN };
        let (summary, outcomes) = send(&served, &jobs, plan, &send_options(SendMethod::File));
        let summary = summary.unwrap();
        assert_eq!((summary.files, summary.failed), (1, 2), "{outcomes:?}");
        fs::remove_file(place.to().join("good")).unwrap();
    }
}

/// A small file system in memory, unmounted when dropped; `None`, with the reason printed, if
/// mounting is impossible.
struct Tmpfs(std::path::PathBuf);

impl Tmpfs {
    fn mount(path: &std::path::Path, options: &str) -> Option<Self> {
        let mount = Command::new("mount")
            .args(["-t", "tmpfs", "-o", options, "tmpfs"])
            .arg(path)
            .output();
        if mount.is_ok_and(|output| output.status.success()) {
            return Some(Self(path.to_owned()));
        }
        println!("skipped: it takes root to mount a file system");
        None
    }
}

impl Drop for Tmpfs {
    fn drop(&mut self) {
        let _ = Command::new("umount").arg("-l").arg(&self.0).status();
    }
}

#[test]
fn a_full_disk_at_the_receiver_is_told_at_once_and_leaves_nothing() {
    for method in receive_methods() {
        let place = Place::new();
        let Some(_small) = Tmpfs::mount(&place.to(), "size=10m") else {
            return;
        };
        let served = Served::start(receive_options(&place.to(), method));
        let large = 200 << 20;
        let path = place.root.path().join("from/large");
        let file = File::create(&path).unwrap();
        let bytes = vec![7; 1 << 20];
        for block in 0..200 {
            platform::block_io::write_at(&file, &bytes, block << 20).unwrap();
        }
        let jobs = [job("large", &path), place.file("small", b"still fits")];
        let options = send_options(SendMethod::SendFile);
        let (summary, outcomes) = send(&served, &jobs, PLAN, &options);
        assert_eq!(summary.unwrap().failed, 1, "{outcomes:?}");
        let failure = outcomes[0].failure.clone().unwrap();
        assert!(failure.contains("No space left"), "{method}: {failure}");
        assert_eq!(place.names(), ["small"]);
        assert!(
            options.progress.load(Ordering::Relaxed) < large / 2,
            "it went on and on"
        );
    }
}

#[test]
fn a_place_that_may_not_be_written_to_is_an_error_of_each_file() {
    let place = Place::new();
    let Some(_sealed) = Tmpfs::mount(&place.to(), "ro") else {
        return;
    };
    let served = Served::start(receive_options(&place.to(), ReceiveMethod::File));
    let jobs = [place.file("file", b"x")];
    let (summary, outcomes) = send(&served, &jobs, PLAN, &send_options(SendMethod::File));
    assert_eq!(summary.unwrap().failed, 1);
    let failure = outcomes[0].failure.clone().unwrap();
    assert!(failure.contains("Read-only"), "{failure}");
}

#[test]
fn hidden_names_are_taken_only_where_they_are_allowed() {
    for allow_hidden in [false, true] {
        let place = Place::new();
        let served = Served::start(receiver::Options {
            allow_hidden,
            ..receive_options(&place.to(), ReceiveMethod::File)
        });
        let hidden = place.file("source", b"x");
        let named = |name: &[u8]| Job {
            name: name.to_vec(),
            ..hidden.clone()
        };
        let jobs = [
            named(b".bashrc"),
            named(b".oscope-partial"),
            named(b".oscope-partial-1"),
            named(b"seen"),
        ];
        let (_, outcomes) = send(&served, &jobs, PLAN, &send_options(SendMethod::File));
        let failures: Vec<_> = outcomes
            .iter()
            .map(|outcome| outcome.failure.as_deref())
            .collect();
        if allow_hidden {
            assert_eq!(failures[0], None);
            assert_eq!(place.names(), [".bashrc", "seen"]);
        } else {
            let refused = failures[0].is_some_and(|failure| failure.contains("--allow-hidden"));
            assert!(refused, "{failures:?}");
            assert_eq!(place.names(), ["seen"]);
        }
        assert!(
            failures[1].is_some() && failures[2].is_some(),
            "{failures:?}"
        );
        assert_eq!(failures[3], None);
    }
}

#[test]
fn a_file_that_fits_arrives_although_another_fills_the_disk() {
    for method in receive_methods() {
        let place = Place::new();
        let Some(_small) = Tmpfs::mount(&place.to(), "size=8m") else {
            return;
        };
        let served = Served::start(receive_options(&place.to(), method));
        let fits = bytes(3 << 20, 1);
        let jobs = [
            place.file("large", &bytes(12 << 20, 2)),
            place.file("fits", &fits),
            place.file("other", &bytes(12 << 20, 3)),
            place.file("small", b"x"),
        ];
        let plan = Plan { streams: 2, ..PLAN };
        let (summary, outcomes) = send(&served, &jobs, plan, &send_options(SendMethod::File));
        let summary = summary.unwrap_or_else(|error| panic!("{method}: {error}: {}", served.log()));
        assert_eq!(
            (summary.files, summary.failed),
            (2, 2),
            "{method} {outcomes:?} {}",
            served.log()
        );
        for outcome in [&outcomes[1], &outcomes[2]] {
            let failure = outcome.failure.as_deref().unwrap();
            assert!(
                failure.contains("the receiver cannot store it"),
                "{failure}"
            );
            assert!(outcome.needs_room, "{method}");
        }
        assert!(place.received("fits") == fits, "{method}");
        assert_eq!(place.names(), ["fits", "small"]);
    }
}
