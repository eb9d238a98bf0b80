//! Files arrive unchanged, for all methods, sizes and names.

mod common;

use common::{
    PLAN, Place, Served, bytes, job, limits, receive_methods, receive_options, send, send_methods,
    send_options, source, token,
};
use oscope_transfer::method::{ReceiveMethod, SendMethod};
use oscope_transfer::protocol::FileName;
use oscope_transfer::receiver::Receiver;
use oscope_transfer::sender::{Contents, Item, Job, Plan, Session, Source};
use oscope_transfer::{Cover, Outcome, receiver};
use std::fs::{self, File};
use std::io::{Seek, Write};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{MetadataExt, PermissionsExt};
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

fn assert_kept(outcomes: &[Outcome]) {
    for outcome in outcomes {
        assert_eq!(
            outcome.failure,
            None,
            "{}",
            String::from_utf8_lossy(&outcome.name)
        );
        assert!(outcome.timing.stored >= outcome.timing.received);
    }
}

#[test]
fn every_method_works_with_every_other_at_every_size() {
    for receive in receive_methods() {
        for send_method in send_methods() {
            let place = Place::new();
            let served = Served::start(receive_options(&place.to(), receive));
            let jobs = SIZES.map(|size| place.file(&size.to_string(), &bytes(size, 1)));
            let (summary, outcomes) = send(&served, &jobs, PLAN, &send_options(send_method));
            let summary = summary.unwrap();
            assert_kept(&outcomes);
            assert_eq!((summary.files, summary.failed), (SIZES.len() as u64, 0));
            assert_eq!(summary.bytes, SIZES.iter().sum::<usize>() as u64);
            for size in SIZES {
                let name = size.to_string();
                assert!(
                    place.received(&name) == bytes(size, 1),
                    "{send_method} {receive} {name}"
                );
            }
            assert_eq!(place.names().len(), SIZES.len(), "{:?}", place.names());
        }
    }
}

#[test]
fn a_stream_of_unknown_length_works_with_every_receiver() {
    for method in receive_methods() {
        let place = Place::new();
        let served = Served::start(receive_options(&place.to(), method));
        for size in SIZES {
            let contents = bytes(size, 2);
            let options = send_options(SendMethod::File);
            let address = served.address.to_string();
            let mut session = Session::connect(&address, &options, [0; 16], (0, 1)).unwrap();
            let name = size.to_string();
            let item = item(&name);
            let mut stream = tempfile::tempfile().unwrap();
            stream.write_all(&contents).unwrap();
            stream.rewind().unwrap();
            session.send(&item, Contents::Stream(&stream)).unwrap();
            let (_, outcome) = session.outcome().unwrap().unwrap();
            assert_eq!((outcome.failure, outcome.size), (None, size as u64));
            session.finish().unwrap();
            assert!(place.received(&name) == contents, "{method} {name}");
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
    let generated = generated.map(Path::new).into_iter();
    let generated: Vec<_> = generated.filter(|path| path.exists()).collect();
    for method in send_methods() {
        for (streams, resume) in [(1, false), (2, false), (1, true)] {
            let place = Place::new();
            let served = Served::start(receive_options(&place.to(), ReceiveMethod::File));
            let sparse = place.root.path().join("from/sparse");
            File::create(&sparse).unwrap().set_len(100).unwrap();
            let mut sources = generated.clone();
            sources.push(&sparse);
            let names: Vec<_> = (0..sources.len()).map(|at| format!("file{at}")).collect();
            let jobs = names
                .iter()
                .zip(&sources)
                .map(|(name, path)| job(name, path));
            let jobs: Vec<_> = jobs.collect();
            let plan = Plan {
                streams,
                resume,
                ..PLAN
            };
            let (summary, outcomes) = send(&served, &jobs, plan, &send_options(method));
            summary.unwrap();
            assert_kept(&outcomes);
            for (name, source) in names.iter().zip(sources) {
                let there = fs::read(source).unwrap();
                assert!(!there.is_empty());
                assert!(
                    place.received(name) == there,
                    "{method}: {}",
                    source.display()
                );
            }
        }
    }
}

fn item(name: &str) -> Item<'_> {
    Item {
        id: 0,
        name: FileName::new(name.as_bytes()).expect("a plain name"),
        size: None,
        part: (1, 0),
        resume: false,
        mode: None,
        modified: None,
    }
}

#[test]
fn blocks_may_come_in_any_order() {
    let contents = bytes(1 << 20, 3);
    for method in receive_methods() {
        let place = Place::new();
        let served = Served::start(receive_options(&place.to(), method));
        let options = send_options(SendMethod::Mmap);
        let address = served.address.to_string();
        let mut session = Session::connect(&address, &options, [0; 16], (0, 1)).unwrap();
        let mut blocks: Vec<_> = contents.chunks(4096).enumerate().collect();
        blocks.sort_by_key(|(index, _)| index.wrapping_mul(7919) % 256);
        let mut blocks = blocks
            .into_iter()
            .map(|(index, block)| (index as u64 * 4096, block));
        let item = Item {
            size: Some(1 << 20),
            ..item("shuffled")
        };
        session.send(&item, Contents::Blocks(&mut blocks)).unwrap();
        assert_eq!(session.outcome().unwrap().unwrap().1.failure, None);
        session.finish().unwrap();
        assert!(place.received("shuffled") == contents, "{method}");

        place.file("source", &contents);
        let file = File::open(place.root.path().join("from/source")).unwrap();
        let mut offsets = (0..256).map(|index| index * 7919 % 256 * 4096);
        let scattered = Contents::Scattered {
            file: &file,
            block: 4096,
            offsets: &mut offsets,
        };
        let mut session = Session::connect(&address, &options, [1; 16], (0, 1)).unwrap();
        let item = Item {
            name: FileName::new(b"scattered").unwrap(),
            ..item
        };
        session.send(&item, scattered).unwrap();
        assert_eq!(session.outcome().unwrap().unwrap().1.failure, None);
        assert!(place.received("scattered") == contents, "{method}");
    }
}

/// A file "large" to be divided, and 20 small ones.
fn large_and_small(place: &Place, large: &[u8]) -> Vec<Job> {
    let mut jobs = vec![place.file("large", large)];
    jobs.extend((0..20).map(|index| place.file(&format!("small{index}"), &bytes(index, 5))));
    jobs
}

#[test]
fn a_file_goes_over_several_connections_in_parts() {
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
        let place = Place::new();
        let served = Served::start(receive_options(&place.to(), receive));
        let contents = bytes(9_000_001, 4);
        let jobs = large_and_small(&place, &contents);
        let plan = Plan { streams: 3, ..PLAN };
        let (summary, outcomes) = send(&served, &jobs, plan, &send_options(send_method));
        assert_kept(&outcomes);
        assert_eq!(summary.unwrap().files, 21);
        assert_eq!(outcomes[0].size, contents.len() as u64);
        assert!(place.received("large") == contents);
        // The receiver counts it once, too.
        let log = served.log();
        let told = log.lines().filter(|line| *line == "large: None");
        assert_eq!(told.count(), 1, "{log}");
        assert_eq!(place.names().len(), 21, "{:?}", place.names());
    }
}

#[test]
fn a_receiver_that_takes_fewer_connections_gets_files_over_those() {
    let place = Place::new();
    let served = Served::start(receiver::Options {
        max_connections: 2,
        ..receive_options(&place.to(), ReceiveMethod::File)
    });
    let contents = bytes(9_000_001, 4);
    let jobs = large_and_small(&place, &contents);
    let plan = Plan { streams: 3, ..PLAN };
    let (summary, outcomes) = send(&served, &jobs, plan, &send_options(SendMethod::File));
    assert_kept(&outcomes);
    assert_eq!(summary.unwrap().files, 21);
    assert!(place.received("large") == contents);
    assert!(served.log().contains("turned away"), "{}", served.log());
}

#[test]
fn holes_stay_holes() {
    for receive in receive_methods() {
        let place = Place::new();
        let served = Served::start(receive_options(&place.to(), receive));
        let path = place.root.path().join("from/sparse");
        let mut file = File::create(&path).unwrap();
        file.write_all(&bytes(5000, 6)).unwrap();
        file.set_len(5 << 30).unwrap();
        platform::block_io::write_at(&file, b"end", (5 << 30) - 3).unwrap();
        file.set_len((5 << 30) + 100_000).unwrap();
        let (summary, outcomes) = send(
            &served,
            &[job("sparse", &path)],
            PLAN,
            &send_options(SendMethod::SendFile),
        );
        assert_kept(&outcomes);
        assert_eq!(summary.unwrap().bytes, (5 << 30) + 100_000);
        let arrived = File::open(place.to().join("sparse")).unwrap();
        let metadata = arrived.metadata().unwrap();
        assert_eq!(metadata.len(), (5 << 30) + 100_000);
        assert!(
            metadata.blocks() * 512 < 64 << 20,
            "{} blocks",
            metadata.blocks()
        );
        let mut end = [0; 3];
        platform::block_io::read_at(&arrived, &mut end, (5 << 30) - 3).unwrap();
        assert_eq!(&end, b"end");
    }
}

#[test]
fn names_may_have_any_bytes_and_lead_nowhere() {
    let place = Place::new();
    let served = Served::start(receive_options(&place.to(), ReceiveMethod::File));
    let path = place.root.path().join("from/plain");
    fs::write(&path, "x").unwrap();
    let named = |name: &[u8]| Job {
        name: name.into(),
        source: source(&path),
    };
    let odd: [&[u8]; 4] = [b"\xff\xfe", b"new\nline", b"-rf", &[b'n'; 255]];
    let jobs = odd.map(named);
    let (_, outcomes) = send(&served, &jobs, PLAN, &send_options(SendMethod::File));
    assert_kept(&outcomes);
    for name in odd {
        let path = place.to().join(std::ffi::OsStr::from_bytes(name));
        assert_eq!(fs::read(path).unwrap(), b"x");
    }
    let evil: [&[u8]; 5] = [b"../out", b"/tmp/out", b"..", b"a\0b", b".oscope-partial-1"];
    let (_, outcomes) = send(
        &served,
        &evil.map(named),
        PLAN,
        &send_options(SendMethod::File),
    );
    assert!(
        outcomes.iter().all(|outcome| outcome.failure.is_some()),
        "{outcomes:?}"
    );
    assert_eq!(place.names().len(), 4);
}

#[test]
fn links_devices_and_directories_in_the_way_are_left_alone() {
    let place = Place::new();
    let outside = place.root.path().join("outside");
    fs::write(&outside, "precious").unwrap();
    std::os::unix::fs::symlink(&outside, place.to().join("link")).unwrap();
    fs::create_dir(place.to().join("folder")).unwrap();
    fs::write(place.to().join("file"), "old").unwrap();
    let options = receive_options(&place.to(), ReceiveMethod::File);
    let jobs = ["link", "folder", "file"].map(|name| place.file(name, b"new"));
    {
        let served = Served::start(options.clone());
        let (summary, outcomes) = send(&served, &jobs, PLAN, &send_options(SendMethod::File));
        assert_eq!(summary.unwrap().failed, 3);
        assert!(
            outcomes[0].failure.as_ref().unwrap().contains("--force"),
            "{outcomes:?}"
        );
        assert!(
            outcomes[2].failure.as_ref().unwrap().contains("not a file"),
            "{outcomes:?}"
        );
    }
    assert_eq!(fs::read(place.to().join("file")).unwrap(), b"old");
    let force = oscope_transfer::receiver::Options {
        force: true,
        limits: limits(),
        ..options
    };
    let served = Served::start(force);
    let (summary, _) = send(&served, &jobs, PLAN, &send_options(SendMethod::File));
    assert_eq!(summary.unwrap().files, 1);
    assert_eq!(place.received("file"), b"new");
    assert_eq!(fs::read(outside).unwrap(), b"precious");
    assert_eq!(place.names(), ["file", "folder", "link"]);
}

#[test]
fn modes_and_times_are_kept_on_request() {
    let place = Place::new();
    let served = Served::start(receive_options(&place.to(), ReceiveMethod::Mmap));
    let job = place.file("kept", b"contents");
    let path = place.root.path().join("from/kept");
    fs::set_permissions(&path, PermissionsExt::from_mode(0o4751)).unwrap();
    let moment = UNIX_EPOCH - Duration::new(3, 500);
    File::options()
        .write(true)
        .open(&path)
        .unwrap()
        .set_modified(moment)
        .unwrap();
    let plan = Plan {
        keep_mode: true,
        keep_times: true,
        ..PLAN
    };
    let (_, outcomes) = send(&served, &[job], plan, &send_options(SendMethod::File));
    assert_kept(&outcomes);
    let metadata = fs::metadata(place.to().join("kept")).unwrap();
    assert_eq!(metadata.permissions().mode() & 0o7777, 0o751);
    assert_eq!(metadata.modified().unwrap(), moment);
}

#[test]
fn ten_thousand_files_and_no_files_arrive() {
    let place = Place::new();
    let served = Served::start(receive_options(&place.to(), ReceiveMethod::File));
    let jobs: Vec<_> = (0..10_000)
        .map(|index| place.file(&format!("{index:05}"), &bytes(100, index + 1)))
        .collect();
    let (summary, outcomes) = send(&served, &jobs, PLAN, &send_options(SendMethod::SendFile));
    assert_kept(&outcomes);
    assert_eq!(summary.unwrap().files, 10_000);
    assert_eq!(place.names().len(), 10_000);
    assert!(place.received("07777") == bytes(100, 7778));
    let (summary, _) = send(&served, &[], PLAN, &send_options(SendMethod::File));
    assert_eq!(summary.unwrap().files, 0);
}

#[test]
fn what_is_thrown_away_is_verified_all_the_same() {
    let options = oscope_transfer::receiver::Options {
        directory: None,
        ..receive_options("/".as_ref(), ReceiveMethod::Splice)
    };
    let served = Served::start(options);
    let zeros = |size| Job {
        name: b"zeros".into(),
        source: Source::Zeros(size),
    };
    let plan = Plan { streams: 2, ..PLAN };
    let jobs = [zeros(10_000_000), zeros(5)];
    let (summary, outcomes) = send(&served, &jobs, plan, &send_options(SendMethod::File));
    assert_kept(&outcomes);
    assert_eq!(summary.unwrap().bytes, 10_000_005);
}

/// Sends one file by each pair of methods that the cover allows, with or without a token.
fn every_pair(cover: Cover, secret: Option<&str>) {
    let contents = bytes(3_000_001, 7);
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
            let place = Place::new();
            let served = Served::start(receiver::Options {
                token: secret.map(token),
                unsealed: !is_sealed,
                ..receive_options(&place.to(), receive)
            });
            let jobs = [place.file("file", &contents), place.file("small", b"x")];
            let options = oscope_transfer::sender::Options {
                token: secret.map(token),
                cover,
                ..send_options(method)
            };
            let (summary, outcomes) = send(&served, &jobs, PLAN, &options);
            assert_kept(&outcomes);
            assert_eq!(
                summary.expect("it is welcome").files,
                2,
                "{method} {receive}"
            );
            assert!(place.received("file") == contents, "{method} {receive}");
            assert_eq!(place.received("small"), b"x");
        }
    }
}

#[test]
fn contents_may_be_sealed_summed_or_bare_by_every_method_that_can() {
    every_pair(Cover::Sealed, Some("0123456789abcdef"));
    every_pair(Cover::Summed, Some("0123456789abcdef"));
    every_pair(Cover::Bare, Some("0123456789abcdef"));
    every_pair(Cover::Bare, None);
}

#[test]
fn with_a_token_everything_is_sealed_over_several_connections() {
    let place = Place::new();
    let options = receiver::Options {
        token: Some(token("0123456789abcdef")),
        ..receive_options(&place.to(), ReceiveMethod::File)
    };
    let served = Served::start(options);
    let jobs = SIZES.map(|size| place.file(&size.to_string(), &bytes(size, 7)));
    let sender = oscope_transfer::sender::Options {
        token: Some(token("0123456789abcdef\n")),
        cover: Cover::Sealed,
        ..send_options(SendMethod::Mmap)
    };
    let plan = Plan { streams: 2, ..PLAN };
    let (summary, outcomes) = send(&served, &jobs, plan, &sender);
    assert_kept(&outcomes);
    assert_eq!(summary.unwrap().files, SIZES.len() as u64);
    for size in SIZES {
        assert!(place.received(&size.to_string()) == bytes(size, 7));
    }
}

#[test]
fn the_kernel_moves_nothing_that_has_to_be_sealed() {
    let place = Place::new();
    let secret = || Some(token("0123456789abcdef"));
    let options = receiver::Options {
        token: secret(),
        ..receive_options(&place.to(), ReceiveMethod::Splice)
    };
    let refused = Receiver::bind("127.0.0.1:0", options.clone())
        .err()
        .unwrap();
    assert!(refused.to_string().contains("--unsealed"), "{refused}");
    // The receiver allows it, but the sender does not.
    let served = Served::start(receiver::Options {
        unsealed: true,
        ..options
    });
    let job = [place.file("file", &bytes(100_000, 8))];
    let sealed = |method| oscope_transfer::sender::Options {
        token: secret(),
        cover: Cover::Sealed,
        ..send_options(method)
    };
    let error = send(&served, &job, PLAN, &sealed(SendMethod::File))
        .0
        .unwrap_err();
    assert!(error.to_string().contains("--unsealed"), "{error}");
    for method in [
        SendMethod::SendFile,
        SendMethod::Splice,
        SendMethod::ZeroCopy,
    ] {
        let error = send(&served, &job, PLAN, &sealed(method)).0.unwrap_err();
        assert!(error.to_string().contains("--unsealed"), "{error}");
    }
    // The sender allows it, but the receiver does not.
    let served = Served::start(receiver::Options {
        token: secret(),
        ..receive_options(&place.to(), ReceiveMethod::File)
    });
    let unsealed = oscope_transfer::sender::Options {
        cover: Cover::Summed,
        ..sealed(SendMethod::SendFile)
    };
    let error = send(&served, &job, PLAN, &unsealed).0.unwrap_err();
    assert!(error.to_string().contains("--unsealed"), "{error}");
    assert_eq!(place.names(), [""; 0]);
}
