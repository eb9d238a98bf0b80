//! Resumed files: large ones, ones with holes, divided ones.

use crate::common::proxy::{Mischief, between};
use crate::common::{
    PLAN, RESUME, Served, TWO, TestDirectories, bytes, deliver, item, job, open, receive_methods,
    send_options, send_to, set_mode,
};
use oscope_transfer::method::SendMethod;
use oscope_transfer::protocol::Part;
use oscope_transfer::sender::{self, Contents, Plan};
use oscope_transfer::{Cover, Error, Outcome};
use std::fs::{self, File};
use std::os::unix::fs::{FileExt, MetadataExt};
use std::path::Path;
use std::sync::atomic::Ordering;
use std::sync::{Arc, Mutex};
use std::thread;
use testing::bytes_read;

const MIB: u64 = 1 << 20;
const GIB: u64 = 1 << 30;

/// Makes a file with these bytes at these offsets.
fn make(path: &Path, len: u64, data: &[(u64, &[u8])]) {
    let file = File::create(path).expect("there is room");
    file.set_len(len).expect("the file system has such files");
    for (offset, bytes) in data {
        file.write_all_at(bytes, *offset).expect("there is room");
    }
}

/// Makes the remains of an earlier attempt to send "file".
fn leave(dirs: &TestDirectories, len: u64, data: &[(u64, &[u8])]) {
    dirs.make_partials(0o700);
    make(&dirs.hidden("file"), len, data);
    set_mode(&dirs.hidden("file"), 0o600);
}

fn len(path: impl AsRef<Path>) -> u64 {
    fs::metadata(path).expect("it is there").len()
}

#[test]
fn a_hole_of_any_size_is_not_read_to_go_on() {
    let dirs = TestDirectories::new();
    let served = Served::of(&dirs);
    let source = dirs.from("file");
    let island = bytes(4096, 1);
    let (len, kept) = (1000 * GIB, 900 * GIB);
    let data = [(0, &island[..]), (400 * GIB, &island), (950 * GIB, &island)];
    make(&source, len, &data);
    leave(&dirs, kept, &data[..2]);
    let options = send_options(SendMethod::File);
    let before = bytes_read();
    let sent = served.send_by(&[job("file", &source)], RESUME, &options);
    let read = bytes_read() - before;
    sent.assert(1, 0);
    // Neither side reads its hole. The bound leaves room for the other tests of this process.
    assert!(read < len / 100, "{read}");
    assert_eq!(options.progress.load(Ordering::Relaxed), 4096);
    let arrived = open(dirs.to().join("file"));
    assert_eq!(arrived.metadata().unwrap().len(), len);
    for (offset, island) in data {
        let mut there = [0; 4096];
        arrived.read_exact_at(&mut there, offset).unwrap();
        assert_eq!(there, island);
    }
}

#[test]
fn zeros_and_holes_are_the_same_to_a_resumed_transfer() {
    let one = bytes(MIB as usize, 2);
    let zeros = vec![0; MIB as usize];
    let holes = [(0, &one[..]), (2 * MIB, &one)];
    let dense = [(0, &one[..]), (MIB, &zeros), (2 * MIB, &one)];
    for (source_data, kept_data) in [(&holes[..], &dense[..]), (&dense, &holes)] {
        let dirs = TestDirectories::new();
        let served = Served::of(&dirs);
        let source = dirs.from("file");
        make(&source, 3 * MIB + 5000, source_data);
        leave(&dirs, 3 * MIB, kept_data);
        let options = send_options(SendMethod::SendFile);
        let jobs = [job("file", &source)];
        served.send_by(&jobs, RESUME, &options).assert(1, 0);
        assert_eq!(options.progress.load(Ordering::Relaxed), 5000);
        assert!(dirs.received("file") == fs::read(source).unwrap());
    }
}

#[test]
fn a_small_file_removes_its_earlier_beginning() {
    let dirs = TestDirectories::new();
    leave(&dirs, MIB, &[(0, &bytes(MIB as usize, 4))]);
    let served = Served::of(&dirs);
    let jobs = [dirs.file("file", b"small"), dirs.file("other", b"small")];
    served.send(&jobs, PLAN).assert(2, 0);
    assert_eq!(dirs.names(), ["file", "other"]);
    assert_eq!(dirs.received("file"), b"small");
}

#[test]
fn a_beginning_stays_where_the_file_is_not_replaced() {
    let dirs = TestDirectories::new();
    leave(&dirs, MIB, &[(0, &bytes(MIB as usize, 5))]);
    fs::write(dirs.to().join("file"), "old").unwrap();
    // Without `force`, the name is taken.
    let served = Served::of(&dirs);
    let jobs = [dirs.file("file", b"small")];
    for plan in [PLAN, RESUME] {
        served.send(&jobs, plan).assert(0, 1);
    }
    assert_eq!(dirs.received("file"), b"old");
    assert_eq!(len(dirs.partial()), MIB);
}

#[test]
fn a_large_file_is_resumed_over_one_of_several_connections() {
    let contents = bytes(24 << 20, 3);
    for has_some in [false, true, false, true] {
        let dirs = TestDirectories::new();
        let served = Served::of(&dirs);
        let jobs = [dirs.file("file", &contents), dirs.file("small", b"x")];
        if has_some {
            leave(&dirs, 7 * MIB, &[(0, &contents[..7 << 20])]);
        }
        let plan = Plan {
            streams: 3,
            ..RESUME
        };
        let options = send_options(SendMethod::File);
        served.send_by(&jobs, plan, &options).assert(2, 0);
        assert!(dirs.received("file") == contents);
        let left = if has_some { 17 * MIB } else { 24 * MIB };
        assert_eq!(options.progress.load(Ordering::Relaxed), left + 1);
    }
}

#[test]
fn parts_are_not_resumed() {
    let dirs = TestDirectories::new();
    let served = Served::of(&dirs);
    dirs.file("file", &bytes(2 << 20, 4));
    let mut session = served.session(&send_options(SendMethod::File));
    let item = Part {
        parts: 2,
        resume: true,
        ..item(0, "file", Some(2 << 20))
    };
    let file = open(dirs.from("file"));
    let outcome = deliver(&mut session, &item, Contents::File(&file));
    assert!(outcome.failure.unwrap().contains("in parts"));
    session.finish().unwrap();
    assert_eq!(dirs.names(), [""; 0]);
}

#[test]
fn a_file_that_failed_can_be_sent_again_over_the_same_connection() {
    let contents = bytes(3 << 20, 5);
    let dirs = TestDirectories::new();
    let served = Served::of(&dirs);
    dirs.file("file", &contents);
    let there = dirs.to().join("file");
    fs::write(&there, "before").unwrap();
    let mut session = served.session(&send_options(SendMethod::File));
    let file = open(dirs.from("file"));
    let mut send = || {
        let item = item(0, "file", Some(3 << 20));
        deliver(&mut session, &item, Contents::File(&file)).failure
    };
    assert!(send().unwrap().contains("--force"));
    fs::remove_file(&there).unwrap();
    assert_eq!(send(), None);
    session.finish().unwrap();
    assert!(dirs.received("file") == contents);
}

#[test]
fn files_that_are_there_already_count_as_sent() {
    let large = bytes(3 << 20, 6);
    for force in [false, true] {
        let dirs = TestDirectories::new();
        let served = Served::with(&dirs, |it| it.force = force);
        let jobs = [
            dirs.file("empty", b""),
            dirs.file("file", &large),
            dirs.file("small", b"small"),
        ];
        served.send(&jobs[..2], PLAN).assert(2, 0);
        let inode = || fs::metadata(dirs.to().join("file")).unwrap().ino();
        let before = inode();
        let options = send_options(SendMethod::File);
        served.send_by(&jobs, RESUME, &options).assert(3, 0);
        assert_eq!(options.progress.load(Ordering::Relaxed), 5);
        assert_eq!(inode(), before, "it was not written again");
        assert_eq!(dirs.names(), ["empty", "file", "small"]);
    }
}

#[test]
fn a_file_that_differs_is_replaced_only_by_force() {
    let contents = bytes(3 << 20, 7);
    let mut differing = contents.clone();
    differing[2 << 20] ^= 1;
    for there in [&differing[..], &contents[..2 << 20], b""] {
        for force in [false, true] {
            let dirs = TestDirectories::new();
            let served = Served::with(&dirs, |it| it.force = force);
            fs::write(dirs.to().join("file"), there).unwrap();
            let jobs = [dirs.file("file", &contents), dirs.file("next", b"x")];
            let sent = served.send(&jobs, RESUME);
            sent.assert(1 + u64::from(force), u64::from(!force));
            if !force {
                sent.assert_failure(0, "--force");
            }
            let expected = if force { &contents[..] } else { there };
            assert!(dirs.received("file") == expected);
            assert_eq!(dirs.names(), ["file", "next"]);
        }
    }
}

#[test]
fn the_beginning_of_a_replacement_is_preferred_to_the_file_itself() {
    let contents = bytes(3 << 20, 8);
    let dirs = TestDirectories::new();
    leave(&dirs, 2 * MIB, &[(0, &contents[..2 << 20])]);
    fs::write(dirs.to().join("file"), vec![0; 3 << 20]).unwrap();
    let served = Served::with(&dirs, |it| it.force = true);
    let options = send_options(SendMethod::File);
    let jobs = [dirs.file("file", &contents)];
    served.send_by(&jobs, RESUME, &options).assert(1, 0);
    assert_eq!(options.progress.load(Ordering::Relaxed), MIB);
    assert!(dirs.received("file") == contents);
}

#[test]
fn the_beginning_of_a_divided_file_is_kept() {
    let contents = bytes(8 << 20, 9);
    for method in receive_methods() {
        for streams in [1, 2] {
            let dirs = TestDirectories::new();
            let served = Served::by(&dirs, method);
            let jobs = [dirs.file("file", &contents)];
            let is_first_lost = Arc::default();
            let second = Mischief::HoldAndCut(2_000_000, Arc::clone(&is_first_lost));
            let address = between(served.address, [Mischief::Cut(3_000_000), second]);
            thread::scope(|scope| {
                scope.spawn(|| {
                    served.wait_for("given up");
                    is_first_lost.store(true, Ordering::Release);
                });
                send_to(address, &jobs, TWO, &send_options(SendMethod::File)).error();
            });
            served.wait_for_ends(2);
            let kept = len(dirs.partial());
            assert!((1_000_000..3_000_000).contains(&kept), "{method}: {kept}");
            let options = send_options(SendMethod::File);
            let plan = Plan { streams, ..RESUME };
            served.send_by(&jobs, plan, &options).assert(1, 0);
            // Whole ranges of 1 MiB are kept.
            assert!(options.progress.load(Ordering::Relaxed) <= 7 * MIB);
            assert!(dirs.received("file") == contents, "{method}");
            assert_eq!(dirs.names(), ["file"]);
        }
    }
}

#[test]
fn a_sender_that_is_stopped_names_the_files_that_arrived_and_resume_sends_the_rest() {
    let dirs = TestDirectories::new();
    let served = Served::of(&dirs);
    let jobs: Vec<_> = (0..200)
        .map(|at| dirs.file(&format!("file{at}"), &bytes(40_000, at)))
        .collect();
    let options = send_options(SendMethod::File);
    let outcomes = Mutex::new(Vec::new());
    let observe = |outcome: &Outcome| {
        options.limits.stop.store(true, Ordering::Release);
        outcomes.lock().unwrap().push(outcome.clone());
    };
    let address = served.address.to_string();
    let error = sender::send(&address, &jobs, PLAN, &options, &observe).unwrap_err();
    assert!(matches!(error, Error::Interrupted), "{error}");
    served.wait_for_ends(1);
    let outcomes = outcomes.into_inner().unwrap();
    let arrived = outcomes.iter().filter(|outcome| outcome.failure.is_none());
    let names: Vec<_> = arrived.map(|outcome| &outcome.name).collect();
    assert!((1..200).contains(&names.len()), "{}", names.len());
    for name in names {
        dirs.received(std::str::from_utf8(name).unwrap());
    }
    served.send(&jobs, RESUME).assert(200, 0);
}

#[test]
fn a_sender_whose_connection_is_lost_knows_what_is_kept() {
    let contents = bytes(8 << 20, 10);
    for (cover, at, is_kept) in [
        (Cover::Summed, 5_000_000, true),
        (Cover::Summed, 100_000, false),
        (Cover::Bare, 5_000_000, false),
    ] {
        let dirs = TestDirectories::new();
        let served = Served::of(&dirs);
        let options = sender::Options {
            cover,
            ..send_options(SendMethod::File)
        };
        let address = between(served.address, [Mischief::Cut(at)]);
        let sent = send_to(address, &[dirs.file("file", &contents)], PLAN, &options);
        let [outcome] = &sent.outcomes[..] else {
            panic!("{:?}", sent.outcomes)
        };
        assert!(sent.summary.is_err() && outcome.failure.is_some());
        assert_eq!(outcome.is_kept, is_kept, "{cover:?} {at}");
    }
}
