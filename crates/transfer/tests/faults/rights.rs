//! The owner and the permissions of files that arrive: never more rights than the source and the
//! umask allow, and those of a file that is replaced.

use crate::common::{
    PLAN, Place, Served, bytes, receive_methods, receive_options, send, send_options,
};
use oscope_transfer::method::{ReceiveMethod, SendMethod};
use oscope_transfer::receiver;
use oscope_transfer::sender::Plan;
use std::fs::{self, DirBuilder, File};
use std::os::unix::fs::{DirBuilderExt, FileExt, MetadataExt, PermissionsExt, chown};
use std::path::Path;

/// A file that arrives without a name, one that lies among the incomplete ones, and one in parts.
const SIZES: [(usize, u16); 3] = [(10, 1), (300 << 10, 1), (3 << 20, 2)];
/// A user id that is neither this test's nor anybody's.
const ANOTHER: u32 = 54_324;

fn set_mode(path: &Path, mode: u32) {
    fs::set_permissions(path, PermissionsExt::from_mode(mode)).expect("it is ours");
}

fn mode(path: &Path) -> u32 {
    fs::metadata(path).expect("it is there").mode() & 0o7777
}

/// The umask, as it shows in a new file.
fn umask(place: &Place) -> u32 {
    let path = place.root.path().join("new");
    fs::OpenOptions::new()
        .create(true)
        .truncate(true)
        .write(true)
        .open(&path)
        .expect("there is room");
    let directory = place.root.path().join("new directory");
    DirBuilder::new()
        .mode(0o777)
        .create(&directory)
        .expect("there is room");
    let umask = 0o777 & !mode(&directory);
    assert_eq!(mode(&path), 0o666 & !umask);
    umask
}

/// The mode that a source of this mode and size arrives with.
fn arrived(
    place: &Place,
    source: u32,
    (size, streams): (usize, u16),
    plan: Plan,
    force: bool,
) -> u32 {
    let served = Served::start(receiver::Options {
        force,
        ..receive_options(&place.to(), ReceiveMethod::File)
    });
    let job = place.file("file", &bytes(size, 5));
    set_mode(&place.root.path().join("from/file"), source);
    let plan = Plan { streams, ..plan };
    let (_, outcomes) = send(&served, &[job], plan, &send_options(SendMethod::File));
    assert!(outcomes[0].failure.is_none(), "{outcomes:?}");
    mode(&place.to().join("file"))
}

#[test]
fn a_new_file_is_open_to_no_more_users_than_its_source_and_the_umask_allow() {
    let place = Place::new();
    let umask = umask(&place);
    let keeping = Plan {
        keep_mode: true,
        ..PLAN
    };
    for size in SIZES {
        for source in [0o600, 0o640, 0o666, 0o4777, 0o2755] {
            for (plan, expected) in [(PLAN, source & 0o777 & !umask), (keeping, source & 0o777)] {
                let found = arrived(&place, source, size, plan, false);
                assert_eq!(
                    found, expected,
                    "{found:o} from {source:o}, {size:?}, {plan:?}"
                );
                fs::remove_file(place.to().join("file")).unwrap();
            }
        }
    }
}

#[test]
fn a_replaced_file_keeps_its_owner_and_its_mode() {
    let place = Place::new();
    let there = place.to().join("file");
    let keeping = Plan {
        keep_mode: true,
        ..PLAN
    };
    for size in SIZES {
        for (before, plan, expected) in [
            (0o600, PLAN, 0o600),
            (0o644, PLAN, 0o644),
            (0o4755, PLAN, 0o755),
            (0o600, keeping, 0o640),
        ] {
            fs::write(&there, "before").unwrap();
            let is_another = chown(&there, Some(ANOTHER), Some(ANOTHER)).is_ok();
            if !is_another {
                println!("skipped in part: it takes root to give a file to another user");
            }
            set_mode(&there, before);
            let found = arrived(&place, 0o640, size, plan, true);
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
    let hidden = format!("{:032x}", twox_hash::XxHash3_128::oneshot(b"file"));
    for method in receive_methods() {
        for (mode_before, resume) in [(0o4777, true), (0o4777, false), (0o666, true)] {
            let place = Place::new();
            let partials = place.to().join(".oscope-partial");
            // Others may have come in as long as the directory was open.
            DirBuilder::new().mode(0o755).create(&partials).unwrap();
            let hidden = partials.join(&hidden);
            fs::write(&hidden, &contents[..2 << 20]).unwrap();
            set_mode(&hidden, mode_before);
            let held = File::options().write(true).open(&hidden).unwrap();
            let umask = umask(&place);
            let served = Served::start(receive_options(&place.to(), method));
            let jobs = [place.file("file", &contents)];
            set_mode(&place.root.path().join("from/file"), 0o644);
            let plan = Plan { resume, ..PLAN };
            let (_, outcomes) = send(&served, &jobs, plan, &send_options(SendMethod::File));
            assert!(outcomes[0].failure.is_none(), "{method}: {outcomes:?}");
            held.write_all_at(b"changed", 0).unwrap();
            assert!(place.received("file") == contents, "{method}, {resume}");
            assert_eq!(mode(&place.to().join("file")), 0o644 & !umask, "{method}");
        }
    }
}

#[test]
fn an_incomplete_file_is_closed_to_others() {
    let place = Place::new();
    let served = Served::start(receive_options(&place.to(), ReceiveMethod::File));
    let stop = std::sync::Arc::new(std::sync::atomic::AtomicBool::new(false));
    let hold = crate::common::proxy::Mischief::Hold(1 << 20, std::sync::Arc::clone(&stop));
    let address = crate::common::proxy::between(served.address, hold);
    let jobs = [place.file("file", &bytes(3 << 20, 7))];
    std::thread::scope(|scope| {
        let sending = scope.spawn(|| {
            let options = send_options(SendMethod::File);
            crate::common::send_to(address, &jobs, PLAN, &options)
        });
        place.wait_for_a_file();
        let mode = mode(&place.partial());
        stop.store(true, std::sync::atomic::Ordering::Release);
        assert_eq!(mode, 0o600);
        assert_eq!(sending.join().unwrap().0.unwrap().files, 1);
    });
}
