//! Transfers that end early.

use super::Stream;
use crate::common::receiver::Receiver;
use crate::common::{Place, program, signal};
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
