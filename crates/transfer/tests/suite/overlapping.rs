//! Two connections for one file, of which the older is still at work here although its sender has
//! ended. Once the file is published, no beginning of it stays.

use crate::common::proxy::{Mischief, between};
use crate::common::{
    PLAN, RESUME, Served, TestDirectories, bytes, job, receive_methods, receive_options,
    send_options, send_to,
};
use oscope_transfer::method::{ReceiveMethod, SendMethod};
use std::fs;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;
use testing::wait_until;

/// Time for a connection to reach the file that another one holds.
const REACHING: Duration = Duration::from_millis(300);

#[test]
fn a_file_that_is_published_while_another_waits_for_it_is_not_begun_anew() {
    for method in receive_methods() {
        let dirs = TestDirectories::new();
        let served = Served::by(&dirs, method);
        let contents = bytes(2 << 20, 1);
        let jobs = [dirs.file("file", &contents)];
        let (older, go_on) = served.hold(1 << 20);
        // If it begins the file anew, it is lost in the middle.
        let newer = between(served.address, [Mischief::Cut(1 << 20)]);
        let send = |to, plan| send_to(to, &jobs, plan, &send_options(SendMethod::File));
        std::thread::scope(|scope| {
            let older = scope.spawn(|| send(older, PLAN));
            dirs.wait_for_a_file();
            let newer = scope.spawn(|| send(newer, RESUME));
            std::thread::sleep(REACHING);
            go_on.store(true, Ordering::Release);
            older.join().unwrap().assert(1, 0);
            let _ = newer.join().unwrap();
        });
        served.wait_for_ends(2);
        let log = served.log();
        assert!(log.contains("a file of this name is there"), "{log}");
        assert_eq!(dirs.names(), ["file"], "{method}: {log}");
        assert!(dirs.received("file") == contents);
    }
}

#[test]
fn a_lost_connection_keeps_nothing_of_a_file_that_is_published() {
    let dirs = TestDirectories::new();
    let options = receive_options(&dirs.to(), ReceiveMethod::File);
    let received = Arc::clone(&options.progress);
    let served = Served::start(options);
    dirs.file("large", &bytes(2 << 20, 2));
    let large = [job("file", &dirs.from("large"))];
    let small = [dirs.file("file", b"small")];
    let cut = Arc::new(AtomicBool::new(false));
    let mischief = Mischief::HoldAndCut(1 << 20, Arc::clone(&cut));
    let address = between(served.address, [mischief]);
    let options = send_options(SendMethod::File);
    std::thread::scope(|scope| {
        let sending = scope.spawn(|| send_to(address, &large, RESUME, &options).error());
        // Contents arrive only once the connection has locked the file.
        wait_until("contents", || received.load(Ordering::Relaxed) > 0);
        served.send(&small, PLAN).assert(1, 0);
        // The other connection receives it, so it stays until that one ends.
        dirs.partial();
        cut.store(true, Ordering::Release);
        sending.join().unwrap();
    });
    served.wait_for_ends(2);
    assert_eq!(dirs.names(), ["file"], "{}", served.log());
    assert_eq!(dirs.received("file"), b"small");
    assert!(!served.log().contains("are kept"), "{}", served.log());
}

#[test]
fn a_lost_connection_keeps_the_beginning_of_a_replacement() {
    let dirs = TestDirectories::new();
    let served = Served::with(&dirs, |it| it.force = true);
    fs::write(dirs.to().join("file"), "old").unwrap();
    let contents = bytes(2 << 20, 3);
    let jobs = [dirs.file("file", &contents)];
    let address = between(served.address, [Mischief::Cut(1 << 20)]);
    send_to(address, &jobs, RESUME, &send_options(SendMethod::File)).error();
    served.wait_for("are kept");
    assert_eq!(dirs.received("file"), b"old");
    dirs.partial();
    served.send(&jobs, RESUME).assert(1, 0);
    assert_eq!(dirs.names(), ["file"]);
    assert!(dirs.received("file") == contents);
}
