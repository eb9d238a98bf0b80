//! Scratch directories that are missing, full, read-only, or have unusual names.

use crate::SmallDisk;
use crate::common::{Place, scratch_files, visit, visit_each_point};
use predicates::prelude::*;
use predicates::str::contains;
use serde_json::Value;
use std::ffi::OsStr;
use std::fs;
use std::os::unix::ffi::OsStrExt;

#[test]
fn a_directory_that_is_not_there_is_named() {
    let place = Place::new();
    place
        .oscope(&["run", "process", "--dir"])
        .arg(place.path("nonexistent/scratch"))
        .assert()
        .code(1)
        .stderr(contains("/nonexistent/scratch"));
    place
        .oscope(&["doctor", "--dir"])
        .arg(place.path("nonexistent"))
        .assert()
        .code(1);
}

#[test]
fn a_file_is_no_directory() {
    let place = Place::new();
    let file = place.path("file");
    fs::write(&file, "mine").expect("a file");
    place
        .oscope(&["run", "process", "--dir"])
        .arg(&file)
        .assert()
        .code(1)
        .stderr(contains("directory"));
    assert_eq!(fs::read_to_string(file).expect("still there"), "mine");
}

#[test]
fn a_read_only_directory_is_refused() {
    let place = Place::new();
    let scratch = place.scratch();
    let Some(_disk) = SmallDisk::tmpfs(&scratch, "ro,size=64k") else {
        return;
    };
    place
        .oscope(&["run", "process", "--dir"])
        .arg(&scratch)
        .assert()
        .code(1)
        .stderr(contains("read-only").and(contains("--dir").or(contains("directory"))));
}

#[test]
fn a_directory_whose_name_is_no_text_is_as_good_as_any() {
    let place = Place::new();
    let odd = place.path("").join(OsStr::from_bytes(b"odd \xff"));
    fs::create_dir(&odd).expect("any bytes make a name");
    place
        .short_run_in(&odd)
        .assert()
        .stdout(contains("getpid").and(contains("invalid").not()));
    assert!(scratch_files(&odd).is_empty());
}

#[test]
fn a_full_disk_fails_what_needs_room_and_the_rest_goes_on() {
    let place = Place::new();
    let scratch = place.scratch();
    let Some(_disk) = SmallDisk::tmpfs(&scratch, "size=1m") else {
        return;
    };
    let mut run = place.plain(&["run", "process.calls", "file.block_size", "--no-page"]);
    // As many passes as an estimate needs.
    let output = visit(run.arg("--dir").arg(&scratch), "pass 5 of ");
    let [stdout, stderr] = [&output.stdout, &output.stderr].map(|it| String::from_utf8_lossy(it));
    let refused = "file.block_size: cannot be measured here: it needs";
    assert!(stderr.contains(refused), "{stderr}");
    assert!(stdout.contains("getpid"), "{stdout}");
    assert!(scratch_files(&scratch).is_empty());
}

#[test]
fn without_the_rights_of_root_caches_are_emptied_file_by_file() {
    let place = Place::new();
    let what = ["run", "file.block_size", "--no-page", "--json"];
    let Some(mut unprivileged) = place.as_somebody(&[], &what) else {
        return;
    };
    let output = visit_each_point(unprivileged.arg("--dir").arg(place.scratch()));
    let stdout = String::from_utf8_lossy(&output.stdout).into_owned();
    let stderr = String::from_utf8_lossy(&output.stderr).into_owned();
    if stderr.contains("in memory") || stdout.contains("tmpfs") {
        eprintln!("skipped: the temporary directory lies in memory and cannot be made cold");
        return;
    }
    let run: Value = serde_json::from_str(&stdout).expect("it is JSON");
    let experiment = &run["experiments"][0];
    let list = |name: &str| experiment[name].as_array().expect("a list");
    let is_cold = |point: &Value| point["levels"].to_string().contains("read cold");
    assert!(list("points").iter().any(is_cold), "{experiment}");
    for failure in list("failures") {
        let reason = failure["reason"].as_str().expect("text");
        assert!(reason.contains("the time was used up"), "{reason}");
    }
}
