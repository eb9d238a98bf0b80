//! Transfers that end early, and go on later.

use crate::common::receiver::Receiver;
use crate::common::{self, Place, program};
use crate::{Stream, file, send, signal, text};
use std::fs;
use std::path::Path;
use std::process::Stdio;
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
            let stderr = String::from_utf8_lossy(&output.stderr).into_owned();
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
        let stderr = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(stderr.contains("the peer is gone"), "{stderr}");
        assert!(!to.join("other").exists());
    }
}

#[test]
fn a_killed_receiver_is_started_again_and_resumed() {
    let place = Place::new();
    let to = place.path("to");
    let one = file(&place, "one", 60_000_000);
    let receiver = Receiver::start(&to, &[]);
    let sender = Command::new(program())
        .args(["send", text(&one), "--to", &receiver.address])
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .expect("the program starts");
    let partial = || fs::read_dir(&to).expect("it is there").count() > 0;
    assert!(common::wait_for(partial), "nothing arrived");
    drop(receiver);
    let output = sender.wait_with_output().expect("it ends");
    if to.join("one").exists() {
        // The transfer was faster than the kill.
        assert!(fs::read(to.join("one")).expect("whole") == fs::read(&one).expect("there"));
        return;
    }
    assert_eq!(output.status.code(), Some(1));
    let receiver = Receiver::start(&to, &[]);
    send(&receiver, &[text(&one), "--resume"])
        .assert()
        .success();
    assert!(fs::read(to.join("one")).expect("whole") == fs::read(&one).expect("there"));
    assert_eq!(fs::read_dir(&to).expect("it is there").count(), 1);
}
