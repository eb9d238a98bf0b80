//! Stores that are damaged, full or read-only.

use crate::common::{Place, scratch_files};
use crate::{SmallDisk, end, signal};
use predicates::prelude::*;
use predicates::str::contains;
use serde_json::Value;
use std::fs;
use std::io::Write;
use std::path::Path;
use testing::Command;

#[test]
fn a_store_on_a_full_disk_is_a_clear_error() {
    let mut place = Place::new();
    let mount = place.path("small");
    fs::create_dir(&mount).expect("a directory");
    let Some(_disk) = SmallDisk::tmpfs(&mount, "size=64k") else {
        return;
    };
    fs::write(mount.join("filler"), vec![1; 60 << 10]).expect("room for the filler");
    place.store = mount.join("oscope.db");
    place.short_run().assert().code(1).stderr(contains("full"));
    assert!(scratch_files(&place.scratch()).is_empty());
}

#[test]
fn a_damaged_store_is_left_alone() {
    let place = Place::new();
    let store = place.path("oscope.db");
    fs::write(&store, "these are not the runs you are looking for").expect("a file");
    place
        .short_run()
        .assert()
        .code(1)
        .stderr(contains("oscope.db"));
    let text = fs::read_to_string(&store).expect("still there");
    assert_eq!(text, "these are not the runs you are looking for");
}

#[test]
fn a_store_in_a_read_only_place_is_a_clear_error() {
    let mut place = Place::new();
    let mount = place.path("sealed");
    fs::create_dir(&mount).expect("a directory");
    let Some(_disk) = SmallDisk::tmpfs(&mount, "ro,size=64k") else {
        return;
    };
    place.store = mount.join("oscope.db");
    place
        .short_run()
        .assert()
        .code(1)
        .stderr(contains("read-only"));
}

/// A name that exists only in the write-ahead log, as after a kill.
const LOGGED: &str = "kept in the log";

/// A store in `directory` with a run whose name exists only in its write-ahead log.
fn store_with_log(place: &mut Place, directory: &Path) {
    place.store = directory.join("oscope.db");
    let exported = directory.join("run.json");
    let mut export = place.oscope(&["export", "reference:pentium4-2003-linux", "--output"]);
    export.arg(&exported).assert().success();
    let text = fs::read_to_string(&exported).expect("the export");
    let mut file: Value = serde_json::from_str(&text).expect("JSON");
    // A changed name would not match the checksums.
    file.as_object_mut()
        .expect("a document")
        .remove("checksums");
    let header = file["run"]["header"].as_object_mut().expect("a header");
    header.insert("name".into(), LOGGED.into());
    fs::write(&exported, file.to_string()).expect("a file");
    let other = directory.join("other.json");
    let mut export = place.oscope(&["export", "reference:pentium4-2003-windows", "--output"]);
    export.arg(&other).assert().success();
    place.oscope(&["import"]).arg(&other).assert().success();
    fs::remove_file(&other).expect("it is there");
    // An open reader prevents SQLite from checkpointing the log.
    let connection = rusqlite::Connection::open(&place.store).expect("a store");
    let tables = connection.query_row("SELECT count(*) FROM sqlite_schema", [], |_| Ok(()));
    tables.expect("it can be read");
    place.oscope(&["import"]).arg(&exported).assert().success();
    fs::remove_file(&exported).expect("it is there");
    let files = [place.store.clone(), directory.join("oscope.db-wal")];
    let before = files
        .each_ref()
        .map(|file| fs::read(file).expect("it is there"));
    // Closing the last connection checkpoints the log.
    drop(connection);
    for (file, bytes) in files.iter().zip(before) {
        fs::write(file, bytes).expect("room for it");
    }
}

/// Checks that all reading commands find the run.
fn assert_readable(place: &Place) {
    for arguments in [
        &["history"][..],
        &["history", "process.calls"],
        &["show", LOGGED],
        &["export", LOGGED],
        &["compare", LOGGED, "reference:pentium4-2003-windows"],
    ] {
        place.oscope(arguments).assert().success();
    }
    place.oscope(&["history"]).assert().stdout(contains(LOGGED));
}

#[test]
fn a_store_on_a_full_disk_can_be_read() {
    for with_log in [false, true] {
        let mut place = Place::new();
        let mount = place.path("small");
        fs::create_dir(&mount).expect("a directory");
        let Some(_disk) = SmallDisk::tmpfs(&mount, "size=6m") else {
            return;
        };
        store_with_log(&mut place, &mount);
        if !with_log {
            place.oscope(&["history"]).assert().success();
            rusqlite::Connection::open(&place.store)
                .and_then(|store| {
                    store.pragma_update_and_check(None, "wal_checkpoint", "truncate", |_| Ok(()))
                })
                .expect("the log is folded in");
            fs::remove_file(mount.join("oscope.db-wal")).ok();
        }
        fs::remove_file(mount.join("oscope.db-shm")).ok();
        let filler = fs::write(mount.join("filler"), vec![1; 6 << 20]);
        filler.expect_err("there is no room for all of it");
        assert_readable(&place);
    }
}

/// SQLite makes sure of a byte in each page of the log's index, and then writes to all of it: where blocks
/// are smaller than pages, that ends the process by SIGBUS.
#[test]
fn a_store_beside_which_there_is_room_for_half_an_index_can_be_read() {
    let mut place = Place::new();
    let mount = place.path("small");
    fs::create_dir(&mount).expect("a directory");
    let Some(_disk) = SmallDisk::ext4(&mount, 16 << 20) else {
        return;
    };
    store_with_log(&mut place, &mount);
    fs::remove_file(mount.join("oscope.db-shm")).ok();
    let filler = fs::File::create(mount.join("filler")).expect("a file");
    while (&filler).write_all(&[1; 1024]).is_ok() {}
    let full = filler.metadata().expect("it is there").len();
    filler.set_len(full - (12 << 10)).expect("it gets shorter");
    filler.sync_all().expect("it is a disk");
    assert_readable(&place);
    place
        .short_run()
        .assert()
        .code(1)
        .stderr(contains("is full; make room"));
    assert!(scratch_files(&place.scratch()).is_empty());
    assert_readable(&place);
}

#[test]
fn a_store_in_a_read_only_place_can_be_read() {
    let mut place = Place::new();
    let mount = place.path("sealed");
    fs::create_dir(&mount).expect("a directory");
    let Some(_disk) = SmallDisk::tmpfs(&mount, "size=6m") else {
        return;
    };
    store_with_log(&mut place, &mount);
    let remount = Command::new("mount")
        .args(["-o", "remount,ro"])
        .arg(&mount)
        .status();
    assert!(remount.expect("mount(8) is there").success());
    assert_readable(&place);
}

#[test]
fn a_store_that_is_removed_meanwhile_is_missed() {
    let place = Place::new();
    let child = place.long_run();
    fs::remove_file(&place.store).expect("it is there");
    signal("INT", child.id());
    let (_, stdout, stderr) = end(child);
    assert!(stdout.contains("process.calls"), "{stdout}");
    assert!(
        stderr.contains("the store was removed meanwhile"),
        "{stderr}"
    );
}

#[test]
fn a_comparison_whose_store_fills_up_keeps_its_results() {
    let mut place = Place::new();
    let mount = place.path("small");
    fs::create_dir(&mount).expect("a directory");
    let Some(_disk) = SmallDisk::tmpfs(&mount, "size=8m") else {
        return;
    };
    place.store = mount.join("oscope.db");
    let (count, export) = (place.path("count"), place.path("times.json"));
    let fills_it = format!(
        "echo >> {0}; test $(wc -l < {0}) -lt 4 || cat /dev/zero > {1}/filler; true",
        count.display(),
        mount.display()
    );
    let mut compare = place.oscope(&["ab", "-r", "9", "true", &fills_it, "--export-json"]);
    let failed = compare.arg(&export).assert().code(1);
    failed
        .stdout(contains("program").and(contains("true ")))
        .stderr(contains("is full; make room"));
    let exported: Value =
        serde_json::from_slice(&fs::read(&export).expect("a file")).expect("JSON");
    let times = exported["results"][0]["times"].as_array();
    assert!(times.is_some_and(|times| times.len() >= 3), "{exported}");
}

#[test]
fn a_run_whose_store_fills_up_shows_what_it_has() {
    let mut place = Place::new();
    let mount = place.path("small");
    fs::create_dir(&mount).expect("a directory");
    let Some(_disk) = SmallDisk::tmpfs(&mount, "size=8m") else {
        return;
    };
    place.store = mount.join("oscope.db");
    let child = place.long_run();
    let filler = fs::File::create(mount.join("filler")).expect("a file");
    while (&filler).write_all(&[1; 1024]).is_ok() {}
    let (output, stdout, stderr) = end(child);
    assert_eq!(output.status.code(), Some(1), "{stderr}");
    assert!(stdout.contains("process.calls"), "{stdout}");
    assert!(stderr.contains("is full; make room"), "{stderr}");
    assert!(stderr.contains("continues this run"), "{stderr}");
    assert!(scratch_files(&place.scratch()).is_empty());
}

#[test]
fn a_mistyped_store_leaves_no_trace() {
    let mut place = Place::new();
    let nowhere = place.path("nowhere");
    place.store = nowhere.join("oscope.db");
    let mut run = place.oscope(&["run", "process.calls", "--budget", "2s", "--dir"]);
    run.arg(place.scratch())
        .assert()
        .code(1)
        .stderr(contains("does not exist"));
    assert!(!nowhere.exists());
}
