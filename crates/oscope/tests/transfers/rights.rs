//! Receivers that may not do everything.

use crate::common::receiver::Receiver;
use crate::common::{Place, as_user, may, program};
use crate::{TOKEN, file, send, text};
use predicates::str::contains;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

#[test]
fn hidden_files_are_taken_only_where_somebody_named_the_place() {
    let place = Place::new();
    let here = place.path("here");
    fs::create_dir(&here).expect("a directory");
    let hidden = file(&place, ".profile", 10);
    let mut bare = Command::new(program());
    bare.current_dir(&here);
    let receiver = Receiver::with(bare, &["--once"]);
    send(&receiver, &[text(&hidden)])
        .assert()
        .code(1)
        .stderr(contains("--allow-hidden"));
    receiver.end();
    let receiver = Receiver::start(&here, &["--once"]);
    send(&receiver, &[text(&hidden)]).assert().success();
    assert!(here.join(".profile").exists());
}

/// A world-readable directory, and a copy of the program in it.
fn for_everyone(place: &Place) -> (PathBuf, PathBuf) {
    let everyone = place.path("everyone");
    fs::create_dir(&everyone).expect("a directory");
    let copy = everyone.join("oscope");
    fs::copy(program(), &copy).expect("a copy that others may run");
    for path in [everyone.parent().expect("it has one"), &everyone] {
        let status = Command::new("chmod").arg("755").arg(path).status();
        assert!(status.expect("chmod(1) is there").success());
    }
    (everyone, copy)
}

#[test]
fn a_directory_that_may_not_be_written_to_is_an_error_of_the_file() {
    if !may("becoming another user") {
        return;
    }
    let place = Place::new();
    let (everyone, copy) = for_everyone(&place);
    let token = everyone.join("token");
    fs::write(&token, TOKEN).expect("a file");
    let one = file(&place, "one", 100);
    let nobody = || {
        let mut command = as_user(65534);
        command.arg(&copy);
        command
    };
    // Without a token the receiver refuses other users.
    let receiver = Receiver::by(nobody(), &everyone, &[]);
    send(&receiver, &[text(&one)])
        .assert()
        .code(1)
        .stderr(contains("its own user only"));
    drop(receiver);
    let arguments = ["--once", "--token-file", text(&token)];
    let receiver = Receiver::by(nobody(), &everyone, &arguments);
    send(&receiver, &[text(&one), "--token-file", text(&token)])
        .assert()
        .code(1)
        .stderr(contains("Permission denied"));
    assert_eq!(receiver.end().status.code(), Some(1));
}

/// A command as another user, limited to one thread.
fn one_thread(program: &Path) -> Command {
    let mut command = Command::new("prlimit");
    let user = as_user(61234);
    command
        .arg("--nproc=1:100")
        .arg(user.get_program())
        .args(user.get_args())
        .arg(program);
    command
}

#[test]
fn where_no_thread_can_be_started_both_sides_say_so_and_the_receiver_lives() {
    if !may("becoming another user") {
        return;
    }
    let place = Place::new();
    let (everyone, copy) = for_everyone(&place);
    let token = everyone.join("token");
    fs::write(&token, TOKEN).expect("a file");
    let one = file(&place, "one", 100_000);
    let to = everyone.join("to");
    fs::create_dir(&to).expect("a directory");
    let status = Command::new("chown").arg("61234").arg(&to).status();
    assert!(status.expect("chown(1) is there").success());
    let receiver = Receiver::by(one_thread(&copy), &to, &["--token-file", text(&token)]);
    let sending = || send(&receiver, &[text(&one), "--token-file", text(&token)]).assert();
    sending()
        .code(1)
        .stderr(contains("as many connections as it can have"));
    // The limit counts all threads of the user, so the sender has none either.
    let mut sender = one_thread(&copy);
    let sender = sender
        .args(["send", "--to", &receiver.address, text(&one)])
        .args(["--token-file", text(&token)])
        .output()
        .expect("the program starts");
    assert!(!sender.status.success(), "{sender:?}");
    let pid = receiver.id().to_string();
    // Root may lack the right to raise the limit of other users.
    let raised = as_user(61234)
        .args(["prlimit", "--pid", &pid, "--nproc=100:100"])
        .status();
    assert!(raised.expect("prlimit(1) is there").success());
    sending().success();
    assert!(to.join("one").exists());
}
