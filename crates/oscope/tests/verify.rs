//! Runs that are damaged or have no checksums: the output of `oscope verify`, and that no command
//! uses a damaged run.

mod common;

use common::{Place, in_six_passes};
use predicates::prelude::*;
use predicates::str::contains;
use rusqlite::Connection;
use serde_json::Value;
use std::fs;
use std::path::PathBuf;

const FIXTURES: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../record/tests/fixtures");

/// An exported run without checksums.
fn unproven() -> String {
    format!("{FIXTURES}/unproven.oscope.json")
}

/// The same run with checksums.
fn proven() -> String {
    format!("{FIXTURES}/run.oscope.json")
}

/// An environment with a proven run in its store.
fn stored() -> Place {
    let place = Place::new();
    place.oscope(&["import", &proven()]).assert().success();
    place
}

/// Changes a sample of the stored run.
fn damage(place: &Place) {
    let store = Connection::open(&place.store).expect("the store");
    let change = "UPDATE batches SET content = CAST(content || x'00' AS BLOB) WHERE key = 2";
    store.execute_batch(change).expect("changed");
}

/// An exported file with one changed digit in a sample.
fn damaged_file(place: &Place) -> PathBuf {
    let text = fs::read_to_string(proven()).expect("a run");
    let path = place.path("damaged.oscope.json");
    assert!(text.contains("\"wall_ns\":[2000000]"));
    let changed = text.replacen("\"wall_ns\":[2000000]", "\"wall_ns\":[2000001]", 1);
    fs::write(&path, changed).expect("a file");
    path
}

fn json(stdout: &[u8]) -> Value {
    serde_json::from_slice(stdout).expect("what --json prints is JSON")
}

#[test]
fn a_whole_store_is_proven_or_unproven_and_both_are_done() {
    let place = stored();
    let verified = place.oscope(&["verify", "--json"]).assert().success();
    let found = json(&verified.get_output().stdout);
    assert_eq!(found["damaged"], false);
    assert_eq!(found["structure"], serde_json::json!([]));
    assert_eq!(found["runs"][0]["proof"], "proven");

    let place = Place::new();
    place.oscope(&["import", &unproven()]).assert().success();
    place
        .oscope(&["verify", "latest"])
        .assert()
        .success()
        .stdout(contains("unproven").and(contains("without checksums")));
}

#[test]
fn exported_files_are_verified_as_well() {
    let place = Place::new();
    let verify = |file: &str| place.oscope(&["verify", file]).assert();
    verify(&proven()).success().stdout(contains("is proven"));
    verify(&unproven())
        .success()
        .stdout(contains("is unproven"));
    let damaged = damaged_file(&place);
    let told = contains("batch 0 of file.block_size at (operation=read, block_size=4096)");
    place
        .oscope(&["verify"])
        .arg(&damaged)
        .assert()
        .code(1)
        .stdout(told);
    let found = place.oscope(&["verify", "--json"]).arg(&damaged).assert();
    let found = json(&found.code(1).get_output().stdout);
    assert_eq!(found["proof"], "damaged");
    assert_eq!(found["parts"][0]["part"], "batch");
    assert_eq!(found["parts"][0]["batch"], 0);

    let cut = place.path("cut.oscope.json");
    let bytes = fs::read(proven()).expect("a run");
    fs::write(&cut, &bytes[..bytes.len() / 2]).expect("a file");
    place
        .oscope(&["verify"])
        .arg(&cut)
        .assert()
        .code(1)
        .stdout(contains("unreadable").and(contains("cut off")));
}

#[test]
fn a_run_that_is_not_there_is_wrong_use() {
    stored()
        .oscope(&["verify", "nothing-like-it"])
        .assert()
        .code(2);
    // A store that is not there fails every command that reads.
    Place::new().oscope(&["verify"]).assert().code(1);
}

#[test]
fn damage_in_the_store_is_told_with_its_place() {
    let place = stored();
    damage(&place);
    place
        .oscope(&["verify"])
        .assert()
        .code(1)
        .stdout(contains("damaged").and(contains("batch 1 of file.block_size")));
    let found = place.oscope(&["verify", "--json"]).assert().code(1);
    let found = json(&found.get_output().stdout);
    assert_eq!(found["damaged"], true);
    assert_eq!(found["runs"][0]["proof"], "damaged");
    assert_eq!(
        found["runs"][0]["parts"][0]["experiment"],
        "file.block_size"
    );
}

#[test]
fn no_command_uses_a_damaged_run() {
    let place = stored();
    damage(&place);
    let svg = place.path("chart.svg");
    let svg = svg.to_str().expect("a path of letters");
    for arguments in [
        &["show"][..],
        &["show", "--json"],
        &["claims"],
        &["advise"],
        &["report"],
        &["export"],
        &["export", "--format", "csv"],
        &["plot", "file.block_size", "--output", svg],
        &["compare", "1", &unproven()],
        &["compare", &unproven(), "1"],
    ] {
        place
            .oscope(arguments)
            .assert()
            .code(1)
            .stdout(predicate::str::is_empty())
            .stderr(contains("run 1 in the store").and(contains("damaged")));
    }
    assert!(!fs::exists(svg).expect("a place to look at"));
    let file = damaged_file(&place);
    for command in ["show", "import", "report"] {
        place
            .oscope(&[command])
            .arg(&file)
            .assert()
            .code(1)
            .stdout(predicate::str::is_empty())
            .stderr(contains("is damaged"));
    }
}

#[test]
fn a_history_leaves_a_damaged_run_out_and_says_so() {
    let place = stored();
    let other = fs::read_to_string(unproven()).expect("a run");
    let path = place.path("other.oscope.json");
    fs::write(&path, in_six_passes(&other, &"f".repeat(32))).expect("a file");
    place.oscope(&["import"]).arg(&path).assert().success();
    damage(&place);
    let metric = &["history", "file.block_size.read", "--json"];
    let told = place.oscope(metric).assert().code(1);
    let told = told.stderr(contains("run 1 in the store"));
    let histories = json(&told.get_output().stdout);
    assert_eq!(histories[0]["damaged"], 1);
    for history in histories.as_array().expect("a list") {
        for run in history["runs"].as_array().expect("a list") {
            assert_eq!(run["run"], 2);
        }
    }
}

#[test]
fn a_damaged_run_is_replaced_by_an_import() {
    let place = stored();
    damage(&place);
    place.oscope(&["verify"]).assert().code(1);
    place
        .oscope(&["import", &proven()])
        .assert()
        .success()
        .stderr(contains("is run 2"));
    place.oscope(&["verify"]).assert().success();
    place.oscope(&["show", "2"]).assert().success();
    // An undamaged run is not imported again.
    place
        .oscope(&["import", &proven()])
        .assert()
        .code(1)
        .stderr(contains("in the store already"));
}

#[test]
fn a_store_of_another_version_is_refused_with_advice_and_left_as_it_is() {
    for version in [1, 7, 99] {
        let place = stored();
        let store = Connection::open(&place.store).expect("the store");
        let set = store.pragma_update(None, "user_version", version);
        set.expect("it can be changed");
        drop(store);
        let before = fs::read(&place.store).expect("the store");
        for arguments in [
            &["show"][..],
            &["verify"],
            &["history"],
            &["import", &proven()],
        ] {
            let refused = place.oscope(arguments).assert().code(1).stdout("");
            refused.stderr(contains(format!("has schema {version}")).and(contains("--store FILE")));
        }
        assert!(fs::read(&place.store).expect("the store") == before);
        place
            .short_run()
            .assert()
            .code(1)
            .stderr(contains("--store FILE"));
        assert!(fs::read(&place.store).expect("the store") == before);
    }
}

#[test]
fn a_file_of_another_version_is_refused_with_advice() {
    let text = fs::read_to_string(proven()).expect("a run");
    for version in [4, 6] {
        let place = Place::new();
        let path = place.path("other.oscope.json");
        let other = text.replacen("\"version\":5", &format!("\"version\":{version}"), 1);
        fs::write(&path, other).expect("a file");
        for command in ["show", "verify", "import"] {
            let refused = place.oscope(&[command]).arg(&path).assert().code(1);
            let reason = format!("has version {version} of the format");
            refused.stderr(contains(reason).and(contains("the oscope that wrote it")));
        }
        assert!(!place.store.exists());
    }
}

/// Changes the list of runs like a failing disk: the store has two, and the second is the latest.
fn with_damaged_entry(change: &str) -> Place {
    let place = stored();
    let text = fs::read_to_string(unproven()).expect("a run");
    let text = text.replacen("0123456789abcdef0123", "fedcba98765432100123", 1);
    let path = place.path("other.oscope.json");
    fs::write(
        &path,
        text.replacen("2026-03-01T12:00:00", "2026-03-01T11:00:00", 1),
    )
    .expect("a file");
    place.oscope(&["import"]).arg(&path).assert().success();
    place.oscope(&["show", "latest"]).assert().success();
    let store = Connection::open(&place.store).expect("the store");
    store.execute_batch(change).expect("changed");
    place
}

#[test]
fn the_list_of_runs_marks_an_entry_that_is_damaged() {
    for change in [
        "UPDATE runs SET name = 'other' WHERE number = 1",
        "UPDATE runs SET started = '2025-03-01T12:00:00.500000000Z' WHERE number = 1",
        "UPDATE runs SET samples = 7 WHERE number = 1",
        "UPDATE runs SET fingerprint = 'x' WHERE number = 1",
    ] {
        let place = with_damaged_entry(change);
        let listed = place.oscope(&["history", "--json"]).assert().code(1);
        let listed = listed.stderr(contains("entry of run 1 in the list"));
        let runs = json(&listed.get_output().stdout);
        let damaged = |number: u64| {
            let mut runs = runs.as_array().expect("a list").iter();
            let run = runs
                .find(|run| run["number"] == number)
                .expect("it is listed");
            run["damaged"].clone()
        };
        assert_eq!(damaged(1), true, "{change}");
        place
            .oscope(&["history"])
            .assert()
            .code(1)
            .stdout(contains("damaged"));
        place.oscope(&["verify", "1"]).assert().code(1);
    }
}

/// The start time of any run might be the wrong one.
#[test]
fn the_latest_run_is_not_guessed() {
    for change in [
        "UPDATE runs SET started = '2025-03-01T12:00:00.500000000Z' WHERE number = 1",
        "UPDATE runs SET started = 'yesterday' WHERE number = 1",
    ] {
        let place = with_damaged_entry(change);
        for command in ["show", "export", "report", "verify"] {
            place
                .oscope(&[command, "latest"])
                .assert()
                .code(1)
                .stdout(predicate::str::is_empty())
                .stderr(contains("the latest run is unknown"));
        }
        place.oscope(&["show", "2"]).assert().success();
        place.oscope(&["delete", "1", "--force"]).assert().success();
        place.oscope(&["show", "latest"]).assert().success();
    }
}
