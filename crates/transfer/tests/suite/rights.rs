//! The owner and the permissions of files that arrive: never more rights than the source and the
//! umask allow, and those of a file that is replaced.

use crate::common::{
    KEEPING, PLAN, Served, TestDirectories, bytes, receive_methods, send_options, send_to, set_mode,
};
use oscope_transfer::method::SendMethod;
use oscope_transfer::sender::Plan;
use std::fs::{self, File};
use std::os::unix::fs::{FileExt, MetadataExt, chown};
use std::path::Path;
use std::sync::atomic::Ordering;

/// A file that arrives without a name, one that lies among the incomplete ones, and one in parts.
const SIZES: [(usize, u16); 3] = [(10, 1), (300 << 10, 1), (3 << 20, 2)];
/// A user id that is neither this test's nor anybody's.
const ANOTHER: u32 = 54_324;

fn mode(path: &Path) -> u32 {
    fs::metadata(path).expect("it is there").mode() & 0o7777
}

/// The umask, as it shows in a new directory.
fn umask(dirs: &TestDirectories) -> u32 {
    let path = dirs.root.path().join("new");
    fs::create_dir(&path).expect("there is room");
    0o777 & !mode(&path)
}

/// The mode that a source of this mode and size arrives with.
fn arrived(
    dirs: &TestDirectories,
    source: u32,
    size: (usize, u16),
    plan: Plan,
    force: bool,
) -> u32 {
    let served = Served::with(dirs, |it| it.force = force);
    let job = dirs.file("file", &bytes(size.0, 5));
    set_mode(&dirs.from("file"), source);
    let plan = Plan {
        streams: size.1,
        ..plan
    };
    served.send(&[job], plan).assert(1, 0);
    mode(&dirs.to().join("file"))
}

#[test]
fn a_new_file_is_open_to_no_more_users_than_its_source_and_the_umask_allow() {
    let dirs = TestDirectories::new();
    let umask = umask(&dirs);
    for size in SIZES {
        for source in [0o600, 0o640, 0o666, 0o4777, 0o2755] {
            for (plan, expected) in [(PLAN, source & 0o777 & !umask), (KEEPING, source & 0o777)] {
                let found = arrived(&dirs, source, size, plan, false);
                assert_eq!(
                    found, expected,
                    "{found:o} from {source:o}, {size:?}, {plan:?}"
                );
                fs::remove_file(dirs.to().join("file")).unwrap();
            }
        }
    }
}

#[test]
fn a_replaced_file_keeps_its_owner_and_its_mode() {
    let dirs = TestDirectories::new();
    let there = dirs.to().join("file");
    for size in SIZES {
        for (before, plan, expected) in [
            (0o600, PLAN, 0o600),
            (0o644, PLAN, 0o644),
            (0o4755, PLAN, 0o755),
            (0o600, KEEPING, 0o640),
        ] {
            fs::write(&there, "before").unwrap();
            let is_another = chown(&there, Some(ANOTHER), Some(ANOTHER)).is_ok();
            if !is_another {
                println!("skipped in part: it takes root to give a file to another user");
            }
            set_mode(&there, before);
            let found = arrived(&dirs, 0o640, size, plan, true);
            assert_eq!(
                found, expected,
                "{found:o} over {before:o}, {size:?}, {plan:?}"
            );
            let metadata = fs::metadata(&there).unwrap();
            if is_another {
                assert_eq!(
                    (metadata.uid(), metadata.gid()),
                    (ANOTHER, ANOTHER),
                    "{size:?}"
                );
            }
            assert_eq!(metadata.len(), size.0 as u64);
            fs::remove_file(&there).unwrap();
        }
    }
}

#[test]
fn an_incomplete_file_to_which_others_had_rights_is_made_anew() {
    let contents = bytes(3 << 20, 6);
    for method in receive_methods() {
        for (mode_before, resume) in [(0o4777, true), (0o4777, false), (0o666, true)] {
            let dirs = TestDirectories::new();
            // Others may have come in as long as the directory was open.
            dirs.make_partials(0o755);
            let hidden = dirs.hidden("file");
            fs::write(&hidden, &contents[..2 << 20]).unwrap();
            set_mode(&hidden, mode_before);
            let held = File::options().write(true).open(&hidden).unwrap();
            let umask = umask(&dirs);
            let served = Served::by(&dirs, method);
            let jobs = [dirs.file("file", &contents)];
            set_mode(&dirs.from("file"), 0o644);
            served.send(&jobs, Plan { resume, ..PLAN }).assert(1, 0);
            held.write_all_at(b"changed", 0).unwrap();
            assert!(dirs.received("file") == contents, "{method}, {resume}");
            assert_eq!(mode(&dirs.to().join("file")), 0o644 & !umask, "{method}");
        }
    }
}

#[test]
fn an_incomplete_file_is_closed_to_others() {
    let dirs = TestDirectories::new();
    let served = Served::of(&dirs);
    let (address, go_on) = served.hold(1 << 20);
    let jobs = [dirs.file("file", &bytes(3 << 20, 7))];
    std::thread::scope(|scope| {
        let options = send_options(SendMethod::File);
        let sending = scope.spawn(move || send_to(address, &jobs, PLAN, &options));
        dirs.wait_for_a_file();
        let mode = mode(&dirs.partial());
        go_on.store(true, Ordering::Release);
        assert_eq!(mode, 0o600);
        sending.join().unwrap().assert(1, 0);
    });
}
