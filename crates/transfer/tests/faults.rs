//! Whatever goes wrong, no file is there under its name that is not whole.

mod common;

use common::proxy::{Mischief, between};
use common::{
    PLAN, Place, Served, bytes, job, limits, receive_options, send, send_options, send_to, token,
};
use oscope_transfer::method::{ReceiveMethod, SendMethod};
use oscope_transfer::receiver::Receiver;
use oscope_transfer::sender::Plan;
use oscope_transfer::{Checksum, Error, Limits, receiver, sender};
use std::fs::{self, File};
use std::io::{ErrorKind, Read, Write};
use std::net::{Shutdown, TcpStream};
use std::process::Command;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

const RESUME: Plan = Plan {
    resume: true,
    ..PLAN
};

/// Numbers without a pattern, the same in every run.
struct Draw(u64);

impl Draw {
    fn below(&mut self, bound: u64) -> u64 {
        self.0 = self
            .0
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1);
        (self.0 >> 33) % bound
    }
}

#[test]
fn at_a_thousand_random_places_a_lost_connection_does_no_harm() {
    const LEN: usize = 700_000;
    let place = Place::new();
    let contents = bytes(LEN, 1);
    place.file("source", &contents);
    let source = place.root.path().join("from/source");
    let servers =
        ReceiveMethod::ALL.map(|method| Served::start(receive_options(&place.to(), method)));
    let mut draw = Draw(42);
    let (mut whole, mut resumed) = (0, 0);
    for round in 0..1000 {
        let served = &servers[draw.below(3) as usize];
        let ends = served.ends();
        let method = SendMethod::ALL[draw.below(5) as usize];
        // Now and then in what comes before and after the contents.
        let at = match draw.below(4) {
            0 => draw.below(300),
            1 => LEN as u64 + draw.below(400),
            _ => draw.below(LEN as u64),
        };
        let name = format!("file{round}");
        let jobs = [job(&name, &source)];
        let address = between(served.address, Mischief::Cut(at));
        let (summary, _) = send_to(address, &jobs, PLAN, &send_options(method));
        // The end may be seen here before it is seen there.
        served.wait_for_ends(ends + 1);
        let arrived = place.to().join(&name);
        if summary.is_ok() || arrived.exists() {
            whole += 1;
        } else {
            let (again, outcomes) = send(served, &jobs, RESUME, &send_options(method));
            assert_eq!(
                again.expect("it is there").files,
                1,
                "round {round}, {at}: {outcomes:?}"
            );
            resumed += 1;
        }
        assert!(
            fs::read(&arrived).expect("it arrived") == contents,
            "round {round}, {at}, {method}"
        );
        fs::remove_file(arrived).expect("it is there");
        assert_eq!(place.names(), [""; 0], "round {round}, {at}");
    }
    assert!(whole > 10 && resumed > 500, "{whole} {resumed}");
}

#[test]
fn what_is_kept_is_checked_before_it_is_trusted() {
    let place = Place::new();
    let served = Served::start(receive_options(&place.to(), ReceiveMethod::File));
    let contents = bytes(3_000_000, 2);
    let jobs = [place.file("file", &contents)];
    for is_changed in [false, true] {
        let address = between(served.address, Mischief::Cut(2_000_000));
        send_to(address, &jobs, PLAN, &send_options(SendMethod::File))
            .0
            .unwrap_err();
        served.wait_for("are kept for --resume");
        served.log.lock().unwrap().clear();
        let [partial] = &place.names()[..] else {
            panic!("{:?}", place.names())
        };
        assert!(partial.starts_with(".oscope-partial-"));
        let partial = place.to().join(partial);
        let kept = fs::metadata(&partial).unwrap().len();
        assert!(kept > 1_000_000, "{kept}");
        if is_changed {
            let file = File::options().write(true).open(&partial).unwrap();
            platform::block_io::write_at(&file, b"not what was sent", 1000).unwrap();
        }
        let options = send_options(SendMethod::SendFile);
        let (summary, _) = send(&served, &jobs, RESUME, &options);
        assert_eq!(summary.unwrap().files, 1);
        let sent = options.progress.load(Ordering::Relaxed);
        assert_eq!(
            sent,
            if is_changed {
                3_000_000
            } else {
                3_000_000 - kept
            }
        );
        assert!(place.received("file") == contents);
        fs::remove_file(place.to().join("file")).unwrap();
    }
}

#[test]
fn a_receiver_that_was_restarted_goes_on_where_it_was() {
    let place = Place::new();
    let contents = bytes(3_000_000, 3);
    let jobs = [place.file("file", &contents)];
    let secret = "a token of some length";
    let receiver = receiver::Options {
        token: Some(token(secret)),
        ..receive_options(&place.to(), ReceiveMethod::Mmap)
    };
    let sender = sender::Options {
        token: Some(token(secret)),
        checksum: Checksum::Blake3,
        ..send_options(SendMethod::Mmap)
    };
    {
        let served = Served::start(receiver.clone());
        let address = between(served.address, Mischief::Cut(2_500_000));
        send_to(address, &jobs, PLAN, &sender).0.unwrap_err();
        served.wait_for("given up");
    }
    let served = Served::start(receiver::Options {
        limits: limits(),
        ..receiver
    });
    let sender = sender::Options {
        progress: Arc::default(),
        ..sender
    };
    assert_eq!(send(&served, &jobs, RESUME, &sender).0.unwrap().files, 1);
    assert!(sender.progress.load(Ordering::Relaxed) < 1_500_000);
    assert!(place.received("file") == contents);
}

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
    for method in SendMethod::ALL {
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

#[test]
fn the_second_sender_of_a_name_is_refused_until_the_first_is_done() {
    let place = Place::new();
    let served = Served::start(receive_options(&place.to(), ReceiveMethod::File));
    let contents = bytes(2 << 20, 7);
    let jobs = [place.file("file", &contents)];
    let go_on = Arc::new(AtomicBool::new(false));
    let address = between(served.address, Mischief::Hold(1 << 20, Arc::clone(&go_on)));
    std::thread::scope(|scope| {
        let first = scope.spawn(|| send_to(address, &jobs, PLAN, &send_options(SendMethod::File)));
        while place.names().is_empty() {
            std::thread::sleep(Duration::from_millis(2));
        }
        let (_, outcomes) = send(&served, &jobs, PLAN, &send_options(SendMethod::File));
        assert!(
            outcomes[0]
                .failure
                .as_ref()
                .unwrap()
                .contains("is coming in"),
            "{outcomes:?}"
        );
        go_on.store(true, Ordering::Release);
        assert_eq!(first.join().unwrap().0.unwrap().files, 1);
    });
    assert!(place.received("file") == contents);
}

#[test]
fn who_does_not_know_the_token_gets_nothing() {
    let place = Place::new();
    let served = Served::start(receiver::Options {
        token: Some(token("the right token, long")),
        ..receive_options(&place.to(), ReceiveMethod::File)
    });
    let jobs = [place.file("file", b"x")];
    let with = |text| sender::Options {
        token: Some(token(text)),
        checksum: Checksum::Blake3,
        ..send_options(SendMethod::File)
    };
    let error = send(&served, &jobs, PLAN, &with("the wrong token, long"))
        .0
        .unwrap_err();
    assert!(matches!(error, Error::WrongToken), "{error}");
    served.wait_for("does not know the token");
    let error = send(&served, &jobs, PLAN, &send_options(SendMethod::File))
        .0
        .unwrap_err();
    assert!(error.to_string().contains("wants a token"), "{error}");
    let open = Served::start(receive_options(&place.to(), ReceiveMethod::File));
    let error = send(&open, &jobs, PLAN, &with("any token that is long"))
        .0
        .unwrap_err();
    assert!(error.to_string().contains("has no token"), "{error}");
    assert_eq!(place.names(), [""; 0]);
    let everywhere = Receiver::bind(
        "0.0.0.0:0",
        receive_options(&place.to(), ReceiveMethod::File),
    );
    let error = everywhere.err().expect("it is refused").to_string();
    assert!(error.contains("--token-file"), "{error}");
}

/// What a receiver answers to `said` before it closes.
fn answer(served: &Served, said: &[u8]) -> Vec<u8> {
    let mut socket = TcpStream::connect(served.address).expect("it listens");
    socket
        .set_read_timeout(Some(Duration::from_secs(10)))
        .expect("a time above zero");
    let _ = socket.write_all(said);
    let _ = socket.shutdown(Shutdown::Write);
    let mut answer = Vec::new();
    match socket.read_to_end(&mut answer) {
        Err(error) if error.kind() != ErrorKind::ConnectionReset => panic!("{error}"),
        _ => answer,
    }
}

#[test]
fn strangers_get_a_short_close_and_a_line_in_the_log() {
    let place = Place::new();
    let served = Served::start(receive_options(&place.to(), ReceiveMethod::File));
    assert_eq!(
        answer(&served, b"GET / HTTP/1.1\r\nHost: localhost\r\n\r\n"),
        b""
    );
    served.wait_for("no sender: it said \"GET / HTTP/1.1");
    for round in 0..200 {
        let garbage = bytes(1 + round * 7, round as u64 + 1);
        assert_eq!(answer(&served, &garbage), b"");
    }
    // A port scanner: comes, says nothing and goes.
    drop(TcpStream::connect(served.address).unwrap());
    served.wait_for("it said nothing");

    let hello = |version: u16| {
        let mut hello = [0; 64];
        hello[..8].copy_from_slice(b"oscope\r\n");
        hello[8..10].copy_from_slice(&version.to_le_bytes());
        hello[12] = 1;
        hello
    };
    let refused = answer(&served, &hello(9));
    assert_eq!((refused.len(), refused[10]), (64, 1));
    served.wait_for("another version");
    // Garbage behind a good greeting.
    for round in 0..200 {
        let mut said = hello(1).to_vec();
        said.extend(bytes(1 + round * 11, round as u64 + 1));
        assert_eq!(answer(&served, &said)[10], 0);
    }
    let jobs = [place.file("file", b"still at work")];
    send(&served, &jobs, PLAN, &send_options(SendMethod::File))
        .0
        .unwrap();
    assert_eq!(place.names(), ["file"]);
}

#[test]
fn silence_is_not_borne_for_long() {
    let place = Place::new();
    let served = Served::start(receiver::Options {
        limits: Limits {
            patience: Duration::from_secs(1),
            ..limits()
        },
        ..receive_options(&place.to(), ReceiveMethod::File)
    });
    let silent = TcpStream::connect(served.address).unwrap();
    served.wait_for("silent or too slow");
    drop(silent);
    // A byte now and then is next to nothing.
    let mut slow = TcpStream::connect(served.address).unwrap();
    let mut hello = [0; 64];
    hello[..8].copy_from_slice(b"oscope\r\n");
    hello[8] = 1;
    hello[12] = 1;
    slow.write_all(&hello).unwrap();
    served.wait_for("began");
    served.log.lock().unwrap().clear();
    let mut failed = false;
    for _ in 0..100 {
        failed |= slow.write_all(&[0]).is_err();
        std::thread::sleep(Duration::from_millis(150));
        if served.log().contains("too slow") || failed {
            break;
        }
    }
    served.wait_for("too slow");

    // The same the other way round: a receiver that takes nothing.
    let deaf = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let options = sender::Options {
        limits: Limits {
            patience: Duration::from_secs(1),
            ..limits()
        },
        ..send_options(SendMethod::File)
    };
    let jobs = [place.file("file", b"x")];
    let address = deaf.local_addr().unwrap();
    let error = send_to(address, &jobs, PLAN, &options).0.unwrap_err();
    assert!(matches!(error, Error::Silent(_)), "{error}");
}

#[test]
fn limits_on_sizes_counts_and_connections_hold() {
    let place = Place::new();
    let served = Served::start(receiver::Options {
        max_size: 1000,
        max_files: 3,
        max_connections: 1,
        ..receive_options(&place.to(), ReceiveMethod::File)
    });
    let jobs = [
        place.file("a", &bytes(1000, 1)),
        place.file("b", &bytes(1001, 1)),
        place.file("c", b"x"),
        place.file("d", b"x"),
    ];
    let (_, outcomes) = send(&served, &jobs, PLAN, &send_options(SendMethod::File));
    let failed: Vec<_> = outcomes
        .iter()
        .map(|outcome| outcome.failure.is_some())
        .collect();
    assert_eq!(failed, [false, true, false, true], "{outcomes:?}");
    assert_eq!(place.names(), ["a", "c"]);

    // Nobody gets past the size by not telling it.
    let fifo = place.root.path().join("from/fifo");
    assert!(
        Command::new("mkfifo")
            .arg(&fifo)
            .status()
            .unwrap()
            .success()
    );
    let writer = std::thread::spawn({
        let fifo = fifo.clone();
        // The reader goes away before it has read everything.
        move || drop(fs::write(fifo, vec![1; 1 << 20]))
    });
    served.wait_for("ended");
    let (_, outcomes) = send(
        &served,
        &[job("pipe", &fifo)],
        PLAN,
        &send_options(SendMethod::File),
    );
    assert!(
        outcomes[0]
            .failure
            .as_ref()
            .unwrap()
            .contains("larger than"),
        "{outcomes:?}"
    );
    writer.join().unwrap();

    served.wait_for_ends(2);
    std::thread::sleep(Duration::from_millis(100));
    let held = TcpStream::connect(served.address).unwrap();
    std::thread::sleep(Duration::from_millis(300));
    let error = send(&served, &jobs, PLAN, &send_options(SendMethod::File))
        .0
        .unwrap_err();
    assert!(error.to_string().contains("as many connections"), "{error}");
    drop(held);
}

#[test]
fn a_port_that_is_taken_and_a_place_that_is_not_there_are_named() {
    let place = Place::new();
    let options = receive_options(&place.to(), ReceiveMethod::File);
    let first = Receiver::bind("127.0.0.1:0", options.clone()).unwrap();
    let address = first.address().unwrap().to_string();
    let error = Receiver::bind(&address, options.clone())
        .err()
        .expect("taken")
        .to_string();
    assert!(
        error.contains(&address) && error.contains("in use"),
        "{error}"
    );
    let nowhere = receiver::Options {
        directory: Some("/nonexistent".into()),
        ..options
    };
    let error = Receiver::bind("127.0.0.1:0", nowhere)
        .err()
        .expect("not there")
        .to_string();
    assert!(error.contains("/nonexistent"), "{error}");
    drop(first);
    let jobs = [place.file("file", b"x")];
    let to = address.parse().unwrap();
    let error = send_to(to, &jobs, PLAN, &send_options(SendMethod::File))
        .0
        .unwrap_err();
    assert!(matches!(error, Error::Connect { .. }), "{error}");
}

#[test]
fn files_that_cannot_be_read_do_not_keep_others_back() {
    let place = Place::new();
    let served = Served::start(receive_options(&place.to(), ReceiveMethod::File));
    let jobs = [
        job("missing", "/nonexistent/file".as_ref()),
        job("folder", "/".as_ref()),
        place.file("good", b"x"),
    ];
    for streams in [1, 2] {
        let plan = Plan { streams, ..PLAN };
        let (summary, outcomes) = send(&served, &jobs, plan, &send_options(SendMethod::File));
        let summary = summary.unwrap();
        assert_eq!((summary.files, summary.failed), (1, 2), "{outcomes:?}");
        fs::remove_file(place.to().join("good")).unwrap();
    }
}

#[test]
fn a_wish_to_stop_is_heard_on_both_sides() {
    let place = Place::new();
    let options = receive_options(&place.to(), ReceiveMethod::Mmap);
    let jobs = [place.file("file", &bytes(2 << 20, 8))];
    let hold = |served: &Served| between(served.address, Mischief::Hold(1 << 20, Arc::default()));
    let served = Served::start(options.clone());
    let sender = send_options(SendMethod::File);
    let address = hold(&served);
    std::thread::scope(|scope| {
        let sending = scope.spawn(|| send_to(address, &jobs, PLAN, &sender).0.unwrap_err());
        while place.names().is_empty() {
            std::thread::sleep(Duration::from_millis(2));
        }
        sender.limits.stop.store(true, Ordering::Release);
        assert!(matches!(sending.join().unwrap(), Error::Interrupted));
    });
    // And the other side: dropping it raises its flag and waits for its end.
    let address = hold(&served);
    let sender = send_options(SendMethod::File);
    std::thread::scope(|scope| {
        let sending = scope.spawn(|| send_to(address, &jobs, PLAN, &sender));
        std::thread::sleep(Duration::from_millis(300));
        drop(served);
        sender.limits.stop.store(true, Ordering::Release);
        sending.join().unwrap().0.unwrap_err();
    });
    assert!(!place.to().join("file").exists());
}

/// A small file system in memory, unmounted when it is dropped; `None`, with the reason printed, if
/// there is none to be had.
struct Tmpfs(std::path::PathBuf);

impl Tmpfs {
    fn mount(path: &std::path::Path, options: &str) -> Option<Self> {
        let mount = Command::new("mount")
            .args(["-t", "tmpfs", "-o", options, "tmpfs"])
            .arg(path)
            .output();
        if mount.is_ok_and(|output| output.status.success()) {
            return Some(Self(path.to_owned()));
        }
        println!("skipped: it takes root to mount a file system");
        None
    }
}

impl Drop for Tmpfs {
    fn drop(&mut self) {
        let _ = Command::new("umount").arg("-l").arg(&self.0).status();
    }
}

#[test]
fn a_full_disk_at_the_receiver_is_told_at_once_and_leaves_nothing() {
    for method in ReceiveMethod::ALL {
        let place = Place::new();
        let Some(_small) = Tmpfs::mount(&place.to(), "size=10m") else {
            return;
        };
        let served = Served::start(receive_options(&place.to(), method));
        let large = 200 << 20;
        let path = place.root.path().join("from/large");
        let file = File::create(&path).unwrap();
        let bytes = vec![7; 1 << 20];
        for block in 0..200 {
            platform::block_io::write_at(&file, &bytes, block << 20).unwrap();
        }
        let jobs = [job("large", &path), place.file("small", b"still fits")];
        let options = send_options(SendMethod::SendFile);
        let (summary, outcomes) = send(&served, &jobs, PLAN, &options);
        assert_eq!(summary.unwrap().failed, 1, "{outcomes:?}");
        let failure = outcomes[0].failure.clone().unwrap();
        assert!(failure.contains("No space left"), "{method}: {failure}");
        assert_eq!(place.names(), ["small"]);
        assert!(
            options.progress.load(Ordering::Relaxed) < large / 2,
            "it went on and on"
        );
    }
}

#[test]
fn a_place_that_may_not_be_written_to_is_an_error_of_each_file() {
    let place = Place::new();
    let Some(_sealed) = Tmpfs::mount(&place.to(), "ro") else {
        return;
    };
    let served = Served::start(receive_options(&place.to(), ReceiveMethod::File));
    let jobs = [place.file("file", b"x")];
    let (summary, outcomes) = send(&served, &jobs, PLAN, &send_options(SendMethod::File));
    assert_eq!(summary.unwrap().failed, 1);
    let failure = outcomes[0].failure.clone().unwrap();
    assert!(failure.contains("Read-only"), "{failure}");
}
