//! Stores on disks that are full or read-only, and stores that are removed.

use crate::common::{
    LONG_RUN, Mounted, OTHER_REPORT, Place, REPORT, end, end_by, ends, json, scratch_files,
};
use rusqlite::Connection;
use std::fs::{self, File};
use std::io::Write;
use std::path::Path;
use testing::Command;

/// Mounts a small disk and puts the store there; returns where the test cannot go on.
macro_rules! store_on_disk {
    ($place:ident, $mount:ident, $options:literal) => {
        let mut $place = Place::new();
        let Some(disk) = Mounted::tmpfs(&$place.path("small"), $options) else {
            return;
        };
        let $mount = disk.point.clone();
        $place.store = $mount.join("oscope.db");
    };
}

/// Fills a disk to its last block.
fn fill(mount: &Path) -> File {
    let filler = File::create(mount.join("filler")).expect("a file");
    while (&filler).write_all(&[1; 1024]).is_ok() {}
    filler
}

#[test]
fn a_store_on_a_full_or_read_only_disk_is_a_clear_error() {
    store_on_disk!(place, mount, "size=64k");
    fill(&mount);
    ends(&mut place.short_run(), "1 | 2> full");
    assert!(scratch_files(&place.scratch()).is_empty());
    store_on_disk!(place, mount, "ro,size=64k");
    ends(&mut place.short_run(), "1 | 2> read-only");
    assert!(mount.exists());
}

/// A name that exists only in the write-ahead log, as after a kill.
const LOGGED: &str = "kept in the log";

/// A store with a run whose name exists only in its write-ahead log.
fn store_with_log(place: &Place) {
    let mut run = place.json(&format!("export {REPORT}"));
    // A change would not match its checksums.
    run.as_object_mut().expect("a document").remove("checksums");
    run["run"]["header"]["name"] = LOGGED.into();
    place.file("run.json", run.to_string());
    check!(place => "
        export {OTHER_REPORT} --output $other.json | 0
        import $other.json | 0
    ");
    // An open reader prevents SQLite from checkpointing the log.
    let connection = Connection::open(&place.store).expect("a store");
    let tables = connection.query_row("SELECT count(*) FROM sqlite_schema", [], |_| Ok(()));
    tables.expect("it can be read");
    check!(place => "import $run.json | 0");
    let files = [place.store.clone(), place.store.with_extension("db-wal")];
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
    check!(place => "
        history | 0 | > {LOGGED}
        history process.calls | 0
        show '{LOGGED}' | 0
        export '{LOGGED}' | 0
        compare '{LOGGED}' {OTHER_REPORT} | 0
    ");
}

#[test]
fn a_store_on_a_full_disk_can_be_read() {
    for with_log in [false, true] {
        store_on_disk!(place, mount, "size=6m");
        store_with_log(&place);
        if !with_log {
            check!(place => "history | 0");
            let store = Connection::open(&place.store).expect("the store");
            store
                .pragma_update_and_check(None, "wal_checkpoint", "truncate", |_| Ok(()))
                .expect("the log is folded in");
            drop(store);
            fs::remove_file(mount.join("oscope.db-wal")).ok();
        }
        fs::remove_file(mount.join("oscope.db-shm")).ok();
        fill(&mount);
        assert_readable(&place);
    }
}

/// SQLite makes sure of a byte in each page of the log's index, and then writes to all of it: where blocks
/// are smaller than pages, that ends the process by SIGBUS.
#[test]
fn a_store_on_a_disk_with_room_for_half_an_index_can_be_read() {
    let mut place = Place::new();
    let mount = place.path("small");
    // Blocks of 1 KiB, as mkfs(8) makes them where a disk is small.
    let options = ["-b", "1024"];
    let Some(_disk) = Mounted::image(&mount, "ext4", &options, 16 << 20) else {
        return;
    };
    place.store = mount.join("oscope.db");
    store_with_log(&place);
    fs::remove_file(mount.join("oscope.db-shm")).ok();
    let filler = fill(&mount);
    let full = filler.metadata().expect("it is there").len();
    filler.set_len(full - (12 << 10)).expect("it gets shorter");
    filler.sync_all().expect("it is a disk");
    assert_readable(&place);
    ends(&mut place.short_run(), "1 | 2> is full; make room");
    assert!(scratch_files(&place.scratch()).is_empty());
    assert_readable(&place);
}

#[test]
fn a_store_in_a_read_only_place_can_be_read() {
    store_on_disk!(place, mount, "size=6m");
    store_with_log(&place);
    let mut remount = Command::new("mount");
    ends(remount.args(["-o", "remount,ro"]).arg(&mount), "0");
    assert_readable(&place);
}

#[test]
fn a_store_that_is_removed_during_a_run_is_missed() {
    let place = Place::new();
    let child = place.begun(LONG_RUN);
    fs::remove_file(&place.store).expect("it is there");
    let (_, stdout, stderr) = end_by("INT", child);
    assert!(stdout.contains("process.calls"), "{stdout}");
    assert!(
        stderr.contains("the store was removed during the run"),
        "{stderr}"
    );
}

#[test]
fn a_comparison_whose_store_fills_up_keeps_its_results() {
    store_on_disk!(place, mount, "size=8m");
    let (count, mount) = (place.name("count"), mount.display());
    let fills_it = format!(
        "echo >> {count}; test $(wc -l < {count}) -lt 4 || cat /dev/zero > {mount}/filler; true"
    );
    let export = place.name("times.json");
    let mut compare = place.oscope(&["ab", "-r", "9", "true", &fills_it]);
    ends(
        compare.args(["--export-json", &export]),
        "1 | > program | > true  | 2> is full; make room",
    );
    let exported = json(place.read("times.json").as_bytes());
    let times = exported["results"][0]["times"].as_array();
    assert!(times.is_some_and(|times| times.len() >= 3), "{exported}");
}

#[test]
fn a_run_whose_store_fills_up_shows_what_it_has() {
    store_on_disk!(place, mount, "size=8m");
    let child = place.begun(LONG_RUN);
    fill(&mount);
    let (output, stdout, stderr) = end(child);
    assert_eq!(output.status.code(), Some(1), "{stderr}");
    assert!(stdout.contains("process.calls"), "{stdout}");
    assert!(stderr.contains("is full; make room"), "{stderr}");
    assert!(stderr.contains("continues this run"), "{stderr}");
    assert!(scratch_files(&place.scratch()).is_empty());
}
