//! Scratch directories are removed, and nothing else is.
#![cfg(target_os = "linux")]

use std::fs::{self, File};
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};
use testing::{Command, Tmpfs};

use oscope_platform::scratch::{Removal, Scratch};

const REMOVAL: Removal = Removal {
    exit_wait: Duration::from_secs(5),
    unchanged_for: Duration::from_hours(24),
    is_own_name: |name| {
        ["file.", "threads."]
            .iter()
            .any(|group| name.starts_with(group))
    },
};
const ABANDONED: &str = "oscope-scratch-0123456789abcdef";

/// A directory as a killed owner leaves it.
fn abandoned(in_dir: &Path, name: &str) -> PathBuf {
    let path = in_dir.join(name);
    fs::create_dir_all(path.join("sub/sub")).expect("it is new");
    for file in ["lock", "sub/sub/data"] {
        fs::write(path.join(file), b"data").expect("its directory was just made");
    }
    path
}

#[test]
fn a_dropped_directory_is_removed_with_its_contents() {
    let dir = tempfile::tempdir().unwrap();
    let scratch = Scratch::create(dir.path(), &REMOVAL).unwrap();
    let path = scratch.path().to_owned();
    let mode = fs::metadata(&path).unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o700);
    fs::create_dir_all(scratch.file("a/b")).unwrap();
    fs::write(scratch.file("a/b/c"), b"data").unwrap();
    drop(scratch);
    assert!(!path.exists());
    assert_eq!(fs::read_dir(dir.path()).unwrap().count(), 0);
}

#[test]
fn removing_never_follows_a_link() {
    let dir = tempfile::tempdir().unwrap();
    let outside = tempfile::tempdir().unwrap();
    fs::write(outside.path().join("keep"), b"keep").unwrap();
    let scratch = Scratch::create(dir.path(), &REMOVAL).unwrap();
    symlink(outside.path(), scratch.file("link")).unwrap();
    drop(scratch);
    let swept = abandoned(dir.path(), ABANDONED);
    symlink(outside.path(), swept.join("sub/link")).unwrap();
    assert_eq!(Scratch::sweep(dir.path(), &REMOVAL).removed, [swept]);
    assert!(outside.path().join("keep").exists());
}

#[test]
fn a_sweep_leaves_alone_what_lives_and_what_is_foreign() {
    let dir = tempfile::tempdir().unwrap();
    let living = Scratch::create(dir.path(), &REMOVAL).unwrap();

    let foreign_name = abandoned(dir.path(), "oscope-scratch-mine");
    let upper_case = abandoned(dir.path(), "oscope-scratch-0123456789ABCDEF");
    let other = abandoned(dir.path(), "photographs");
    let without_lock = dir.path().join("oscope-scratch-0000000000000000");
    fs::create_dir(&without_lock).unwrap();
    let target = tempfile::tempdir().unwrap();
    let linked = abandoned(target.path(), ABANDONED);
    let link = dir.path().join("oscope-scratch-1111111111111111");
    symlink(&linked, &link).unwrap();
    let linked_lock = dir.path().join("oscope-scratch-2222222222222222");
    fs::create_dir(&linked_lock).unwrap();
    symlink(linked.join("lock"), linked_lock.join("lock")).unwrap();
    let piped_lock = dir.path().join("oscope-scratch-3333333333333333");
    fs::create_dir(&piped_lock).unwrap();
    let made = Command::new("mkfifo").arg(piped_lock.join("lock")).status();
    assert!(made.unwrap().success());
    let file = dir.path().join("oscope-scratch-4444444444444444");
    fs::write(&file, b"").unwrap();

    let swept = abandoned(dir.path(), ABANDONED);
    assert_eq!(
        Scratch::sweep(dir.path(), &REMOVAL).removed,
        std::slice::from_ref(&swept)
    );
    assert!(!swept.exists());
    for kept in [
        living.path(),
        &foreign_name,
        &upper_case,
        &other,
        &without_lock,
        &linked,
        &link,
        &linked_lock,
        &piped_lock,
        &file,
    ] {
        assert!(kept.exists(), "{}", kept.display());
    }
}

/// Sets the times of `path` as if nothing had changed for two days.
fn age(path: &Path) {
    let then = SystemTime::now() - Duration::from_hours(48);
    let opened = File::open(path).expect("it is there");
    opened.set_modified(then).expect("it is ours");
}

#[test]
fn a_directory_without_its_lock_is_swept_once_it_is_old_and_surely_ours() {
    let dir = tempfile::tempdir().unwrap();
    let without_lock = |number: u64, entries: &[&str]| {
        let path = dir.path().join(format!("oscope-scratch-{number:016x}"));
        fs::create_dir(&path).unwrap();
        for entry in entries {
            let entry = path.join(entry);
            fs::write(&entry, b"data").unwrap();
            age(&entry);
        }
        age(&path);
        path
    };
    let cut_off = without_lock(1, &[]);
    let half_made = without_lock(2, &["lock.new"]);
    let unlocked = without_lock(3, &["file.block_size 4096", "threads.io", "elsewhere"]);
    let sub = unlocked.join("file.metadata 20");
    fs::create_dir(&sub).unwrap();
    fs::write(sub.join("a00000000"), b"").unwrap();
    age(&sub);
    age(&unlocked);

    let of_somebody = without_lock(4, &["file.block_size 4096", "thesis.odt2"]);
    let linked = without_lock(5, &[]);
    symlink(dir.path(), linked.join("file.sync")).unwrap();
    age(&linked);
    let in_use = without_lock(6, &["file.sync"]);
    fs::write(in_use.join("file.sync"), b"more").unwrap();
    age(&in_use);
    let fresh = without_lock(7, &["file.sync"]);
    fs::write(fresh.join("lock.new"), b"").unwrap();
    let being_made = without_lock(8, &["lock.new"]);
    let lock = File::open(being_made.join("lock.new")).unwrap();
    lock.try_lock().unwrap();

    let mut swept = Scratch::sweep(dir.path(), &REMOVAL).removed;
    swept.sort();
    assert_eq!(swept, [cut_off, half_made, unlocked]);
    for kept in [of_somebody, linked, in_use, fresh, being_made] {
        assert!(kept.exists(), "{}", kept.display());
        assert!(!kept.join("lock").exists());
    }
}

#[test]
fn a_sweep_at_any_moment_never_takes_one_in_use() {
    let dir = tempfile::tempdir().unwrap();
    std::thread::scope(|scope| {
        let owners: Vec<_> = (0..2)
            .map(|_| {
                scope.spawn(|| {
                    for _ in 0..200 {
                        let scratch = Scratch::create(dir.path(), &REMOVAL).unwrap();
                        fs::write(scratch.file("data"), b"data").unwrap();
                        std::thread::sleep(Duration::from_micros(100));
                        assert!(scratch.file("data").exists());
                    }
                })
            })
            .collect();
        // A sweep may remove a directory that its owner has emptied and is about to remove. The
        // owners themselves check that no directory in use is removed.
        while owners.iter().any(|owner| !owner.is_finished()) {
            Scratch::sweep(dir.path(), &REMOVAL);
        }
    });
}

#[test]
fn who_sweeps_one_sweeps_all_others_that_it_remembers() {
    let places: Vec<_> = (0..4).map(|_| tempfile::tempdir().unwrap()).collect();
    let (here, there) = (places[0].path(), places[1].path());
    let entries = || {
        places
            .iter()
            .map(|place| fs::read_dir(place).unwrap().count())
    };
    let scratch = Scratch::create(here, &REMOVAL).unwrap();
    let others = places[1..].iter();
    let others: Vec<_> = others
        .map(|place| scratch.create_elsewhere(place.path()).unwrap())
        .collect();
    assert!(Scratch::sweep(here, &REMOVAL).removed.is_empty());
    assert!(entries().eq([1; 4]));
    let memory = fs::read(scratch.file("elsewhere")).unwrap();
    drop((scratch, others));
    assert!(entries().eq([0; 4]));

    // The owner was killed, and two directories record each other.
    for place in &places {
        abandoned(place.path(), ABANDONED);
    }
    fs::write(here.join(ABANDONED).join("elsewhere"), memory).unwrap();
    let back = here.canonicalize().unwrap();
    let back = back.to_str().unwrap();
    fs::write(there.join(ABANDONED).join("elsewhere"), back).unwrap();
    assert_eq!(Scratch::sweep(here, &REMOVAL).removed.len(), 4);
    assert!(entries().eq([0; 4]));

    // The recorded directory is gone, or a link is in its place: only the directory itself is
    // removed.
    let local = abandoned(here, ABANDONED);
    let remote = abandoned(there, ABANDONED);
    symlink(there, local.join("elsewhere")).unwrap();
    assert_eq!(Scratch::sweep(here, &REMOVAL).removed, [local]);
    assert!(remote.exists());

    let scratch = Scratch::create(here, &REMOVAL).unwrap();
    let error = scratch.create_elsewhere(&there.join("none")).unwrap_err();
    assert!(error.to_string().contains("none does not exist"), "{error}");
}

#[test]
fn a_lock_is_not_inherited_by_programs_that_are_started() {
    let dir = tempfile::tempdir().unwrap();
    let scratch = Scratch::create(dir.path(), &REMOVAL).unwrap();
    let mut child = Command::new("sleep").arg("1000").spawn().unwrap();
    let lock = File::open(scratch.file("lock")).unwrap();
    lock.try_lock().unwrap_err();
    // Simulates a killed owner, which does not remove its directory.
    let moved = dir.path().join(ABANDONED);
    fs::rename(scratch.path(), &moved).unwrap();
    drop(scratch);
    // A child that another test is just starting may hold the lock until its exec.
    let mut sweeps = (0..10_000).map(|_| {
        std::thread::sleep(Duration::from_millis(1));
        Scratch::sweep(dir.path(), &REMOVAL).removed
    });
    assert_eq!(sweeps.find(|swept| !swept.is_empty()), Some(vec![moved]));
    child.kill().unwrap();
    child.wait().unwrap();
}

#[test]
fn the_obstacle_is_reported() {
    let dir = tempfile::tempdir().unwrap();
    let missing = dir.path().join("none");
    let error = Scratch::create(&missing, &REMOVAL).unwrap_err();
    let message = format!(
        "{} does not exist: make it, or name another directory",
        missing.display()
    );
    assert_eq!(error.to_string(), message);
    assert_eq!(
        Scratch::sweep(&missing, &REMOVAL).removed,
        Vec::<PathBuf>::new()
    );

    let file = dir.path().join("file");
    fs::write(&file, b"").unwrap();
    let error = Scratch::create(&file, &REMOVAL).unwrap_err();
    assert!(error.to_string().contains("is not a directory"), "{error}");
}

#[test]
fn a_directory_without_right_is_reported() {
    let dir = tempfile::tempdir().unwrap();
    fs::set_permissions(dir.path(), fs::Permissions::from_mode(0o500)).unwrap();
    match Scratch::create(dir.path(), &REMOVAL) {
        Ok(_) => println!("skipped: this process may write everywhere"),
        Err(error) => assert!(
            error.to_string().starts_with("no right to write"),
            "{error}"
        ),
    }
}

#[test]
fn a_read_only_and_a_full_file_system_are_reported_and_left_as_they_were() {
    let refused = |options| {
        let place = tempfile::tempdir().unwrap();
        let _mounted = Tmpfs::mount(place.path(), options)?;
        let error = Scratch::create(place.path(), &REMOVAL).unwrap_err();
        assert_eq!(fs::read_dir(place.path()).unwrap().count(), 0);
        Some(error)
    };
    if let Some(error) = refused("ro") {
        assert!(
            error.to_string().contains("read-only file system"),
            "{error}"
        );
    }
    // Room for the directory but not for the lock file in it.
    if let Some(error) = refused("nr_inodes=2") {
        assert!(error.to_string().starts_with("no space left"), "{error}");
    }
}

#[test]
fn what_its_files_take_is_counted_and_links_are_not_followed() {
    let dir = tempfile::tempdir().unwrap();
    let elsewhere = tempfile::tempdir().unwrap();
    fs::write(elsewhere.path().join("large"), vec![1; 8 << 20]).unwrap();
    fs::create_dir(dir.path().join("sub")).unwrap();
    fs::write(dir.path().join("sub/file"), vec![1; 1 << 20]).unwrap();
    symlink(elsewhere.path(), dir.path().join("link")).unwrap();
    let found = oscope_platform::scratch::bytes_below(dir.path());
    assert!((1 << 20..2 << 20).contains(&found), "{found}");
    let nowhere = dir.path().join("nowhere");
    assert_eq!(oscope_platform::scratch::bytes_below(&nowhere), 0);
}
