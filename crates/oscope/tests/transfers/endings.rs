//! Transfers that end early, and go on later.

use crate::common::receiver::Receiver;
use crate::common::{self, Place, program};
use crate::{file, send, signal, text};
use std::fs;
use std::io::Write;
use std::path::Path;
use std::process::{Child, Command, Stdio};

/// Starts to send an endless stream, and waits until some of it has arrived.
fn endless(receiver: &Receiver, to: &Path, name: &str) -> (Child, std::process::ChildStdin) {
    let mut sender = Command::new(program())
        .args(["send", "-", "--name", name, "--to", &receiver.address])
        .stdin(Stdio::piped())
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .spawn()
        .expect("the program starts");
    let mut input = sender.stdin.take().expect("a pipe");
    input.write_all(&vec![7; 4 << 20]).expect("it reads");
    let partial = || {
        let entries = fs::read_dir(to).expect("it is there").flatten();
        entries
            .filter_map(|entry| entry.metadata().ok())
            .any(|metadata| metadata.len() > 0)
    };
    assert!(common::wait_for(partial), "nothing arrived");
    (sender, input)
}

#[test]
fn ctrl_c_and_kill_on_either_side_leave_no_file_under_its_name() {
    for (name, code) in [("INT", Some(130)), ("KILL", None)] {
        let place = Place::new();
        let to = place.path("to");
        let receiver = Receiver::start(&to, &[]);
        let (sender, input) = endless(&receiver, &to, "file");
        signal(name, sender.id());
        // Only the interrupted sender needs its input closed; a kill ends it at once.
        if code.is_some() {
            drop(input);
        }
        let output = sender.wait_with_output().expect("it ends");
        assert_eq!(output.status.code(), code, "{output:?}");
        assert!(!to.join("file").exists());

        let (sender, input) = endless(&receiver, &to, "other");
        signal(name, receiver.id());
        let ended = receiver.end();
        // Closed only now: earlier, the file might be complete before the receiver ends.
        drop(input);
        assert_eq!(ended.status.code(), code, "{ended:?}");
        let output = sender.wait_with_output().expect("it ends");
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
