//! The ways of moving bytes.

use super::{Stream, assert_arrived, file};
use crate::common::receiver::Receiver;
use crate::common::{Place, program};
use std::fs;
use std::time::Duration;
use testing::Command;

#[test]
fn every_method_is_known_by_name_and_the_usual_one_needs_no_right() {
    let place = Place::new();
    file(&place, "one", 1_000_000);
    for (sender, receiver) in [("auto", "file"), ("uring", "uring"), ("sendfile", "mmap")] {
        if sender == "uring"
            && let Err(error) = platform::stream_ring::StreamRing::new(1, Duration::ZERO)
        {
            eprintln!("skipped: {error}");
            continue;
        }
        let options = ["--once", "--method", receiver];
        let receiver = Receiver::start(&place.path(sender), &options);
        let to = &receiver.address;
        check!(place => "send $one --method {sender} --to {to} | 0");
        assert!(receiver.end().status.success());
        assert_arrived(&place, sender, "one");
    }
}

#[test]
fn the_usual_method_receives_what_each_way_that_it_tries_receives() {
    for to in ["/var/tmp", "/dev/shm"] {
        let Ok(to) = tempfile::tempdir_in(to) else {
            eprintln!("skipped: there is no {to}");
            continue;
        };
        for options in [&[][..], &["--no-checksum"]] {
            let to = to.path().join(options.len().to_string());
            let receiver = Receiver::start(&to, &["--once"]);
            // More than both ways get on trial.
            let program = Command::new(program());
            let mut stream = Stream::start(program, &receiver.address, "file", options);
            for byte in 0..10 {
                stream.write(byte, 4);
            }
            let output = stream.end();
            assert!(output.status.success(), "{output:?}");
            assert!(receiver.end().status.success());
            let arrived = fs::read(to.join("file")).expect("it arrived");
            assert_eq!(arrived.len(), 40 << 20);
            for (block, byte) in arrived.chunks(4 << 20).zip(0..) {
                assert!(block.iter().all(|&there| there == byte), "{byte}");
            }
        }
    }
}
