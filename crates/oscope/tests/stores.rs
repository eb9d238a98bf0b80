//! Stores that another program has locked, or that were truncated or overwritten: the program
//! reports it, does not wait for ever, and does no further damage.

mod common;

use common::{Place, without_reader};
use instrument::cycles::cycles_per_multiplication;
use platform::machine::Machine;
use predicates::prelude::*;
use predicates::str::contains;
use rusqlite::Connection;
use std::fs::{self, OpenOptions};
use std::io::{Seek, SeekFrom, Write};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::Stdio;

/// An exported run with one reference loop.
const EXPORTED: &str = concat!(
    env!("CARGO_MANIFEST_DIR"),
    "/../record/tests/fixtures/unproven.oscope.json"
);

/// An environment with a stored run, and the path of the store.
fn stored() -> (Place, PathBuf) {
    let place = Place::new();
    place.oscope(&["import", EXPORTED]).assert().success();
    let store = place.path("oscope.db");
    (place, store)
}

#[test]
fn costs_of_the_core_have_cycles_where_the_clock_is_known() {
    let (place, _) = stored();
    let show = |run: &str| place.oscope(&["show", run, "--cycles"]).assert();
    show("1")
        .code(1)
        .stderr(contains("the clock of this run is not known"));
    place.short_run().assert().success();
    if cycles_per_multiplication(&Machine::read()).is_some() {
        show("latest").success().stdout(contains("cycles"));
    } else {
        show("latest").code(1);
    }
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

/// The commands that read the store.
const READERS: [&[&str]; 13] = [
    &["show"],
    &["show", "process.calls"],
    &["history"],
    &["history", "process.calls"],
    &["history", "--changes"],
    &["claims"],
    &["advise"],
    &["report"],
    &["card"],
    &["plot", "process.calls"],
    &["export", "1"],
    &["verify"],
    &["delete", "1", "--force"],
];

#[test]
fn a_store_that_is_not_there_is_named() {
    let place = Place::new();
    let store = place.store.to_str().expect("a plain path");
    for reader in READERS {
        let read = place.oscope(reader).assert().code(1).stdout("");
        read.stderr(contains(format!("there is no store at {store}")));
    }
    // The directory is searched all the same.
    let cleanup = place
        .oscope(&["cleanup", "--dir"])
        .arg(place.scratch())
        .assert();
    cleanup.success().stderr(contains(store));
    assert!(!place.store.exists());
}

#[test]
fn a_mistyped_store_leaves_no_trace() {
    let mut place = Place::new();
    place.store = place.path("mistyped").join("oscope.db");
    for arguments in [
        &["run", "process.calls", "--budget", "2s"][..],
        &["import", EXPORTED],
    ] {
        let refused = place
            .oscope(arguments)
            .current_dir(place.scratch())
            .assert();
        refused.code(1).stdout("").stderr(contains("mistyped"));
        assert!(!place.path("mistyped").exists(), "{arguments:?}");
    }
}

#[test]
fn a_store_is_a_path_whatever_its_name() {
    let place = Place::new();
    let oscope = |store: &str, arguments: &[&str]| {
        let mut command = assert_cmd::Command::new(common::program());
        command.args(["--store", store]).args(arguments);
        command.current_dir(place.scratch());
        command.assert()
    };
    for store in [
        ":memory:",
        "file:run.db?mode=memory",
        "50%41?.db",
        "file::memory:",
    ] {
        oscope(store, &["import", EXPORTED]).success();
        oscope(store, &["show", "1"]).success();
        assert!(place.scratch().join(store).is_file(), "{store}");
    }
    oscope("", &["history"]).failure();
}

#[test]
fn a_store_that_may_not_be_read_is_not_called_missing() {
    let (mut place, store) = stored();
    let private = place.path("private");
    fs::create_dir(&private).expect("a directory");
    fs::rename(store, private.join("oscope.db")).expect("moved");
    fs::set_permissions(&private, fs::Permissions::from_mode(0o700)).expect("it is ours");
    place.store = private.join("oscope.db");
    for reader in READERS {
        let Some(mut command) = place.as_somebody(&[], reader) else {
            return;
        };
        let read = command.output().expect("it starts");
        let stderr = String::from_utf8_lossy(&read.stderr).into_owned();
        assert_eq!(read.status.code(), Some(1), "{reader:?}: {stderr}");
        assert!(stderr.contains("Permission denied"), "{reader:?}: {stderr}");
        assert_eq!(read.stdout, b"", "{reader:?}");
    }
}

#[test]
fn a_pipe_is_no_store_and_nothing_waits_for_its_writer() {
    let mut place = Place::new();
    let pipe = place.path("pipe.json");
    let made = std::process::Command::new("mkfifo").arg(&pipe).status();
    assert!(made.expect("mkfifo(1) is there").success());
    let name = pipe.to_str().expect("a plain path").to_owned();
    for arguments in [
        &["import", &name][..],
        &["show", &name],
        &["verify", &name],
        &["compare", &name, "reference:pentium4-2003-linux"],
        &["fleet", "judge", &name, &name, &name],
        &[
            "send",
            EXPORTED,
            "--to",
            "127.0.0.1:1",
            "--token-file",
            &name,
        ],
    ] {
        let read = place.oscope(arguments).assert().failure();
        read.stderr(contains("pipe.json"));
    }
    let lab = ["lab", "start", "caches", "--answers", &name];
    place.oscope(&lab).assert().failure();
    place.store = pipe;
    let run = ["run", "process.calls", "--budget", "2s"];
    for arguments in READERS.into_iter().chain([&run[..], &["import", EXPORTED]]) {
        let refused = place
            .oscope(arguments)
            .current_dir(place.scratch())
            .assert();
        refused
            .code(1)
            .stdout("")
            .stderr(contains("it is no regular file"));
    }
}

#[test]
fn a_command_whose_reader_went_away_leaves_nothing_next_to_the_store() {
    let place = Place::new();
    let file = place.path("printed.json");
    let mut export = place.oscope(&["export", "reference:pentium4-2003-linux", "-o"]);
    export.arg(&file).assert().success();
    place.oscope(&["import"]).arg(&file).assert().success();
    let names = || fs::read_dir(place.path("")).expect("a directory").count();
    let before = names();
    for reader in READERS {
        let mut command = place.plain(reader);
        command.stdout(without_reader()).stderr(Stdio::piped());
        let child = command.spawn().expect("it starts");
        let output = child.wait_with_output().expect("it ends");
        let stderr = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!(output.status.code(), Some(141), "{reader:?}: {stderr}");
        assert_eq!(stderr, "", "{reader:?}");
        assert_eq!(names(), before, "{reader:?}");
    }
}

#[test]
fn a_name_with_a_line_break_stays_on_its_line() {
    let (place, _) = stored();
    let odd = place.path("a\nb");
    fs::create_dir(&odd).expect("a directory");
    let file = place.path("c\nd.json");
    let lines = |arguments: &[&str]| {
        let output = place.oscope(arguments).output().expect("it starts");
        let shown = [output.stdout, output.stderr].concat();
        let shown = String::from_utf8_lossy(&shown).into_owned();
        let has_half = |line: &str| line.ends_with("/a") || line.ends_with("/c");
        assert!(!shown.lines().any(has_half), "{arguments:?}: {shown}");
        shown.lines().count()
    };
    let name = file.to_str().expect("a plain path").to_owned();
    for command in ["show", "verify", "import"] {
        assert_eq!(lines(&[command, &name]), 1, "{command}");
    }
    let mut run = place.short_run_in(&odd);
    let run = run.args(["--name", "e\nf"]).output().expect("it starts");
    let progress = String::from_utf8_lossy(&run.stderr).into_owned();
    assert!(progress.contains("a\u{fffd}b, results in"), "{progress}");
    for arguments in [
        &["show"][..],
        &["history"],
        &["verify", "2"],
        &["delete", "2", "--force"],
    ] {
        lines(arguments);
    }
    fs::copy(EXPORTED, &file).expect("a copy");
    lines(&["compare", &name, "reference:pentium4-2003-linux"]);
    lines(&["verify", &name]);
}

#[test]
fn reading_commands_leave_the_directory_as_it_was() {
    let place = Place::new();
    // A busy machine measures less than all in this time.
    place.short_run().assert().code(predicate::in_iter([0, 1]));
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
