//! Transfers that end early, and go on later.

use super::{Stream, assert_arrived, file};
use crate::common::receiver::Receiver;
use crate::common::{Place, program, signal, start, wait_until};
use std::path::Path;
use testing::Command;

/// Starts to send an endless stream, and waits until some of it has arrived.
fn endless(receiver: &Receiver, to: &Path, name: &str) -> Stream {
    let mut stream = Stream::start(Command::new(program()), &receiver.address, name, &[]);
    stream.write_some_to(to);
    stream
}

#[test]
fn ctrl_c_and_kill_on_either_side_leave_no_file_under_its_name() {
    for (name, code) in [("INT", Some(130)), ("KILL", None)] {
        let place = Place::new();
        let to = place.path("to");
        let receiver = Receiver::start(&to, &[]);
        let sender = endless(&receiver, &to, "file");
        let output = sender.end_by(name);
        assert_eq!(output.status.code(), code, "{output:?}");
        assert!(!to.join("file").exists());
        if name == "INT" {
            let stderr = String::from_utf8_lossy(&output.stderr);
            assert!(stderr.contains("interrupted; no file arrived"), "{stderr}");
            assert!(!stderr.contains("--resume"), "{stderr}");
        }

        let sender = endless(&receiver, &to, "other");
        signal(name, receiver.id());
        // If the stream ended earlier, the file might be complete before the receiver ends.
        let ended = receiver.end();
        assert_eq!(ended.status.code(), code, "{ended:?}");
        let output = sender.end();
        assert_eq!(output.status.code(), Some(1), "{output:?}");
        let stderr = String::from_utf8_lossy(&output.stderr);
        assert!(stderr.contains("the peer is gone"), "{stderr}");
        assert!(!to.join("other").exists());
    }
}

#[test]
fn a_killed_receiver_is_started_again_and_resumed() {
    let place = Place::new();
    let to = place.path("to");
    file(&place, "one", 60_000_000);
    let receiver = Receiver::start(&to, &[]);
    let send = format!("send $one --to {}", receiver.address);
    let sender = start(&mut place.line(&send));
    wait_until("some of it", || !place.names("to").is_empty());
    drop(receiver);
    let output = sender.wait_with_output().expect("it ends");
    // The transfer may have been faster than the kill.
    if !to.join("one").exists() {
        assert_eq!(output.status.code(), Some(1));
        let receiver = Receiver::start(&to, &[]);
        let to = &receiver.address;
        check!(place => "send $one --resume --to {to} | 0");
        assert_eq!(place.names("to"), ["one"]);
    }
    assert_arrived(&place, "to", "one");
}
