//! Files arrive unchanged, for all methods, sizes and names.

use crate::common::{
    KEEPING, PLAN, Sent, Served, TWO, TestDirectories, bytes, deliver, item, job, open,
    receive_methods, receive_options, sealed, send_methods, send_options, set_mode, source, token,
};
use oscope_transfer::Cover;
use oscope_transfer::method::{ReceiveMethod, SendMethod};
use oscope_transfer::receiver::Receiver;
use oscope_transfer::sender::{self, Contents, Job, Plan, Source};
use std::fs::{self, File};
use std::io::{Seek, Write};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::MetadataExt;
use std::path::Path;
use std::time::{Duration, UNIX_EPOCH};

const SIZES: [usize; 9] = [
    0,
    1,
    1000,
    4096,
    65_537,
    262_144,
    300_001,
    1 << 20,
    5_000_003,
];

/// Checks that this number of files arrived, and that none failed.
#[track_caller]
fn assert_kept(sent: &Sent, files: u64) {
    sent.assert(files, 0);
    let mut timings = sent.outcomes.iter().map(|outcome| outcome.timing);
    assert!(timings.all(|timing| timing.stored >= timing.received));
}

#[test]
fn a_stream_of_unknown_length_works_with_every_receiver() {
    for method in receive_methods() {
        let dirs = TestDirectories::new();
        let served = Served::by(&dirs, method);
        for size in SIZES {
            let contents = bytes(size, 2);
            let mut session = served.session(&send_options(SendMethod::File));
            let name = size.to_string();
            let mut stream = tempfile::tempfile().unwrap();
            stream.write_all(&contents).unwrap();
            stream.rewind().unwrap();
            let stream = Contents::Stream(&stream);
            let outcome = deliver(&mut session, &item(0, &name, None), stream);
            assert_eq!((outcome.failure, outcome.size), (None, size as u64));
            session.finish().unwrap();
            assert!(dirs.received(&name) == contents, "{method} {name}");
        }
    }
}

#[test]
fn files_that_report_no_true_size_arrive_whole() {
    let generated = [
        "/proc/version",
        "/proc/filesystems",
        "/sys/kernel/mm/ksm/run",
    ];
    for method in send_methods() {
        for (streams, resume) in [(1, false), (2, false), (1, true)] {
            let dirs = TestDirectories::new();
            let served = Served::of(&dirs);
            let sparse = dirs.from("sparse");
            File::create(&sparse).unwrap().set_len(100).unwrap();
            let mut sources = generated.map(Path::new).to_vec();
            sources.retain(|path| path.exists());
            sources.push(&sparse);
            let names: Vec<_> = (0..sources.len()).map(|at| format!("file{at}")).collect();
            let jobs = names.iter().zip(&sources);
            let jobs: Vec<_> = jobs.map(|(name, path)| job(name, path)).collect();
            let plan = Plan {
                streams,
                resume,
                ..PLAN
            };
            let sent = served.send_by(&jobs, plan, &send_options(method));
            assert_kept(&sent, jobs.len() as u64);
            for (name, source) in names.iter().zip(sources) {
                let there = fs::read(source).unwrap();
                let has_arrived = !there.is_empty() && dirs.received(name) == there;
                assert!(has_arrived, "{method}: {}", source.display());
            }
        }
    }
}

#[test]
fn blocks_may_come_in_any_order() {
    let contents = bytes(1 << 20, 3);
    let shuffled = || (0..256_u64).map(|index| index * 7919 % 256 * 4096);
    for method in receive_methods() {
        let dirs = TestDirectories::new();
        let served = Served::by(&dirs, method);
        let options = send_options(SendMethod::Mmap);
        dirs.file("source", &contents);
        let file = open(dirs.from("source"));
        let mut blocks = shuffled().map(|at| (at, &contents[at as usize..][..4096]));
        let mut offsets = shuffled();
        let scattered = Contents::Scattered {
            file: &file,
            block: 4096,
            offsets: &mut offsets,
        };
        let blocks = Contents::Blocks(&mut blocks);
        for (name, contents_of) in [("shuffled", blocks), ("scattered", scattered)] {
            let mut session = served.session(&options);
            let item = item(0, name, Some(1 << 20));
            assert_eq!(deliver(&mut session, &item, contents_of).failure, None);
            session.finish().unwrap();
            assert!(dirs.received(name) == contents, "{method}");
        }
    }
}

/// A file "large" to be divided, and 20 small ones.
fn large_and_small(dirs: &TestDirectories, large: &[u8]) -> Vec<Job> {
    let mut jobs = vec![dirs.file("large", large)];
    jobs.extend((0..20).map(|index| dirs.file(&format!("small{index}"), &bytes(index, 5))));
    jobs
}

#[test]
fn a_file_goes_over_several_connections_in_parts() {
    let plan = Plan { streams: 3, ..PLAN };
    for (send_method, receive) in [
        (SendMethod::SendFile, ReceiveMethod::File),
        (SendMethod::Mmap, ReceiveMethod::Mmap),
        (SendMethod::Splice, ReceiveMethod::Splice),
        (SendMethod::File, ReceiveMethod::File),
        (SendMethod::Uring, ReceiveMethod::Uring),
    ] {
        if send_method.check().is_err() {
            println!("skipped: no {send_method} here");
            continue;
        }
        let dirs = TestDirectories::new();
        let served = Served::by(&dirs, receive);
        let contents = bytes(9_000_001, 4);
        let jobs = large_and_small(&dirs, &contents);
        let sent = served.send_by(&jobs, plan, &send_options(send_method));
        assert_kept(&sent, 21);
        assert_eq!(sent.outcomes[0].size, contents.len() as u64);
        assert!(dirs.received("large") == contents);
        // The receiver counts it once, too.
        let log = served.log();
        let counted = log.lines().filter(|line| *line == "large: None");
        assert_eq!(counted.count(), 1, "{log}");
        assert_eq!(dirs.names().len(), 21, "{:?}", dirs.names());
    }
    // A receiver that allows fewer connections gets files over those.
    let dirs = TestDirectories::new();
    let served = Served::with(&dirs, |it| it.max_connections = 2);
    let contents = bytes(9_000_001, 4);
    let sent = served.send(&large_and_small(&dirs, &contents), plan);
    assert_kept(&sent, 21);
    assert!(dirs.received("large") == contents);
    assert!(served.log().contains("turned away"), "{}", served.log());
}

#[test]
fn holes_stay_holes() {
    const LEN: u64 = (5 << 30) + 100_000;
    for receive in receive_methods() {
        let dirs = TestDirectories::new();
        let served = Served::by(&dirs, receive);
        let path = dirs.from("sparse");
        let mut file = File::create(&path).unwrap();
        file.write_all(&bytes(5000, 6)).unwrap();
        file.set_len(LEN).unwrap();
        platform::block_io::write_at(&file, b"end", (5 << 30) - 3).unwrap();
        let options = send_options(SendMethod::SendFile);
        let sent = served.send_by(&[job("sparse", &path)], PLAN, &options);
        assert_kept(&sent, 1);
        assert_eq!(sent.summary.unwrap().bytes, LEN);
        let arrived = open(dirs.to().join("sparse"));
        let metadata = arrived.metadata().unwrap();
        assert_eq!(metadata.len(), LEN);
        let stored = metadata.blocks() * 512;
        assert!(stored < 64 << 20, "{stored}");
        let mut end = [0; 3];
        platform::block_io::read_at(&arrived, &mut end, (5 << 30) - 3).unwrap();
        assert_eq!(&end, b"end");
    }
}

#[test]
fn names_may_have_any_bytes() {
    let dirs = TestDirectories::new();
    let served = Served::of(&dirs);
    dirs.file("plain", b"x");
    let named = |name: &[u8]| Job {
        name: name.into(),
        source: source(&dirs.from("plain")),
    };
    let odd: [&[u8]; 4] = [b"\xff\xfe", b"new\nline", b"-rf", &[b'n'; 255]];
    assert_kept(&served.send(&odd.map(named), PLAN), 4);
    for name in odd {
        let path = dirs.to().join(std::ffi::OsStr::from_bytes(name));
        assert_eq!(fs::read(path).unwrap(), b"x");
    }
}

#[test]
fn links_devices_and_directories_in_the_way_are_left_alone() {
    let dirs = TestDirectories::new();
    let outside = dirs.root.path().join("outside");
    fs::write(&outside, "precious").unwrap();
    std::os::unix::fs::symlink(&outside, dirs.to().join("link")).unwrap();
    fs::create_dir(dirs.to().join("folder")).unwrap();
    fs::write(dirs.to().join("file"), "old").unwrap();
    let jobs = ["link", "folder", "file"].map(|name| dirs.file(name, b"new"));
    let sent = Served::of(&dirs).send(&jobs, PLAN);
    sent.assert(0, 3);
    sent.assert_failure(0, "--force");
    sent.assert_failure(2, "not a file");
    assert_eq!(dirs.received("file"), b"old");
    let served = Served::with(&dirs, |it| it.force = true);
    served.send(&jobs, PLAN).assert(1, 2);
    assert_eq!(dirs.received("file"), b"new");
    assert_eq!(fs::read(outside).unwrap(), b"precious");
    assert_eq!(dirs.names(), ["file", "folder", "link"]);
}

#[test]
fn modes_and_times_are_kept_on_request() {
    let dirs = TestDirectories::new();
    let served = Served::by(&dirs, ReceiveMethod::Mmap);
    let job = dirs.file("kept", b"contents");
    let path = dirs.from("kept");
    set_mode(&path, 0o4751);
    let moment = UNIX_EPOCH - Duration::new(3, 500);
    let file = File::options().write(true).open(&path).unwrap();
    file.set_modified(moment).unwrap();
    assert_kept(&served.send(&[job], KEEPING), 1);
    let metadata = fs::metadata(dirs.to().join("kept")).unwrap();
    assert_eq!(metadata.mode() & 0o7777, 0o751);
    assert_eq!(metadata.modified().unwrap(), moment);
}

#[test]
fn ten_thousand_files_and_no_files_arrive() {
    let dirs = TestDirectories::new();
    let served = Served::of(&dirs);
    let jobs: Vec<_> = (0..10_000)
        .map(|index| dirs.file(&format!("{index:05}"), &bytes(100, index + 1)))
        .collect();
    let options = send_options(SendMethod::SendFile);
    assert_kept(&served.send_by(&jobs, PLAN, &options), 10_000);
    assert_eq!(dirs.names().len(), 10_000);
    assert!(dirs.received("07777") == bytes(100, 7778));
    assert_kept(&served.send(&[], PLAN), 0);
}

#[test]
fn discarded_bytes_are_verified_all_the_same() {
    let served = Served::start(oscope_transfer::receiver::Options {
        directory: None,
        ..receive_options("/".as_ref(), ReceiveMethod::Splice)
    });
    let zeros = |size| Job {
        name: b"zeros".into(),
        source: Source::Zeros(size),
    };
    let sent = served.send(&[zeros(10_000_000), zeros(5)], TWO);
    assert_kept(&sent, 2);
    assert_eq!(sent.summary.unwrap().bytes, 10_000_005);
}

/// Sends files of all sizes by each pair of methods that the cover allows, with or without a token.
fn every_pair(cover: Cover, secret: Option<&str>) {
    let contents = SIZES.map(|size| (size.to_string(), bytes(size, 7)));
    for receive in receive_methods() {
        for method in send_methods() {
            let is_in_kernel = matches!(
                method,
                SendMethod::SendFile | SendMethod::Splice | SendMethod::ZeroCopy
            );
            let is_sealed = cover == Cover::Sealed;
            if is_sealed && (is_in_kernel || receive == ReceiveMethod::Splice) {
                continue;
            }
            let dirs = TestDirectories::new();
            let served = Served::with(&dirs, |it| {
                it.method = Some(receive);
                (it.token, it.unsealed) = (secret.map(token), !is_sealed);
            });
            let jobs = contents
                .each_ref()
                .map(|(name, bytes)| dirs.file(name, bytes));
            let options = sender::Options {
                token: secret.map(token),
                cover,
                ..send_options(method)
            };
            let sent = served.send_by(&jobs, PLAN, &options);
            assert_kept(&sent, SIZES.len() as u64);
            assert_eq!(
                sent.summary.expect("it arrived").bytes,
                SIZES.iter().sum::<usize>() as u64
            );
            for (name, bytes) in &contents {
                assert!(dirs.received(name) == *bytes, "{method} {receive} {name}");
            }
            assert_eq!(dirs.names().len(), SIZES.len(), "{:?}", dirs.names());
        }
    }
}

#[test]
fn every_method_works_with_every_other_at_every_size_and_cover() {
    let secret = Some("0123456789abcdef");
    for (cover, secret) in [
        (Cover::Summed, None),
        (Cover::Bare, None),
        (Cover::Sealed, secret),
        (Cover::Summed, secret),
        (Cover::Bare, secret),
    ] {
        every_pair(cover, secret);
    }
}

#[test]
fn the_kernel_moves_nothing_that_has_to_be_sealed() {
    let dirs = TestDirectories::new();
    let secret = "0123456789abcdef";
    let mut options = receive_options(&dirs.to(), ReceiveMethod::Splice);
    options.token = Some(token(secret));
    let refused = Receiver::bind("127.0.0.1:0", options.clone()).err();
    let refused = refused.unwrap().to_string();
    assert!(refused.contains("--unsealed"), "{refused}");
    // The receiver allows it, but the sender does not.
    options.unsealed = true;
    let served = Served::start(options);
    let job = [dirs.file("file", &bytes(100_000, 8))];
    for method in [
        SendMethod::File,
        SendMethod::SendFile,
        SendMethod::Splice,
        SendMethod::ZeroCopy,
    ] {
        let error = served.send_by(&job, PLAN, &sealed(secret, method)).error();
        assert!(error.to_string().contains("--unsealed"), "{error}");
    }
    // The sender allows it, but the receiver does not.
    let served = Served::with(&dirs, |it| it.token = Some(token(secret)));
    let unsealed = sender::Options {
        cover: Cover::Summed,
        ..sealed(secret, SendMethod::SendFile)
    };
    let error = served.send_by(&job, PLAN, &unsealed).error();
    assert!(error.to_string().contains("--unsealed"), "{error}");
    assert_eq!(dirs.names(), [""; 0]);
}
