//! Things that another user planted where incomplete files are kept.

use crate::common::{
    PLAN, RESUME, Served, TWO, TestDirectories, bytes, make_pipe, receive_methods, set_mode,
};
use std::fs;
use std::os::unix::fs::{FileTypeExt, chown, symlink};
use std::path::{Path, PathBuf};

const PRECIOUS: &[u8] = b"of somebody else, and not to be touched";
/// A user id that is neither this test's nor anybody's.
const ANOTHER: u32 = 54_322;

/// A receiver's directory with a trap in it, and the trap's target.
struct Trap {
    dirs: TestDirectories,
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
        let dirs = TestDirectories::new();
        let [victim, elsewhere] = ["victim", "elsewhere"].map(|it| dirs.root.path().join(it));
        fs::write(&victim, PRECIOUS).expect("there is room");
        fs::create_dir(&elsewhere).expect("there is room");
        let partials = dirs.to().join(".oscope-partial");
        Self {
            victim,
            elsewhere,
            hidden: dirs.hidden("file"),
            partials,
            dirs,
        }
    }

    /// A trap with a correct directory for incomplete files.
    fn inside() -> Self {
        let trap = Self::new();
        trap.dirs.make_partials(0o700);
        trap
    }

    /// Sends a file by every method; complains unless each attempt fails, the failure names the
    /// planted thing, and nothing was written.
    fn assert_nothing_goes_in(&self, name: &str) {
        let large = bytes(3 << 20, 1);
        for (plan, force) in [(PLAN, false), (PLAN, true), (RESUME, false), (TWO, false)] {
            for method in receive_methods() {
                let served = Served::with(&self.dirs, |it| {
                    (it.force, it.method) = (force, Some(method));
                });
                let sent = served.send(&[self.dirs.file("file", &large)], plan);
                sent.assert_failure(0, ".oscope-partial");
                let case = format!("{name}, {method}, {plan:?}");
                assert!(!self.dirs.to().join("file").exists(), "{case}");
                let victim = fs::read(&self.victim).expect("it is there");
                assert_eq!(victim, PRECIOUS, "{case}");
                let elsewhere = fs::read_dir(&self.elsewhere).expect("it is there");
                assert_eq!(elsewhere.count(), 0, "{case}");
            }
        }
    }
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
    trap.dirs.make_partials(0o777);
    trap.assert_nothing_goes_in("a directory for all");
    assert_eq!(fs::read_dir(&trap.partials).unwrap().count(), 0);
    // Nor a directory that a group can write to.
    set_mode(&trap.partials, 0o770);
    trap.assert_nothing_goes_in("a directory for a group");
}

#[test]
fn a_directory_of_another_user_is_not_used() {
    let trap = Trap::inside();
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
    assert!(!trap.dirs.to().join("nowhere").exists());
    fs::remove_file(&trap.partials).unwrap();
    make_pipe(&trap.partials);
    trap.assert_nothing_goes_in("a pipe");
    fs::remove_file(&trap.partials).unwrap();
    fs::write(&trap.partials, PRECIOUS).unwrap();
    trap.assert_nothing_goes_in("a file");
    assert_eq!(fs::read(&trap.partials).unwrap(), PRECIOUS);
}

#[test]
fn a_link_a_pipe_a_directory_and_a_second_name_are_no_partial() {
    let trap = Trap::inside();
    fs::hard_link(&trap.victim, &trap.hidden).unwrap();
    trap.assert_nothing_goes_in("a second name");
    fs::remove_file(&trap.hidden).unwrap();
    symlink(&trap.victim, &trap.hidden).unwrap();
    trap.assert_nothing_goes_in("a link to a file");
    fs::remove_file(&trap.hidden).unwrap();
    symlink(trap.elsewhere.join("new"), &trap.hidden).unwrap();
    trap.assert_nothing_goes_in("a link to where nothing is");
    fs::remove_file(&trap.hidden).unwrap();
    make_pipe(&trap.hidden);
    trap.assert_nothing_goes_in("a pipe");
    let found = fs::symlink_metadata(&trap.hidden).unwrap();
    assert!(found.file_type().is_fifo());
    fs::remove_file(&trap.hidden).unwrap();
    fs::create_dir(&trap.hidden).unwrap();
    trap.assert_nothing_goes_in("a directory");
}

#[test]
fn a_file_of_another_user_does_not_become_a_file_of_this_one() {
    let trap = Trap::inside();
    fs::write(&trap.hidden, PRECIOUS).unwrap();
    set_mode(&trap.hidden, 0o666);
    if give_away(&trap.hidden) {
        trap.assert_nothing_goes_in("another's file");
        assert_eq!(fs::read(&trap.hidden).unwrap(), PRECIOUS);
    }
}

#[test]
fn a_trap_for_one_name_is_none_for_others() {
    let trap = Trap::inside();
    fs::hard_link(&trap.victim, &trap.hidden).unwrap();
    let served = Served::of(&trap.dirs);
    let large = bytes(3 << 20, 2);
    let jobs = [
        trap.dirs.file("other", &large),
        trap.dirs.file("file", b"small"),
    ];
    // A small file never lies there.
    served.send(&jobs, PLAN).assert(2, 0);
    assert!(trap.dirs.received("other") == large);
    assert_eq!(trap.dirs.received("file"), b"small");
    assert_eq!(fs::read(&trap.victim).unwrap(), PRECIOUS);
}

#[test]
fn a_receiver_whose_directory_is_gone_reports_that() {
    let dirs = TestDirectories::new();
    let served = Served::of(&dirs);
    fs::remove_dir(dirs.to()).unwrap();
    let jobs = [
        dirs.file("large", &bytes(3 << 20, 3)),
        dirs.file("small", b"x"),
    ];
    let sent = served.send(&jobs, PLAN);
    sent.assert(0, 2);
    for index in 0..2 {
        sent.assert_failure(index, "No such file");
    }
}
