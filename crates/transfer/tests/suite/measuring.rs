//! A receiver that measures: the sender chooses the method, and no file stays.

use crate::common::{
    RESUME, Served, TestDirectories, bytes, deliver, item, receive_methods, sealed, send_options,
    token,
};
use oscope_transfer::method::{ReceiveMethod, SendMethod};
use oscope_transfer::sender::{Contents, Session};
use oscope_transfer::{Error, Outcome};
use std::sync::atomic::{AtomicU64, Ordering};

fn measuring(dirs: &TestDirectories) -> Served {
    Served::with(dirs, |it| it.measures = true)
}

/// A number for each file of a connection.
fn number() -> u64 {
    static COUNT: AtomicU64 = AtomicU64::new(0);
    COUNT.fetch_add(1, Ordering::Relaxed)
}

fn transfer(session: &mut Session, contents: &[u8]) -> Outcome {
    let item = item(number(), "file", Some(contents.len() as u64));
    deliver(session, &item, Contents::Memory(contents))
}

#[test]
fn the_sender_chooses_the_method_and_there_is_one_file_at_a_time() {
    let dirs = TestDirectories::new();
    let secret = "a token of some length";
    let served = Served::with(&dirs, |it| {
        (it.measures, it.token) = (true, Some(token(secret)));
    });
    let mut session = served.session(&sealed(secret, SendMethod::File));
    let refused = session.prepare(ReceiveMethod::Splice).unwrap_err();
    assert!(refused.to_string().contains("--unsealed"), "{refused}");
    for method in receive_methods() {
        if method == ReceiveMethod::Splice {
            continue;
        }
        for size in [0, 1, 100_000, 3_000_001] {
            assert!(session.prepare(method).unwrap() > 0);
            assert_eq!(dirs.names(), [""; 0], "{method}");
            let contents = bytes(size, 7);
            assert_eq!(transfer(&mut session, &contents).failure, None, "{method}");
            let names = dirs.names();
            assert_eq!(names.len(), 1, "{names:?}");
            assert!(dirs.received(&names[0]) == contents, "{method} {size}");
        }
    }
    session.finish().unwrap();
    served.wait_for("ended");
    assert_eq!(dirs.names(), [""; 0]);
}

#[test]
fn two_senders_of_one_name_do_not_meet() {
    let dirs = TestDirectories::new();
    let served = measuring(&dirs);
    let options = send_options(SendMethod::File);
    let mut sessions = [served.session(&options), served.session(&options)];
    for session in &mut sessions {
        session.prepare(ReceiveMethod::File).unwrap();
        assert_eq!(transfer(session, b"contents").failure, None);
    }
    assert_eq!(dirs.names().len(), 2, "{:?}", dirs.names());
}

#[test]
fn nothing_comes_in_that_is_not_to_be_measured() {
    let dirs = TestDirectories::new();
    let served = Served::with(&dirs, |it| (it.measures, it.max_size) = (true, 1000));
    let options = send_options(SendMethod::File);
    let mut session = served.session(&options);
    let failure = |outcome: Outcome| outcome.failure.unwrap_or_default();
    let refused = failure(transfer(&mut session, b"x"));
    assert!(refused.contains("only measures"), "{refused}");
    assert_eq!(session.prepare(ReceiveMethod::File).unwrap(), 1000);
    let refused = failure(transfer(&mut session, &bytes(1001, 1)));
    assert!(refused.contains("larger than the 1000 bytes"), "{refused}");
    // One file per preparation.
    session.prepare(ReceiveMethod::File).unwrap();
    assert_eq!(failure(transfer(&mut session, b"x")), "");
    let refused = failure(transfer(&mut session, b"x"));
    assert!(refused.contains("only measures"), "{refused}");
    drop(session);

    let jobs = [dirs.file("file", &bytes(500, 1))];
    served.send(&jobs, RESUME).assert_failure(0, "in one go");
    served.wait_for("ended");
    assert_eq!(dirs.names(), [""; 0]);
}

#[test]
fn a_receiver_that_keeps_files_measures_nothing_and_goes_on() {
    let dirs = TestDirectories::new();
    let served = Served::of(&dirs);
    let mut session = served.session(&send_options(SendMethod::File));
    let error = session.prepare(ReceiveMethod::Mmap).unwrap_err();
    assert!(matches!(error, Error::Unready(_)), "{error}");
    assert!(error.to_string().contains("--measure"), "{error}");
    assert_eq!(transfer(&mut session, b"kept").failure, None);
    session.finish().unwrap();
    assert_eq!(dirs.received("file"), b"kept");
}

#[test]
fn of_a_sender_that_dies_nothing_is_left() {
    for method in receive_methods() {
        let dirs = TestDirectories::new();
        let served = measuring(&dirs);
        let options = send_options(SendMethod::File);
        let mut session = served.session(&options);
        session.prepare(method).unwrap();
        let block = bytes(1 << 20, 3);
        let item = item(number(), "file", Some(64 << 20));
        let mut blocks = (0..64).map(|number: u64| {
            if number == 3 {
                options.limits.stop.store(true, Ordering::Release);
            }
            (number << 20, &block[..])
        });
        let sent = session.send(&item, Contents::Blocks(&mut blocks));
        sent.unwrap_err();
        drop(session);
        served.wait_for("given up");
        assert_eq!(dirs.names(), [""; 0], "{method}");
    }
}
