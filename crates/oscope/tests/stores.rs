//! Stores that another program has locked, or that were truncated or overwritten: the program
//! reports it, does not wait for ever, and does no further damage.

mod common;

use common::Place;
use predicates::prelude::*;
use predicates::str::contains;
use rusqlite::Connection;
use std::fs::{self, OpenOptions};
use std::io::{Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

/// A run that an earlier version exported.
const EXPORTED: &str = concat!(
    env!("CARGO_MANIFEST_DIR"),
    "/../record/tests/fixtures/run-1.oscope.json"
);

/// An environment with a stored run, and the path of the store.
fn stored() -> (Place, PathBuf) {
    let place = Place::new();
    place.oscope(&["import", EXPORTED]).assert().success();
    let store = place.path("oscope.db");
    (place, store)
}

/// Checks that each reading command reports damage and changes nothing.
fn is_refused_as_damaged(place: &Place, store: &Path) {
    let before = fs::read(store).expect("the store");
    for arguments in [
        &["show"][..],
        &["export", "latest"],
        &["report", "--output", "-"],
    ] {
        place
            .oscope(arguments)
            .assert()
            .code(1)
            .stdout(predicate::str::is_empty())
            .stderr(contains("oscope.db").and(contains("damaged")));
    }
    assert!(fs::read(store).expect("the store") == before);
}

#[test]
fn a_store_that_another_program_writes_to_can_be_read_and_is_not_waited_for_in_vain() {
    let (place, store) = stored();
    let other = Connection::open(store).expect("the store");
    other.execute_batch("BEGIN IMMEDIATE").expect("a lock");
    place.oscope(&["history"]).assert().success();
    place.oscope(&["show"]).assert().success();
    let run = fs::read_to_string(EXPORTED).expect("a run");
    let (before, id) = run.split_once("\"id\":\"").expect("it has an id");
    let further = place.path("further.oscope.json");
    let first = if id.starts_with('0') { '1' } else { '0' };
    fs::write(&further, format!("{before}\"id\":\"{first}{}", &id[1..])).expect("a file");
    place
        .oscope(&["import"])
        .arg(&further)
        .assert()
        .code(1)
        .stderr(contains("another program"));
    other.execute_batch("COMMIT").expect("the lock given back");
    place.oscope(&["import"]).arg(&further).assert().success();
}

#[test]
fn reading_commands_leave_the_directory_as_it_was() {
    let place = Place::new();
    place.short_run().assert().success();
    let names = || {
        let entries = fs::read_dir(place.path("")).expect("a directory");
        let names = entries.map(|entry| entry.expect("an entry").file_name());
        let mut names: Vec<_> = names.collect();
        names.sort_unstable();
        names
    };
    let before = names();
    // The second time, the analysis is kept in the store.
    for arguments in [
        &["show"][..],
        &["show"],
        &["history"],
        &["history", "process.calls"],
        &["report", "--output", "-"],
        &["compare", "1", "1"],
        &["export", "1"],
        &["advise"],
        &["claims"],
        &["verify"],
        &["delete", "1"],
    ] {
        let _ = place.oscope(arguments).output().expect("it starts");
        assert_eq!(names(), before, "{arguments:?}");
    }
}

#[test]
fn files_beyond_what_stays_in_memory_are_imported_as_well_and_none_before_all_are_read() {
    let place = Place::new();
    let (large, broken) = (place.path("large.json"), place.path("broken.json"));
    let run = fs::read_to_string(EXPORTED).expect("a run");
    let (before, id) = run.split_once("\"id\":\"").expect("it has an id");
    let first = if id.starts_with('0') { '1' } else { '0' };
    let other = format!("{before}\"id\":\"{first}{}", &id[1..]);
    fs::write(&large, run.clone() + &" ".repeat(20 << 20)).expect("a large file");
    fs::write(&broken, &run[..run.len() / 2]).expect("half a file");
    // Standard input can be read only once.
    let import = |files: &[&Path]| {
        let mut command = place.oscope(&["import"]);
        command.args(files).write_stdin(other.as_str()).assert()
    };
    let pipe = Path::new("/dev/stdin");
    import(&[&large, pipe, &broken])
        .code(1)
        .stderr(contains("broken.json"));
    assert!(!place.path("oscope.db").exists());
    import(&[&large, pipe])
        .success()
        .stderr(contains("is run 1").and(contains("is run 2")));
    place.oscope(&["show", "2"]).assert().success();
}

#[test]
fn a_store_that_was_cut_short_says_so() {
    let (place, store) = stored();
    let length = fs::metadata(&store).expect("the store").len();
    let file = OpenOptions::new()
        .write(true)
        .open(&store)
        .expect("the store");
    file.set_len(length / 2).expect("half of it");
    is_refused_as_damaged(&place, &store);
}

#[test]
fn a_store_that_was_written_over_says_so() {
    let (place, store) = stored();
    let length = fs::metadata(&store).expect("the store").len();
    let mut file = OpenOptions::new()
        .write(true)
        .open(&store)
        .expect("the store");
    file.seek(SeekFrom::Start(4096)).expect("a place in it");
    let noise = vec![0xa5; usize::try_from(length).expect("a small store") - 4096];
    file.write_all(&noise).expect("written over");
    is_refused_as_damaged(&place, &store);
}

#[test]
fn a_cause_is_told_once() {
    let place = Place::new();
    let error = place
        .oscope(&["doctor", "--dir"])
        .arg(place.path("none"))
        .assert()
        .code(1);
    let stderr = String::from_utf8_lossy(&error.get_output().stderr).into_owned();
    assert_eq!(stderr.matches("No such file").count(), 1, "{stderr}");
}
