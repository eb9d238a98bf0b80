//! Resumed files: large ones, ones with holes, divided ones.

use crate::common::proxy::{Mischief, between, between_each};
use crate::common::{
    PLAN, Place, RESUME, Served, TWO, bytes, item, job, open, receive_methods, send_options,
    send_to, set_mode,
};
use oscope_transfer::method::SendMethod;
use oscope_transfer::sender::{self, Contents, Item, Plan};
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
fn leave(place: &Place, len: u64, data: &[(u64, &[u8])]) {
    place.make_partials(0o700);
    make(&place.hidden("file"), len, data);
    set_mode(&place.hidden("file"), 0o600);
}

fn len(path: impl AsRef<Path>) -> u64 {
    fs::metadata(path).expect("it is there").len()
}

#[test]
fn a_hole_of_any_size_is_not_read_to_go_on() {
    let place = Place::new();
    let served = Served::of(&place);
    let source = place.from("file");
    let island = bytes(4096, 1);
    let (len, kept) = (1000 * GIB, 900 * GIB);
    let data = [(0, &island[..]), (400 * GIB, &island), (950 * GIB, &island)];
    make(&source, len, &data);
    leave(&place, kept, &data[..2]);
    let options = send_options(SendMethod::File);
    let before = bytes_read();
    let sent = served.send_by(&[job("file", &source)], RESUME, &options);
    let read = bytes_read() - before;
    sent.assert(1, 0);
    // Neither side reads its hole. The bound leaves room for the other tests of this process.
    assert!(read < len / 100, "{read}");
    assert_eq!(options.progress.load(Ordering::Relaxed), 4096);
    let arrived = open(place.to().join("file"));
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
        let place = Place::new();
        let served = Served::of(&place);
        let source = place.from("file");
        make(&source, 3 * MIB + 5000, source_data);
        leave(&place, 3 * MIB, kept_data);
        let options = send_options(SendMethod::SendFile);
        let jobs = [job("file", &source)];
        served.send_by(&jobs, RESUME, &options).assert(1, 0);
        assert_eq!(options.progress.load(Ordering::Relaxed), 5000);
        assert!(place.received("file") == fs::read(source).unwrap());
    }
}

#[test]
fn a_small_file_removes_its_earlier_beginning() {
    let place = Place::new();
    leave(&place, MIB, &[(0, &bytes(MIB as usize, 4))]);
    let served = Served::of(&place);
    let jobs = [place.file("file", b"small"), place.file("other", b"small")];
    served.send(&jobs, PLAN).assert(2, 0);
    assert_eq!(place.names(), ["file", "other"]);
    assert_eq!(place.received("file"), b"small");
}

#[test]
fn a_beginning_stays_where_the_file_is_not_replaced() {
    let place = Place::new();
    leave(&place, MIB, &[(0, &bytes(MIB as usize, 5))]);
    fs::write(place.to().join("file"), "old").unwrap();
    // Without `force`, the name is taken.
    let served = Served::of(&place);
    let jobs = [place.file("file", b"small")];
    for plan in [PLAN, RESUME] {
        served.send(&jobs, plan).assert(0, 1);
    }
    assert_eq!(place.received("file"), b"old");
    assert_eq!(len(place.partial()), MIB);
}

#[test]
fn a_large_file_is_resumed_over_one_of_several_connections() {
    let contents = bytes(24 << 20, 3);
    for has_some in [false, true, false, true] {
        let place = Place::new();
        let served = Served::of(&place);
        let jobs = [place.file("file", &contents), place.file("small", b"x")];
        if has_some {
            leave(&place, 7 * MIB, &[(0, &contents[..7 << 20])]);
        }
        let plan = Plan {
            streams: 3,
            ..RESUME
        };
        let options = send_options(SendMethod::File);
        served.send_by(&jobs, plan, &options).assert(2, 0);
        assert!(place.received("file") == contents);
        let left = if has_some { 17 * MIB } else { 24 * MIB };
        assert_eq!(options.progress.load(Ordering::Relaxed), left + 1);
    }
}

#[test]
fn parts_are_not_resumed() {
    let place = Place::new();
    let served = Served::of(&place);
    place.file("file", &bytes(2 << 20, 4));
    let mut session = served.session(&send_options(SendMethod::File));
    let item = Item {
        part: (2, 0),
        resume: true,
        ..item(0, "file", Some(2 << 20))
    };
    let file = open(place.from("file"));
    session.send(&item, Contents::File(&file)).unwrap();
    let (_, outcome) = session.outcome().unwrap().unwrap();
    assert!(outcome.failure.unwrap().contains("in parts"));
    session.finish().unwrap();
    assert_eq!(place.names(), [""; 0]);
}

#[test]
fn a_file_that_failed_can_be_sent_again_over_the_same_connection() {
    let contents = bytes(3 << 20, 5);
    let place = Place::new();
    let served = Served::of(&place);
    place.file("file", &contents);
    let there = place.to().join("file");
    fs::write(&there, "before").unwrap();
    let mut session = served.session(&send_options(SendMethod::File));
    let file = open(place.from("file"));
    let mut send = || {
        let item = item(0, "file", Some(3 << 20));
        session.send(&item, Contents::File(&file)).unwrap();
        session.outcome().unwrap().unwrap().1.failure
    };
    assert!(send().unwrap().contains("--force"));
    fs::remove_file(&there).unwrap();
    assert_eq!(send(), None);
    session.finish().unwrap();
    assert!(place.received("file") == contents);
}

#[test]
fn files_that_are_there_already_count_as_sent() {
    let large = bytes(3 << 20, 6);
    for force in [false, true] {
        let place = Place::new();
        let served = Served::with(&place, |it| it.force = force);
        let jobs = [
            place.file("empty", b""),
            place.file("file", &large),
            place.file("small", b"small"),
        ];
        served.send(&jobs[..2], PLAN).assert(2, 0);
        let inode = || fs::metadata(place.to().join("file")).unwrap().ino();
        let before = inode();
        let options = send_options(SendMethod::File);
        served.send_by(&jobs, RESUME, &options).assert(3, 0);
        assert_eq!(options.progress.load(Ordering::Relaxed), 5);
        assert_eq!(inode(), before, "it was not written again");
        assert_eq!(place.names(), ["empty", "file", "small"]);
    }
}

#[test]
fn a_file_that_differs_is_replaced_only_by_force() {
    let contents = bytes(3 << 20, 7);
    let mut differing = contents.clone();
    differing[2 << 20] ^= 1;
    for there in [&differing[..], &contents[..2 << 20], b""] {
        for force in [false, true] {
            let place = Place::new();
            let served = Served::with(&place, |it| it.force = force);
            fs::write(place.to().join("file"), there).unwrap();
            let jobs = [place.file("file", &contents), place.file("next", b"x")];
            let sent = served.send(&jobs, RESUME);
            sent.assert(1 + u64::from(force), u64::from(!force));
            if !force {
                sent.assert_failure(0, "--force");
            }
            let expected = if force { &contents[..] } else { there };
            assert!(place.received("file") == expected);
            assert_eq!(place.names(), ["file", "next"]);
        }
    }
}

#[test]
fn the_beginning_of_a_replacement_is_preferred_to_the_file_itself() {
    let contents = bytes(3 << 20, 8);
    let place = Place::new();
    leave(&place, 2 * MIB, &[(0, &contents[..2 << 20])]);
    fs::write(place.to().join("file"), vec![0; 3 << 20]).unwrap();
    let served = Served::with(&place, |it| it.force = true);
    let options = send_options(SendMethod::File);
    let jobs = [place.file("file", &contents)];
    served.send_by(&jobs, RESUME, &options).assert(1, 0);
    assert_eq!(options.progress.load(Ordering::Relaxed), MIB);
    assert!(place.received("file") == contents);
}

#[test]
fn the_beginning_of_a_divided_file_is_kept() {
    let contents = bytes(8 << 20, 9);
    for method in receive_methods() {
        for streams in [1, 2] {
            let place = Place::new();
            let served = Served::by(&place, method);
            let jobs = [place.file("file", &contents)];
            let is_first_lost = Arc::default();
            let second = Mischief::HoldAndCut(2_000_000, Arc::clone(&is_first_lost));
            let ways = [Mischief::Cut(3_000_000), second].map(Some);
            let address = between_each(served.address, ways.to_vec());
            thread::scope(|scope| {
                scope.spawn(|| {
                    served.wait_for("given up");
                    is_first_lost.store(true, Ordering::Release);
                });
                send_to(address, &jobs, TWO, &send_options(SendMethod::File)).error();
            });
            served.wait_for_ends(2);
            let kept = len(place.partial());
            assert!((1_000_000..3_000_000).contains(&kept), "{method}: {kept}");
            let options = send_options(SendMethod::File);
            let plan = Plan { streams, ..RESUME };
            served.send_by(&jobs, plan, &options).assert(1, 0);
            // Whole ranges of 1 MiB are kept.
            assert!(options.progress.load(Ordering::Relaxed) <= 7 * MIB);
            assert!(place.received("file") == contents, "{method}");
            assert_eq!(place.names(), ["file"]);
        }
    }
}

#[test]
fn a_sender_that_is_stopped_names_the_files_that_arrived_and_resume_sends_the_rest() {
    let place = Place::new();
    let served = Served::of(&place);
    let jobs: Vec<_> = (0..200)
        .map(|at| place.file(&format!("file{at}"), &bytes(40_000, at)))
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
        place.received(std::str::from_utf8(name).unwrap());
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
        let place = Place::new();
        let served = Served::of(&place);
        let options = sender::Options {
            cover,
            ..send_options(SendMethod::File)
        };
        let address = between(served.address, Mischief::Cut(at));
        let sent = send_to(address, &[place.file("file", &contents)], PLAN, &options);
        let [outcome] = &sent.outcomes[..] else {
            panic!("{:?}", sent.outcomes)
        };
        assert!(sent.summary.is_err() && outcome.failure.is_some());
        assert_eq!(outcome.is_kept, is_kept, "{cover:?} {at}");
    }
}
