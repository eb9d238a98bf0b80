//! Bytes that change on their way or at their source.

use crate::common::proxy::{Mischief, between};
use crate::common::{
    PLAN, Place, Served, bytes, limits, receive_options, send_methods, send_options, send_to, token,
};
use oscope_transfer::method::{ReceiveMethod, SendMethod};
use oscope_transfer::{Checksum, Limits, receiver, sender};
use std::fs::File;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

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
        checksum: Checksum::Blake3,
        ..send_options(SendMethod::File)
    };
    // Greeting 64, proof 32, file 16 + 26 + 4 + seal 16, data 16 + 2000, end 16 + 40 + seal 16.
    for at in (0..2246).step_by(13) {
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
            while progress.load(Ordering::Relaxed) == 0 {
                std::thread::sleep(Duration::from_millis(5));
            }
            File::options()
                .write(true)
                .open(path)
                .unwrap()
                .set_len(1000)
                .unwrap();
            go_on.store(true, Ordering::Release);
        });
        let (summary, outcomes) = send_to(address, &jobs, PLAN, &options);
        cutter.join().unwrap();
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
