//! Things that another user planted where incomplete files are kept.

use crate::common::{
    PLAN, Place, Served, bytes, receive_methods, receive_options, send, send_options,
};
use oscope_transfer::method::{ReceiveMethod, SendMethod};
use oscope_transfer::receiver;
use oscope_transfer::sender::Plan;
use std::fs::{self, DirBuilder};
use std::os::unix::fs::{FileTypeExt, PermissionsExt, chown, symlink};
use std::path::{Path, PathBuf};
use testing::Command;

const PRECIOUS: &[u8] = b"of somebody else, and not to be touched";
/// A user id that is neither this test's nor anybody's.
const ANOTHER: u32 = 54_322;

/// A receiver's directory with a trap in it, and the trap's target.
struct Trap {
    place: Place,
    /// Another user's file.
    victim: PathBuf,
    /// Another user's directory.
    elsewhere: PathBuf,
    partials: PathBuf,
    /// The path of "file" while it is incomplete.
    hidden: PathBuf,
}

impl Trap {
    fn new() -> Self {
        let place = Place::new();
        let (victim, elsewhere) = (
            place.root.path().join("victim"),
            place.root.path().join("elsewhere"),
        );
        fs::write(&victim, PRECIOUS).expect("there is room");
        fs::create_dir(&elsewhere).expect("there is room");
        let partials = place.to().join(".oscope-partial");
        let hidden = format!("{:032x}", twox_hash::XxHash3_128::oneshot(b"file"));
        Self {
            place,
            victim,
            elsewhere,
            hidden: partials.join(hidden),
            partials,
        }
    }

    /// A trap with a correct directory for incomplete files.
    fn inside() -> Self {
        let trap = Self::new();
        make_directory(&trap.partials, 0o700);
        trap
    }

    /// Sends a file by every method; complains unless each attempt fails, the failure names the
    /// planted thing, and nothing was written.
    fn assert_nothing_goes_in(&self, name: &str) {
        let large = bytes(3 << 20, 1);
        let resume = Plan {
            resume: true,
            ..PLAN
        };
        let two = Plan { streams: 2, ..PLAN };
        for (plan, force) in [(PLAN, false), (PLAN, true), (resume, false), (two, false)] {
            for method in receive_methods() {
                let served = Served::start(receiver::Options {
                    force,
                    ..receive_options(&self.place.to(), method)
                });
                let jobs = [self.place.file("file", &large)];
                let (_, outcomes) = send(&served, &jobs, plan, &send_options(SendMethod::File));
                let failure = outcomes[0].failure.clone().unwrap_or_default();
                let names_it = failure.contains(".oscope-partial");
                assert!(names_it, "{name}, {method}, {plan:?}: {outcomes:?}");
                assert!(!self.place.to().join("file").exists(), "{name}, {method}");
                assert_eq!(
                    fs::read(&self.victim).expect("it is there"),
                    PRECIOUS,
                    "{name}, {method}"
                );
                let elsewhere = fs::read_dir(&self.elsewhere).expect("it is there");
                assert_eq!(elsewhere.count(), 0, "{name}, {method}");
            }
        }
    }
}

fn make_directory(path: &Path, mode: u32) {
    DirBuilder::new().create(path).expect("it is not there yet");
    // Sets the mode regardless of the umask.
    fs::set_permissions(path, PermissionsExt::from_mode(mode)).expect("it is there");
}

fn make_pipe(path: &Path) {
    let made = Command::new("mkfifo").arg(path).status();
    assert!(made.is_ok_and(|status| status.success()));
}

/// Gives a thing to another user; returns true if that is allowed.
fn give_away(path: &Path) -> bool {
    let is_given = chown(path, Some(ANOTHER), Some(ANOTHER)).is_ok();
    if !is_given {
        println!("skipped: it takes root to give a file to another user");
    }
    is_given
}

#[test]
fn a_directory_that_others_can_write_to_is_not_used() {
    let trap = Trap::new();
    make_directory(&trap.partials, 0o777);
    trap.assert_nothing_goes_in("a directory for all");
    assert_eq!(fs::read_dir(&trap.partials).unwrap().count(), 0);
    // Nor a directory that a group can write to.
    fs::set_permissions(&trap.partials, PermissionsExt::from_mode(0o770)).unwrap();
    trap.assert_nothing_goes_in("a directory for a group");
}

#[test]
fn a_directory_of_another_user_is_not_used() {
    let trap = Trap::new();
    make_directory(&trap.partials, 0o700);
    if give_away(&trap.partials) {
        trap.assert_nothing_goes_in("another's directory");
        assert_eq!(fs::read_dir(&trap.partials).unwrap().count(), 0);
    }
}

#[test]
fn a_link_a_pipe_and_a_file_are_no_directory() {
    let trap = Trap::new();
    symlink(&trap.elsewhere, &trap.partials).unwrap();
    trap.assert_nothing_goes_in("a link to a directory");
    fs::remove_file(&trap.partials).unwrap();
    symlink("nowhere", &trap.partials).unwrap();
    trap.assert_nothing_goes_in("a link to nothing");
    assert!(!trap.place.to().join("nowhere").exists());
    fs::remove_file(&trap.partials).unwrap();
    make_pipe(&trap.partials);
    trap.assert_nothing_goes_in("a pipe");
    fs::remove_file(&trap.partials).unwrap();
    fs::write(&trap.partials, PRECIOUS).unwrap();
    trap.assert_nothing_goes_in("a file");
    assert_eq!(fs::read(&trap.partials).unwrap(), PRECIOUS);
}

#[test]
fn a_file_with_a_second_name_is_not_written_to() {
    let trap = Trap::inside();
    fs::hard_link(&trap.victim, &trap.hidden).unwrap();
    trap.assert_nothing_goes_in("a second name");
}

#[test]
fn a_link_a_pipe_and_a_directory_are_no_partial() {
    let trap = Trap::inside();
    symlink(&trap.victim, &trap.hidden).unwrap();
    trap.assert_nothing_goes_in("a link to a file");
    fs::remove_file(&trap.hidden).unwrap();
    symlink(trap.elsewhere.join("new"), &trap.hidden).unwrap();
    trap.assert_nothing_goes_in("a link to where nothing is");
    fs::remove_file(&trap.hidden).unwrap();
    make_pipe(&trap.hidden);
    trap.assert_nothing_goes_in("a pipe");
    assert!(
        fs::symlink_metadata(&trap.hidden)
            .unwrap()
            .file_type()
            .is_fifo()
    );
    fs::remove_file(&trap.hidden).unwrap();
    make_directory(&trap.hidden, 0o700);
    trap.assert_nothing_goes_in("a directory");
}

#[test]
fn a_file_of_another_user_does_not_become_a_file_of_this_one() {
    let trap = Trap::inside();
    fs::write(&trap.hidden, PRECIOUS).unwrap();
    fs::set_permissions(&trap.hidden, PermissionsExt::from_mode(0o666)).unwrap();
    if give_away(&trap.hidden) {
        trap.assert_nothing_goes_in("another's file");
        assert_eq!(fs::read(&trap.hidden).unwrap(), PRECIOUS);
    }
}

#[test]
fn a_trap_for_one_name_is_none_for_others() {
    let trap = Trap::inside();
    fs::hard_link(&trap.victim, &trap.hidden).unwrap();
    let served = Served::start(receive_options(&trap.place.to(), ReceiveMethod::File));
    let large = bytes(3 << 20, 2);
    let jobs = [
        trap.place.file("other", &large),
        trap.place.file("file", b"small"),
    ];
    let (summary, outcomes) = send(&served, &jobs, PLAN, &send_options(SendMethod::File));
    // A small file never lies there.
    assert_eq!(summary.unwrap().files, 2, "{outcomes:?}");
    assert!(trap.place.received("other") == large);
    assert_eq!(trap.place.received("file"), b"small");
    assert_eq!(fs::read(&trap.victim).unwrap(), PRECIOUS);
}

#[test]
fn a_receiver_whose_directory_is_gone_says_so() {
    let place = Place::new();
    let served = Served::start(receive_options(&place.to(), ReceiveMethod::File));
    fs::remove_dir(place.to()).unwrap();
    let jobs = [
        place.file("large", &bytes(3 << 20, 3)),
        place.file("small", b"x"),
    ];
    let (summary, outcomes) = send(&served, &jobs, PLAN, &send_options(SendMethod::File));
    assert_eq!(summary.unwrap().failed, 2);
    for outcome in outcomes {
        let failure = outcome.failure.unwrap();
        assert!(failure.contains("No such file"), "{failure}");
    }
}
