//! Bytes that change in transit or at their source.

use crate::common::proxy::{Mischief, between, between_each};
use crate::common::{
    PLAN, Place, Served, bytes, limits, receive_options, send_methods, send_options, send_to,
    source, token,
};
use oscope_transfer::method::{ReceiveMethod, SendMethod};
use oscope_transfer::sender::{Job, Plan};
use oscope_transfer::{Cover, Limits, receiver, sender};
use std::fs::{self, File};
use std::os::unix::fs::FileExt;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;
use testing::{joined, wait_until};

#[test]
fn a_byte_that_changes_on_its_way_is_found() {
    let place = Place::new();
    let served = Served::start(receive_options(&place.to(), ReceiveMethod::Splice));
    let jobs = [place.file("file", &bytes(500_000, 4))];
    let address = between(served.address, Mischief::Flip(300_000));
    let (summary, outcomes) = send_to(address, &jobs, PLAN, &send_options(SendMethod::File));
    assert_eq!(summary.unwrap().failed, 1);
    assert!(
        outcomes[0].failure.as_ref().unwrap().contains("checksum"),
        "{outcomes:?}"
    );
    assert_eq!(place.names(), [""; 0]);
}

#[test]
fn with_a_token_nothing_can_be_changed_on_its_way() {
    let place = Place::new();
    let secret = "a token of some length";
    let served = Served::start(receiver::Options {
        token: Some(token(secret)),
        ..receive_options(&place.to(), ReceiveMethod::File)
    });
    let jobs = [place.file("file", &bytes(2000, 5))];
    let sender = sender::Options {
        token: Some(token(secret)),
        cover: Cover::Sealed,
        ..send_options(SendMethod::File)
    };
    // Greeting 64, handshake 48, open 32, file 32 + 26 + 4 + 16, data 32 + 2000 + 16, end 32.
    for at in (0..2302).step_by(13) {
        let address = between(served.address, Mischief::Flip(at));
        let limits = Limits {
            patience: Duration::from_secs(1),
            ..limits()
        };
        let options = sender::Options {
            limits,
            ..sender.clone()
        };
        let (summary, _) = send_to(address, &jobs, PLAN, &options);
        let failed = summary.map_or(true, |summary| summary.failed == 1);
        assert!(failed, "a change at {at} was not seen");
        assert!(!place.to().join("file").exists(), "{at}");
    }
}

#[test]
fn a_source_that_is_cut_short_is_an_error_on_both_sides() {
    for method in send_methods() {
        let place = Place::new();
        let served = Served::start(receive_options(&place.to(), ReceiveMethod::File));
        let jobs = [place.file("file", &bytes(40 << 20, 6))];
        let go_on = Arc::new(AtomicBool::new(false));
        let address = between(served.address, Mischief::Hold(1 << 20, Arc::clone(&go_on)));
        let options = send_options(method);
        let progress = Arc::clone(&options.progress);
        let path = place.root.path().join("from/file");
        let cutter = std::thread::spawn(move || {
            wait_until("contents", || progress.load(Ordering::Relaxed) > 0);
            File::options()
                .write(true)
                .open(path)
                .unwrap()
                .set_len(1000)
                .unwrap();
            go_on.store(true, Ordering::Release);
        });
        let (summary, outcomes) = send_to(address, &jobs, PLAN, &options);
        joined("the cut", cutter);
        assert_eq!(summary.unwrap().failed, 1, "{method}");
        let failure = outcomes[0].failure.clone().unwrap();
        assert!(
            failure.contains("the sender gave it up"),
            "{method}: {failure}"
        );
        served.wait_for("the sender gave it up");
        assert_eq!(place.names(), [""; 0], "{method}");
    }
}

/// A file system may not distinguish two changes in quick succession.
const CLOCK_TICK: Duration = Duration::from_millis(20);

/// Sends a file over this number of connections and changes it when they are in the middle of it:
/// as far as buffers reach behind a proxy that holds all bytes.
fn assert_change_is_told(method: SendMethod, streams: u16, name: &str, change: fn(&Path)) {
    let place = Place::new();
    let served = Served::start(receive_options(&place.to(), ReceiveMethod::File));
    let path = place.root.path().join("from/file");
    // More than the buffers of a connection hold while its peer does not read.
    let file = File::create(&path).expect("there is room");
    for part in 0..u64::from(streams) {
        let contents = bytes(16 << 20, 6 + part);
        file.write_all_at(&contents, part * (16 << 20))
            .expect("there is room");
    }
    drop(file);
    std::thread::sleep(CLOCK_TICK);
    let jobs = [Job {
        name: b"file".into(),
        source: source(&path),
    }];
    let go_on = Arc::new(AtomicBool::new(false));
    let hold = Some(Mischief::Hold(1 << 20, Arc::clone(&go_on)));
    let address = between_each(served.address, vec![hold; usize::from(streams)]);
    let options = send_options(method);
    let progress = Arc::clone(&options.progress);
    let changer = std::thread::spawn(move || {
        wait_until("contents", || progress.load(Ordering::Relaxed) > 0);
        change(&path);
        go_on.store(true, Ordering::Release);
    });
    let plan = Plan { streams, ..PLAN };
    let (summary, outcomes) = send_to(address, &jobs, plan, &options);
    joined("the change", changer);
    let failed = summary.expect("only the file fails").failed;
    assert_eq!(failed, 1, "{name}, {method}, {streams}: {outcomes:?}");
    let failure = outcomes[0].failure.clone().unwrap_or_default();
    assert!(
        failure.contains("it changed while it was sent"),
        "{name}, {method}, {streams}: {failure}"
    );
    served.wait_for("it changed while it was sent");
    served.wait_for_ends(streams.into());
    assert_eq!(place.names(), [""; 0], "{name}, {method}, {streams}");
}

#[test]
fn a_source_that_is_rewritten_without_another_size_is_an_error_on_both_sides() {
    for method in send_methods() {
        for streams in [1, 2] {
            assert_change_is_told(method, streams, "rewritten", |path| {
                let file = File::options().write(true).open(path).unwrap();
                file.write_all_at(b"something else", 15 << 20).unwrap();
            });
        }
    }
}

#[test]
fn a_source_that_is_appended_to_is_an_error_on_both_sides() {
    for method in send_methods() {
        for streams in [1, 2] {
            assert_change_is_told(method, streams, "appended to", |path| {
                let file = File::options().write(true).open(path).unwrap();
                let len = file.metadata().unwrap().len();
                file.write_all_at(b"more", len).unwrap();
            });
        }
    }
}

/// Sends two files over two connections, of which the second lags behind, and changes the second
/// file when one connection has sent its part and the other has not started.
fn between_its_parts(change: fn(&Path)) {
    let place = Place::new();
    let served = Served::start(receive_options(&place.to(), ReceiveMethod::File));
    let large = bytes(90 << 20, 1);
    let jobs = [
        place.file("large", &large),
        place.file("file", &bytes(2 << 20, 2)),
    ];
    let path = place.root.path().join("from/file");
    std::thread::sleep(CLOCK_TICK);
    let go_on = Arc::new(AtomicBool::new(false));
    let hold = Some(Mischief::Hold(1 << 20, Arc::clone(&go_on)));
    let address = between_each(served.address, vec![None, hold]);
    let options = send_options(SendMethod::File);
    let hidden = format!("{:032x}", twox_hash::XxHash3_128::oneshot(b"file"));
    let hidden = place.to().join(".oscope-partial").join(hidden);
    let changer = std::thread::spawn(move || {
        // The first connection ends with its part of the second file. The second one still holds its
        // part of the first.
        wait_until("the first part of the second file", || {
            fs::metadata(&hidden).is_ok_and(|found| found.len() >= 1 << 20)
        });
        change(&path);
        go_on.store(true, Ordering::Release);
    });
    let plan = Plan { streams: 2, ..PLAN };
    let (summary, outcomes) = send_to(address, &jobs, plan, &options);
    joined("the change", changer);
    let summary = summary.expect("only the file fails");
    assert_eq!((summary.files, summary.failed), (1, 1), "{outcomes:?}");
    let failure = outcomes[0].failure.clone().unwrap_or_default();
    assert!(
        failure.contains("it changed while it was sent"),
        "{failure}"
    );
    served.wait_for_ends(2);
    assert_eq!(place.names(), ["large"]);
    assert!(place.received("large") == large);
}

#[test]
fn a_source_that_changes_between_its_parts_is_an_error() {
    between_its_parts(|path| {
        let file = File::options().write(true).open(path).unwrap();
        file.write_all_at(b"something else", 3 << 19).unwrap();
    });
    // So small that it is no longer divided, and the second connection has no part of it.
    between_its_parts(|path| fs::write(path, "short").unwrap());
}
