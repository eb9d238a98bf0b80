//! A lost connection: nothing incomplete stays under its name, and kept bytes are resumed.

use crate::common::proxy::{Mischief, between};
use crate::common::{
    PLAN, RESUME, Served, TestDirectories, bytes, item, job, receive_methods, send_options,
    send_to, session,
};
use oscope_transfer::Error;
use oscope_transfer::method::{ReceiveMethod, SendMethod};
use oscope_transfer::sender::Contents;
use std::fs::{self, File};
use std::io::{Seek, Write};
use std::os::fd::AsRawFd;
use std::path::Path;
use std::sync::atomic::Ordering;
use std::time::Duration;

#[test]
fn nothing_is_kept_of_a_stream_which_nobody_can_resume() {
    for method in receive_methods() {
        let dirs = TestDirectories::new();
        let served = Served::by(&dirs, method);
        let mut stream = tempfile::tempfile().unwrap();
        stream.write_all(&bytes(3_000_000, 9)).unwrap();
        stream.rewind().unwrap();
        let address = between(served.address, [Mischief::Cut(2_000_000)]);
        let mut session = session(address, &send_options(SendMethod::File));
        let sent = session.send(&item(0, "stream", None), Contents::Stream(&stream));
        sent.and_then(|()| session.outcome()).unwrap_err();
        served.wait_for_ends(1);
        assert_eq!(dirs.names(), [""; 0], "{method}");
    }
}

#[test]
fn kept_bytes_are_checked_before_they_are_trusted() {
    let dirs = TestDirectories::new();
    let served = Served::of(&dirs);
    let contents = bytes(3_000_000, 2);
    let jobs = [dirs.file("file", &contents)];
    for is_changed in [false, true] {
        let address = between(served.address, [Mischief::Cut(2_000_000)]);
        send_to(address, &jobs, PLAN, &send_options(SendMethod::File)).error();
        served.wait_for("are kept for --resume");
        served.log.lock().unwrap().clear();
        let partial = dirs.partial();
        let kept = fs::metadata(&partial).unwrap().len();
        assert!(kept > 1_000_000, "{kept}");
        if is_changed {
            let file = File::options().write(true).open(&partial).unwrap();
            platform::block_io::write_at(&file, b"not what was sent", 1000).unwrap();
        }
        let options = send_options(SendMethod::SendFile);
        served.send_by(&jobs, RESUME, &options).assert(1, 0);
        let left = if is_changed {
            3_000_000
        } else {
            3_000_000 - kept
        };
        assert_eq!(options.progress.load(Ordering::Relaxed), left);
        assert!(dirs.received("file") == contents);
        fs::remove_file(dirs.to().join("file")).unwrap();
    }
}

#[test]
fn a_sender_that_resumes_at_once_waits_until_the_receiver_has_seen_the_end() {
    let dirs = TestDirectories::new();
    let served = Served::of(&dirs);
    let contents = bytes(64 << 20, 10);
    let jobs = [dirs.file("file", &contents)];
    let (address, go_on) = served.hold(1 << 20);
    let sender = send_options(SendMethod::File);
    std::thread::scope(|scope| {
        let sending = scope.spawn(|| send_to(address, &jobs, PLAN, &sender).error());
        dirs.wait_for_a_file();
        sender.limits.stop.store(true, Ordering::Release);
        assert!(matches!(sending.join().unwrap(), Error::Interrupted));
        let again = scope.spawn(|| served.send(&jobs, RESUME));
        std::thread::sleep(Duration::from_millis(300));
        go_on.store(true, Ordering::Release);
        again.join().unwrap().assert(1, 0);
    });
    assert!(dirs.received("file") == contents);
}

#[test]
fn both_sides_end_when_asked_to_stop() {
    let dirs = TestDirectories::new();
    let served = Served::by(&dirs, ReceiveMethod::Mmap);
    let jobs = [dirs.file("file", &bytes(2 << 20, 8))];
    let sender = send_options(SendMethod::File);
    let (address, _held) = served.hold(1 << 20);
    std::thread::scope(|scope| {
        let sending = scope.spawn(|| send_to(address, &jobs, PLAN, &sender).error());
        dirs.wait_for_a_file();
        sender.limits.stop.store(true, Ordering::Release);
        assert!(matches!(sending.join().unwrap(), Error::Interrupted));
    });
    // Then the other side: dropping it sets its flag and waits for its end.
    let jobs = [dirs.file("other", &bytes(2 << 20, 9))];
    let (address, _held) = served.hold(1 << 20);
    let sender = send_options(SendMethod::File);
    std::thread::scope(|scope| {
        let sending = scope.spawn(|| send_to(address, &jobs, PLAN, &sender));
        std::thread::sleep(Duration::from_millis(300));
        drop(served);
        sender.limits.stop.store(true, Ordering::Release);
        sending.join().unwrap().error();
    });
    for name in ["file", "other"] {
        assert!(!dirs.to().join(name).exists());
    }
}

#[test]
fn a_sender_ends_when_asked_to_stop_while_a_pipe_is_silent_or_has_no_writer() {
    let dirs = TestDirectories::new();
    let (silent, _writer) = std::io::pipe().unwrap();
    let silent = format!("/proc/self/fd/{}", silent.as_raw_fd());
    for source in [Path::new(&silent), &dirs.named_pipe("pipe")] {
        let served = Served::of(&dirs);
        let jobs = [job("file", source)];
        let sender = send_options(SendMethod::File);
        std::thread::scope(|scope| {
            let sending = scope.spawn(|| served.send_by(&jobs, PLAN, &sender).error());
            std::thread::sleep(Duration::from_millis(100));
            sender.limits.stop.store(true, Ordering::Release);
            let error = sending.join().expect("it does not panic");
            assert!(matches!(error, Error::Interrupted), "{error}");
        });
        assert!(!dirs.to().join("file").exists());
    }
}
