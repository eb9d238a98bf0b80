//! Receivers that may not do everything.

use crate::common::receiver::Receiver;
use crate::common::{Place, as_user, fresh_user, program};
use crate::{TOKEN, file, send, text};
use predicates::str::contains;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use testing::Command;

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

/// A directory that everybody may read, and a copy of the program that `user` may start; `None`, with the
/// reason printed, without the right to become that user.
fn for_everyone(place: &Place, user: u32) -> Option<(PathBuf, PathBuf)> {
    let copy = place.program_for(user)?;
    let everyone = place.path("everyone");
    fs::create_dir(&everyone).expect("a directory");
    let mode = fs::Permissions::from_mode(0o755);
    fs::set_permissions(&everyone, mode).expect("it is ours");
    Some((everyone, copy))
}

#[test]
fn a_directory_that_may_not_be_written_to_is_an_error_of_the_file() {
    let (place, user) = (Place::new(), fresh_user());
    let Some((everyone, copy)) = for_everyone(&place, user) else {
        return;
    };
    let token = everyone.join("token");
    fs::write(&token, TOKEN).expect("a file");
    let one = file(&place, "one", 100);
    let nobody = || {
        let mut command = as_user(user);
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
fn one_thread(user: u32, program: &Path) -> Command {
    let mut command = Command::new("prlimit");
    let user = as_user(user);
    command
        .arg("--nproc=1:100")
        .arg(user.get_program())
        .args(user.get_args())
        .arg(program);
    command
}

#[test]
fn where_no_thread_can_be_started_both_sides_say_so_and_the_receiver_lives() {
    let (place, user) = (Place::new(), fresh_user());
    let Some((everyone, copy)) = for_everyone(&place, user) else {
        return;
    };
    let token = everyone.join("token");
    fs::write(&token, TOKEN).expect("a file");
    let one = file(&place, "one", 100_000);
    let to = everyone.join("to");
    fs::create_dir(&to).expect("a directory");
    let status = Command::new("chown")
        .arg(user.to_string())
        .arg(&to)
        .status();
    assert!(status.expect("chown(1) is there").success());
    let receiver = Receiver::by(
        one_thread(user, &copy),
        &to,
        &["--token-file", text(&token)],
    );
    let sending = || send(&receiver, &[text(&one), "--token-file", text(&token)]).assert();
    sending()
        .code(1)
        .stderr(contains("as many connections as it can have"));
    // The limit counts all threads of the user, so the sender has none either.
    let mut sender = one_thread(user, &copy);
    let sender = sender
        .args(["send", "--to", &receiver.address, text(&one)])
        .args(["--token-file", text(&token)])
        .output()
        .expect("the program starts");
    assert!(!sender.status.success(), "{sender:?}");
    let pid = receiver.id().to_string();
    // Root may lack the right to raise the limit of other users.
    let raised = as_user(user)
        .args(["prlimit", "--pid", &pid, "--nproc=100:100"])
        .status();
    assert!(raised.expect("prlimit(1) is there").success());
    sending().success();
    assert!(to.join("one").exists());
}
