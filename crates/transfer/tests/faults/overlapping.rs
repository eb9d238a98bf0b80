//! Two connections for one file, of which the older is still at work here although its sender has
//! ended. Once the file is published, no beginning of it stays beside it.

use crate::common::proxy::{Mischief, between};
use crate::common::{
    PLAN, Place, Served, bytes, job, receive_methods, receive_options, send, send_options, send_to,
};
use oscope_transfer::method::{ReceiveMethod, SendMethod};
use oscope_transfer::sender::Plan;
use std::fs;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;
use testing::wait_until;

const RESUME: Plan = Plan {
    resume: true,
    ..PLAN
};

/// Time for a connection to reach the file that another one holds.
const REACHING: Duration = Duration::from_millis(300);

#[test]
fn a_file_that_is_published_while_another_waits_for_it_is_not_begun_anew() {
    for method in receive_methods() {
        let place = Place::new();
        let served = Served::start(receive_options(&place.to(), method));
        let contents = bytes(2 << 20, 1);
        let jobs = [place.file("file", &contents)];
        let go_on = Arc::new(AtomicBool::new(false));
        let older = between(served.address, Mischief::Hold(1 << 20, Arc::clone(&go_on)));
        // If it begins the file anew, it is lost in the middle.
        let newer = between(served.address, Mischief::Cut(1 << 20));
        std::thread::scope(|scope| {
            let older =
                scope.spawn(|| send_to(older, &jobs, PLAN, &send_options(SendMethod::File)));
            place.wait_for_a_file();
            let newer =
                scope.spawn(|| send_to(newer, &jobs, RESUME, &send_options(SendMethod::File)));
            std::thread::sleep(REACHING);
            go_on.store(true, Ordering::Release);
            assert_eq!(older.join().unwrap().0.unwrap().files, 1);
            let _ = newer.join().unwrap();
        });
        served.wait_for_ends(2);
        let log = served.log();
        assert!(log.contains("a file of this name is there"), "{log}");
        assert_eq!(place.names(), ["file"], "{method}: {log}");
        assert!(place.received("file") == contents);
    }
}

#[test]
fn a_lost_connection_keeps_nothing_of_a_file_that_is_published() {
    let place = Place::new();
    let options = receive_options(&place.to(), ReceiveMethod::File);
    let received = Arc::clone(&options.progress);
    let served = Served::start(options);
    place.file("large", &bytes(2 << 20, 2));
    let large = [job("file", &place.root.path().join("from/large"))];
    let small = [place.file("file", b"small")];
    let cut = Arc::new(AtomicBool::new(false));
    let mischief = Mischief::HoldAndCut(1 << 20, Arc::clone(&cut));
    let address = between(served.address, mischief);
    std::thread::scope(|scope| {
        let sending =
            scope.spawn(|| send_to(address, &large, RESUME, &send_options(SendMethod::File)));
        // Contents arrive only once the connection has locked the file.
        wait_until("contents", || received.load(Ordering::Relaxed) > 0);
        let (summary, outcomes) = send(&served, &small, PLAN, &send_options(SendMethod::File));
        assert_eq!(summary.unwrap().files, 1, "{outcomes:?}");
        // The other connection receives it, so it stays until that one ends.
        place.partial();
        cut.store(true, Ordering::Release);
        sending.join().unwrap().0.unwrap_err();
    });
    served.wait_for_ends(2);
    assert_eq!(place.names(), ["file"], "{}", served.log());
    assert_eq!(place.received("file"), b"small");
    assert!(!served.log().contains("are kept"), "{}", served.log());
}

#[test]
fn a_lost_connection_keeps_what_is_to_replace_a_file() {
    let place = Place::new();
    let mut options = receive_options(&place.to(), ReceiveMethod::File);
    options.force = true;
    let served = Served::start(options);
    fs::write(place.to().join("file"), "old").unwrap();
    let contents = bytes(2 << 20, 3);
    let jobs = [place.file("file", &contents)];
    let address = between(served.address, Mischief::Cut(1 << 20));
    let options = send_options(SendMethod::File);
    send_to(address, &jobs, RESUME, &options).0.unwrap_err();
    served.wait_for("are kept");
    assert_eq!(place.received("file"), b"old");
    place.partial();
    assert_eq!(send(&served, &jobs, RESUME, &options).0.unwrap().files, 1);
    assert_eq!(place.names(), ["file"]);
    assert!(place.received("file") == contents);
}
