//! Receivers that may not do everything.

use super::{TOKEN, assert_arrived, file};
use crate::common::receiver::Receiver;
use crate::common::{Place, as_user, ends, fresh_user, program};
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use testing::Command;

#[test]
fn hidden_files_are_taken_only_where_somebody_named_the_place() {
    let place = Place::new();
    file(&place, ".profile", 10);
    place.directory("here");
    let mut bare = Command::new(program());
    bare.current_dir(place.path("here"));
    let receiver = Receiver::with(bare, &["--once"]);
    let to = &receiver.address;
    check!(place => "send $.profile --to {to} | 1 | 2> --allow-hidden");
    receiver.end();
    let receiver = Receiver::start(&place.path("here"), &["--once"]);
    let to = &receiver.address;
    check!(place => "send $.profile --to {to} | 0");
    assert_arrived(&place, "here", ".profile");
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
    let token = place.file("everyone/token", TOKEN);
    file(&place, "one", 100);
    let nobody = || {
        let mut command = as_user(user);
        command.arg(&copy);
        command
    };
    // Without a token the receiver refuses other users.
    let receiver = Receiver::by(nobody(), &everyone, &[]);
    let to = &receiver.address;
    check!(place => "send $one --to {to} | 1 | 2> its own user only");
    drop(receiver);
    let receiver = Receiver::by(nobody(), &everyone, &["--once", "--token-file", &token]);
    let to = &receiver.address;
    check!(place => "send $one --token-file {token} --to {to} | 1 | 2> Permission denied");
    assert_eq!(receiver.end().status.code(), Some(1));
}

/// A command as another user, limited to one thread.
fn one_thread(user: u32, program: &Path) -> Command {
    let mut command = Command::new("prlimit");
    let user = as_user(user);
    command.arg("--nproc=1:100").arg(user.get_program());
    command.args(user.get_args()).arg(program);
    command
}

#[test]
fn where_no_thread_can_be_started_both_sides_say_so_and_the_receiver_lives() {
    let (place, user) = (Place::new(), fresh_user());
    let Some((_, copy)) = for_everyone(&place, user) else {
        return;
    };
    let token = place.file("everyone/token", TOKEN);
    file(&place, "one", 100_000);
    let to = place.directory("everyone/to");
    ends(Command::new("chown").args([&user.to_string(), &to]), "0");
    let options = ["--token-file", &token];
    let receiver = Receiver::by(one_thread(user, &copy), to.as_ref(), &options);
    let address = &receiver.address;
    let send = format!("send $one --token-file {token} --to {address}");
    check!(place => "{send} | 1 | 2> as many connections as it can have");
    // The limit counts all threads of the user, so the sender has none either.
    let mut sender = one_thread(user, &copy);
    sender.args(["send", "--to", address, &place.name("one")]);
    let sender = sender.args(options).output().expect("the program starts");
    assert!(!sender.status.success(), "{sender:?}");
    // Root may have no right to raise the limit of other users.
    let pid = receiver.id().to_string();
    let raise = ["prlimit", "--pid", &pid, "--nproc=100:100"];
    ends(as_user(user).args(raise), "0");
    check!(place => "{send} | 0");
    assert_eq!(place.names("everyone/to"), ["one"]);
}
