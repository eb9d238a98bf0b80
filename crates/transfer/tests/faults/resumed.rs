//! Resumed files: large ones, ones with holes, divided ones.

use crate::common::proxy::{Mischief, between_each};
use crate::common::{
    PLAN, Place, Served, bytes, job, receive_methods, receive_options, send, send_options, send_to,
};
use oscope_transfer::method::{ReceiveMethod, SendMethod};
use oscope_transfer::protocol::FileName;
use oscope_transfer::receiver;
use oscope_transfer::sender::{self, Contents, Item, Plan, Session};
use oscope_transfer::{Cover, Error, Outcome};
use std::fs::{self, File};
use std::os::unix::fs::{FileExt, MetadataExt, PermissionsExt};
use std::path::Path;
use std::sync::atomic::Ordering;
use std::sync::{Arc, Mutex};
use std::thread;
use testing::bytes_read;

const RESUME: Plan = Plan {
    resume: true,
    ..PLAN
};
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
    let partials = place.to().join(".oscope-partial");
    fs::create_dir(&partials).expect("it is not there yet");
    fs::set_permissions(&partials, PermissionsExt::from_mode(0o700)).expect("it is there");
    let hidden = format!("{:032x}", twox_hash::XxHash3_128::oneshot(b"file"));
    let hidden = partials.join(hidden);
    make(&hidden, len, data);
    fs::set_permissions(&hidden, PermissionsExt::from_mode(0o600)).expect("it is there");
}

#[test]
fn a_hole_of_any_size_is_not_read_to_go_on() {
    let place = Place::new();
    let served = Served::start(receive_options(&place.to(), ReceiveMethod::File));
    let source = place.root.path().join("from/file");
    let island = bytes(4096, 1);
    let (len, kept) = (1000 * GIB, 900 * GIB);
    let data = [(0, &island[..]), (400 * GIB, &island), (950 * GIB, &island)];
    make(&source, len, &data);
    leave(&place, kept, &data[..2]);
    let options = send_options(SendMethod::File);
    let before = bytes_read();
    let (summary, outcomes) = send(&served, &[job("file", &source)], RESUME, &options);
    let read = bytes_read() - before;
    let summary = summary.unwrap();
    assert_eq!(summary.files, 1, "{outcomes:?}");
    // Neither side reads its hole. The bound leaves room for the other tests of this process.
    assert!(read < len / 100, "{read}");
    assert_eq!(options.progress.load(Ordering::Relaxed), 4096);
    let arrived = File::open(place.to().join("file")).unwrap();
    assert_eq!(arrived.metadata().unwrap().len(), len);
    for (offset, island) in data {
        let mut there = [0; 4096];
        arrived.read_exact_at(&mut there, offset).unwrap();
        assert_eq!(there, island);
    }
}

#[test]
fn zeros_and_holes_are_the_same_to_who_goes_on() {
    let one = bytes(MIB as usize, 2);
    let zeros = vec![0; MIB as usize];
    let (holes, dense) = (
        [(0, &one[..]), (2 * MIB, &one)],
        [(0, &one[..]), (MIB, &zeros), (2 * MIB, &one)],
    );
    for (source_data, kept_data) in [(&holes[..], &dense[..]), (&dense, &holes)] {
        let place = Place::new();
        let served = Served::start(receive_options(&place.to(), ReceiveMethod::File));
        let source = place.root.path().join("from/file");
        make(&source, 3 * MIB + 5000, source_data);
        leave(&place, 3 * MIB, kept_data);
        let options = send_options(SendMethod::SendFile);
        let (summary, _) = send(&served, &[job("file", &source)], RESUME, &options);
        assert_eq!(summary.unwrap().files, 1);
        assert_eq!(options.progress.load(Ordering::Relaxed), 5000);
        assert!(place.received("file") == fs::read(source).unwrap());
    }
}

#[test]
fn a_small_file_leaves_no_earlier_beginning_beside_it() {
    let place = Place::new();
    leave(&place, MIB, &[(0, &bytes(MIB as usize, 4))]);
    let served = Served::start(receive_options(&place.to(), ReceiveMethod::File));
    let jobs = [place.file("file", b"small"), place.file("other", b"small")];
    let (summary, outcomes) = send(&served, &jobs, PLAN, &send_options(SendMethod::File));
    assert_eq!(summary.unwrap().files, 2, "{outcomes:?}");
    assert_eq!(place.names(), ["file", "other"]);
    assert_eq!(place.received("file"), b"small");
}

#[test]
fn a_beginning_stays_beside_the_file_that_it_is_to_replace() {
    let place = Place::new();
    leave(&place, MIB, &[(0, &bytes(MIB as usize, 5))]);
    fs::write(place.to().join("file"), "old").unwrap();
    // Without `force`, the name is taken.
    let served = Served::start(receive_options(&place.to(), ReceiveMethod::File));
    let jobs = [place.file("file", b"small")];
    for plan in [PLAN, RESUME] {
        let (summary, outcomes) = send(&served, &jobs, plan, &send_options(SendMethod::File));
        assert_eq!(summary.unwrap().failed, 1, "{outcomes:?}");
    }
    assert_eq!(place.received("file"), b"old");
    assert_eq!(fs::metadata(place.partial()).unwrap().len(), MIB);
}

#[test]
fn a_large_file_is_gone_on_with_over_one_of_several_connections() {
    let contents = bytes(24 << 20, 3);
    for has_some in [false, true, false, true] {
        let place = Place::new();
        let served = Served::start(receive_options(&place.to(), ReceiveMethod::File));
        let jobs = [place.file("file", &contents), place.file("small", b"x")];
        if has_some {
            leave(&place, 7 * MIB, &[(0, &contents[..7 << 20])]);
        }
        let plan = Plan {
            streams: 3,
            ..RESUME
        };
        let options = send_options(SendMethod::File);
        let (summary, outcomes) = send(&served, &jobs, plan, &options);
        assert_eq!(summary.unwrap().files, 2, "{outcomes:?}");
        assert!(place.received("file") == contents);
        let left = if has_some { 17 * MIB } else { 24 * MIB };
        assert_eq!(options.progress.load(Ordering::Relaxed), left + 1);
    }
}

#[test]
fn parts_that_are_to_be_gone_on_with_are_refused() {
    let place = Place::new();
    let served = Served::start(receive_options(&place.to(), ReceiveMethod::File));
    let jobs = [place.file("file", &bytes(2 << 20, 4))];
    let options = send_options(SendMethod::File);
    let address = served.address.to_string();
    let mut session = Session::connect(&address, &options, [1; 16], (0, 1)).unwrap();
    let item = Item {
        id: 0,
        name: FileName::new(&jobs[0].name).unwrap(),
        size: Some(2 << 20),
        part: (2, 0),
        resume: true,
        mode: None,
        modified: None,
    };
    let file = File::open(place.root.path().join("from/file")).unwrap();
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
    let served = Served::start(receive_options(&place.to(), ReceiveMethod::File));
    let jobs = [place.file("file", &contents)];
    let there = place.to().join("file");
    fs::write(&there, "before").unwrap();
    let options = send_options(SendMethod::File);
    let address = served.address.to_string();
    let mut session = Session::connect(&address, &options, [1; 16], (0, 1)).unwrap();
    let item = Item {
        id: 0,
        name: FileName::new(&jobs[0].name).unwrap(),
        size: Some(3 << 20),
        part: (1, 0),
        resume: false,
        mode: None,
        modified: None,
    };
    let file = File::open(place.root.path().join("from/file")).unwrap();
    let mut send = || {
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
        let served = Served::start(receiver::Options {
            force,
            ..receive_options(&place.to(), ReceiveMethod::File)
        });
        let jobs = [
            place.file("empty", b""),
            place.file("file", &large),
            place.file("small", b"small"),
        ];
        let options = send_options(SendMethod::File);
        let (summary, _) = send(&served, &jobs[..2], PLAN, &options);
        assert_eq!(summary.unwrap().files, 2);
        let before = fs::metadata(place.to().join("file")).unwrap();
        let options = send_options(SendMethod::File);
        let (summary, outcomes) = send(&served, &jobs, RESUME, &options);
        assert_eq!(summary.unwrap().files, 3, "{outcomes:?}");
        assert_eq!(options.progress.load(Ordering::Relaxed), 5);
        let after = fs::metadata(place.to().join("file")).unwrap();
        assert_eq!(after.ino(), before.ino(), "it was not written again");
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
            let served = Served::start(receiver::Options {
                force,
                ..receive_options(&place.to(), ReceiveMethod::File)
            });
            fs::write(place.to().join("file"), there).unwrap();
            let jobs = [place.file("file", &contents), place.file("next", b"x")];
            let (summary, outcomes) = send(&served, &jobs, RESUME, &send_options(SendMethod::File));
            assert_eq!(summary.unwrap().files, 1 + u64::from(force), "{outcomes:?}");
            let failure = outcomes[0].failure.clone().unwrap_or_default();
            assert_eq!(failure.contains("--force"), !force, "{failure}");
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
    let served = Served::start(receiver::Options {
        force: true,
        ..receive_options(&place.to(), ReceiveMethod::File)
    });
    let options = send_options(SendMethod::File);
    let (summary, _) = send(&served, &[place.file("file", &contents)], RESUME, &options);
    assert_eq!(summary.unwrap().files, 1);
    assert_eq!(options.progress.load(Ordering::Relaxed), MIB);
    assert!(place.received("file") == contents);
}

#[test]
fn the_beginning_of_a_divided_file_is_kept() {
    let contents = bytes(8 << 20, 9);
    for method in receive_methods() {
        for streams in [1, 2] {
            let place = Place::new();
            let served = Served::start(receive_options(&place.to(), method));
            let jobs = [place.file("file", &contents)];
            let options = send_options(SendMethod::File);
            let is_first_lost = Arc::default();
            let second = Mischief::HoldAndCut(2_000_000, Arc::clone(&is_first_lost));
            let ways = [Mischief::Cut(3_000_000), second].map(Some);
            let address = between_each(served.address, ways.to_vec());
            let plan = Plan { streams: 2, ..PLAN };
            thread::scope(|scope| {
                scope.spawn(|| {
                    served.wait_for("given up");
                    is_first_lost.store(true, Ordering::Release);
                });
                send_to(address, &jobs, plan, &options).0.unwrap_err();
            });
            served.wait_for_ends(2);
            let kept = fs::metadata(place.partial()).unwrap().len();
            assert!((1_000_000..3_000_000).contains(&kept), "{method}: {kept}");
            let options = send_options(SendMethod::File);
            let plan = Plan { streams, ..RESUME };
            let (summary, outcomes) = send(&served, &jobs, plan, &options);
            assert_eq!(summary.unwrap().files, 1, "{method}: {outcomes:?}");
            // Whole ranges of 1 MiB are kept.
            assert!(options.progress.load(Ordering::Relaxed) <= 7 * MIB);
            assert!(place.received("file") == contents, "{method}");
            assert_eq!(place.names(), ["file"]);
        }
    }
}

#[test]
fn a_sender_that_is_stopped_names_what_arrived_and_resume_sends_the_rest() {
    let place = Place::new();
    let served = Served::start(receive_options(&place.to(), ReceiveMethod::File));
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
    let (summary, outcomes) = send(&served, &jobs, RESUME, &send_options(SendMethod::File));
    assert_eq!(summary.unwrap().files, 200, "{outcomes:?}");
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
        let served = Served::start(receive_options(&place.to(), ReceiveMethod::File));
        let options = sender::Options {
            cover,
            ..send_options(SendMethod::File)
        };
        let address = between_each(served.address, vec![Some(Mischief::Cut(at))]);
        let (summary, outcomes) =
            send_to(address, &[place.file("file", &contents)], PLAN, &options);
        summary.unwrap_err();
        let [outcome] = &outcomes[..] else {
            panic!("{outcomes:?}")
        };
        assert!(outcome.failure.is_some());
        assert_eq!(outcome.is_kept, is_kept, "{cover:?} {at}");
    }
}
