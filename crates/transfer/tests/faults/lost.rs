//! A lost connection: nothing incomplete stays under its name, and kept bytes are resumed.

use crate::common::proxy::{Mischief, between};
use crate::common::{
    PLAN, Place, Served, bytes, job, limits, receive_methods, receive_options, send, send_methods,
    send_options, send_to, token,
};
use oscope_transfer::method::{ReceiveMethod, SendMethod};
use oscope_transfer::protocol::FileName;
use oscope_transfer::sender::{Contents, Item, Plan, Session};
use oscope_transfer::{Cover, Error, receiver, sender};
use std::fs::{self, File};
use std::io::{Seek, Write};
use std::os::fd::AsRawFd;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

const RESUME: Plan = Plan {
    resume: true,
    ..PLAN
};

/// Pseudorandom numbers, the same in every run.
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
    let serve = |method| Served::start(receive_options(&place.to(), method));
    let servers: Vec<_> = receive_methods().into_iter().map(serve).collect();
    let methods = send_methods();
    let mut draw = Draw(42);
    let (mut whole, mut resumed) = (0, 0);
    for round in 0..1000 {
        let served = &servers[draw.below(servers.len() as u64) as usize];
        let ends = served.ends();
        let method = methods[draw.below(methods.len() as u64) as usize];
        // Sometimes in the traffic before and after the contents.
        let at = match draw.below(4) {
            0 => draw.below(300),
            1 => LEN as u64 + draw.below(400),
            _ => draw.below(LEN as u64),
        };
        let name = format!("file{round}");
        let jobs = [job(&name, &source)];
        let address = between(served.address, Mischief::Cut(at));
        let (summary, _) = send_to(address, &jobs, PLAN, &send_options(method));
        // The sender may notice the end before the receiver does.
        served.wait_for_ends(ends + 1);
        let arrived = place.to().join(&name);
        if summary.is_ok() || arrived.exists() {
            whole += 1;
        } else {
            let (again, outcomes) = send(served, &jobs, RESUME, &send_options(method));
            let files = again.map(|summary| summary.files);
            assert!(
                matches!(files, Ok(1)),
                "round {round}, {method}, {at}: {files:?} {outcomes:?} {}",
                served.log().lines().last().unwrap_or_default()
            );
            // Otherwise its end would be taken for that of the next one.
            served.wait_for_ends(ends + 2);
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
fn nothing_is_kept_of_a_stream_which_nobody_can_resume() {
    for method in receive_methods() {
        let place = Place::new();
        let served = Served::start(receive_options(&place.to(), method));
        let mut stream = tempfile::tempfile().unwrap();
        stream.write_all(&bytes(3_000_000, 9)).unwrap();
        stream.rewind().unwrap();
        let address = between(served.address, Mischief::Cut(2_000_000)).to_string();
        let options = send_options(SendMethod::File);
        let mut session = Session::connect(&address, &options, [0; 16], (0, 1)).unwrap();
        let item = Item {
            id: 0,
            name: FileName::new(b"stream").unwrap(),
            size: None,
            part: (1, 0),
            resume: false,
            mode: None,
            modified: None,
        };
        let sent = session.send(&item, Contents::Stream(&stream));
        sent.and_then(|()| session.outcome()).unwrap_err();
        served.wait_for_ends(1);
        assert_eq!(place.names(), [""; 0], "{method}");
    }
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
        let partial = place.partial();
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
fn who_goes_on_at_once_waits_until_the_receiver_has_seen_the_end() {
    let place = Place::new();
    let served = Served::start(receive_options(&place.to(), ReceiveMethod::File));
    let contents = bytes(64 << 20, 10);
    let jobs = [place.file("file", &contents)];
    let go_on = Arc::new(AtomicBool::new(false));
    let address = between(served.address, Mischief::Hold(1 << 20, Arc::clone(&go_on)));
    let sender = send_options(SendMethod::File);
    std::thread::scope(|scope| {
        let sending = scope.spawn(|| send_to(address, &jobs, PLAN, &sender).0.unwrap_err());
        place.wait_for_a_file();
        sender.limits.stop.store(true, Ordering::Release);
        assert!(matches!(sending.join().unwrap(), Error::Interrupted));
        let again = scope.spawn(|| send(&served, &jobs, RESUME, &send_options(SendMethod::File)).1);
        std::thread::sleep(Duration::from_millis(300));
        go_on.store(true, Ordering::Release);
        let outcomes = again.join().unwrap();
        assert_eq!(outcomes[0].failure, None);
    });
    assert!(place.received("file") == contents);
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
        cover: Cover::Sealed,
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
        place.wait_for_a_file();
        sender.limits.stop.store(true, Ordering::Release);
        assert!(matches!(sending.join().unwrap(), Error::Interrupted));
    });
    // Then the other side: dropping it sets its flag and waits for its end.
    let jobs = [place.file("other", &bytes(2 << 20, 9))];
    let address = hold(&served);
    let sender = send_options(SendMethod::File);
    std::thread::scope(|scope| {
        let sending = scope.spawn(|| send_to(address, &jobs, PLAN, &sender));
        std::thread::sleep(Duration::from_millis(300));
        drop(served);
        sender.limits.stop.store(true, Ordering::Release);
        sending.join().unwrap().0.unwrap_err();
    });
    for name in ["file", "other"] {
        assert!(!place.to().join(name).exists());
    }
}

#[test]
fn a_wish_to_stop_is_heard_while_a_pipe_is_silent() {
    let (silent, _writer) = std::io::pipe().unwrap();
    stop_while_silent(format!("/proc/self/fd/{}", silent.as_raw_fd()).as_ref());
}

#[test]
fn a_wish_to_stop_is_heard_while_nobody_writes_to_a_named_pipe() {
    let place = Place::new();
    stop_while_silent(&place.named_pipe("pipe"));
}

fn stop_while_silent(source: &Path) {
    let place = Place::new();
    let served = Served::start(receive_options(&place.to(), ReceiveMethod::File));
    let jobs = [job("file", source)];
    let sender = send_options(SendMethod::File);
    std::thread::scope(|scope| {
        let sending = scope.spawn(|| send(&served, &jobs, PLAN, &sender).0);
        std::thread::sleep(Duration::from_millis(100));
        sender.limits.stop.store(true, Ordering::Release);
        let sent = sending.join().expect("it does not panic");
        assert!(matches!(sent, Err(Error::Interrupted)), "{sent:?}");
    });
    assert!(!place.to().join("file").exists());
}
