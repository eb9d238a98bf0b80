//! Sources that change while they are sent.

use crate::common::proxy::{Mischief, Ways, between};
use crate::common::{
    PLAN, Served, TWO, TestDirectories, bytes, job, send_methods, send_options, send_to,
};
use oscope_transfer::method::SendMethod;
use oscope_transfer::sender::Plan;
use std::fs::{self, File};
use std::os::unix::fs::FileExt;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;
use testing::{joined, wait_until};

/// A file system may not distinguish two changes in quick succession.
const CLOCK_TICK: Duration = Duration::from_millis(20);

/// Sends a file over this number of connections and changes it when they are in the middle of it:
/// as far as buffers reach behind a proxy that holds all bytes. Checks what both sides report.
fn assert_change_is_reported(method: SendMethod, streams: u16, what: &str, change: fn(&File)) {
    let dirs = TestDirectories::new();
    let served = Served::of(&dirs);
    let path = dirs.from("file");
    // More than the buffers of a connection hold while its peer does not read.
    let file = File::create(&path).expect("there is room");
    for part in 0..u64::from(streams) {
        let contents = bytes(16 << 20, 6 + part);
        file.write_all_at(&contents, part * (16 << 20))
            .expect("there is room");
    }
    std::thread::sleep(CLOCK_TICK);
    let jobs = [job("file", &path)];
    let go_on = Arc::new(AtomicBool::new(false));
    let hold = Mischief::Hold(1 << 20, Arc::clone(&go_on));
    let address = between(served.address, vec![hold; usize::from(streams)]);
    let options = send_options(method);
    let progress = Arc::clone(&options.progress);
    let changer = std::thread::spawn(move || {
        wait_until("contents", || progress.load(Ordering::Relaxed) > 0);
        change(&file);
        go_on.store(true, Ordering::Release);
    });
    let sent = send_to(address, &jobs, Plan { streams, ..PLAN }, &options);
    joined("the change", changer);
    sent.assert(0, 1);
    sent.assert_failure(0, what);
    served.wait_for(what);
    served.wait_for_ends(streams.into());
    assert_eq!(dirs.names(), [""; 0], "{method}, {streams}");
}

#[test]
fn a_source_that_is_cut_short_rewritten_or_appended_to_is_an_error_on_both_sides() {
    let cut = |file: &File| file.set_len(1000).unwrap();
    let rewrite = |file: &File| file.write_all_at(b"something else", 15 << 20).unwrap();
    let append = |file: &File| {
        let len = file.metadata().unwrap().len();
        file.write_all_at(b"more", len).unwrap();
    };
    let changed = "it changed while it was sent";
    for method in send_methods() {
        for streams in [1, 2] {
            assert_change_is_reported(method, streams, "the sender gave it up", cut);
            assert_change_is_reported(method, streams, changed, rewrite);
            assert_change_is_reported(method, streams, changed, append);
        }
    }
}

/// Sends two files over two connections, of which the second lags behind, and changes the second
/// file when one connection has sent its part and the other has not started.
fn between_its_parts(change: fn(&Path)) {
    let dirs = TestDirectories::new();
    let served = Served::of(&dirs);
    let large = bytes(90 << 20, 1);
    let jobs = [
        dirs.file("large", &large),
        dirs.file("file", &bytes(2 << 20, 2)),
    ];
    std::thread::sleep(CLOCK_TICK);
    let go_on = Arc::new(AtomicBool::new(false));
    let hold = Mischief::Hold(1 << 20, Arc::clone(&go_on));
    let address = between(served.address, [Ways::default(), hold.into()]);
    let (path, hidden) = (dirs.from("file"), dirs.hidden("file"));
    let changer = std::thread::spawn(move || {
        // The first connection ends with its part of the second file. The second one still holds its
        // part of the first.
        wait_until("the first part of the second file", || {
            fs::metadata(&hidden).is_ok_and(|found| found.len() >= 1 << 20)
        });
        change(&path);
        go_on.store(true, Ordering::Release);
    });
    let sent = send_to(address, &jobs, TWO, &send_options(SendMethod::File));
    joined("the change", changer);
    sent.assert(1, 1);
    sent.assert_failure(0, "it changed while it was sent");
    served.wait_for_ends(2);
    assert_eq!(dirs.names(), ["large"]);
    assert!(dirs.received("large") == large);
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
