//! All output of `--json` matches its committed schema and contains its version.

mod common;

use common::receiver::Receiver;
use common::{Place, in_six_passes};
use serde_json::Value;
use std::fs;
use std::path::{Path, PathBuf};

const CRATES: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/..");
const EXPORTED: &str = concat!(
    env!("CARGO_MANIFEST_DIR"),
    "/../record/tests/fixtures/run.oscope.json"
);

/// An export without checksums, which would detect a change.
const UNPROVEN: &str = concat!(
    env!("CARGO_MANIFEST_DIR"),
    "/../record/tests/fixtures/unproven.oscope.json"
);

/// Validates the output against a schema: `report/schema/runs-1`.
fn is_valid(stdout: &[u8], schema: &str, told: &[&str]) {
    let document: Value = serde_json::from_slice(stdout).expect("what --json prints is JSON");
    let path = format!("{CRATES}/{schema}.schema.json");
    let text = fs::read_to_string(&path).expect("a committed schema");
    let schema: Value = serde_json::from_str(&text).expect("a schema is JSON");
    jsonschema::meta::validate(&schema).expect("a schema");
    let validator = jsonschema::validator_for(&schema).expect("a schema");
    let errors: Vec<String> = validator
        .iter_errors(&document)
        .map(|error| format!("{} at {}", error, error.instance_path()))
        .collect();
    assert!(errors.is_empty(), "{told:?} by {path}: {errors:?}");
    for part in document.as_array().unwrap_or(&vec![document.clone()]) {
        let has_version = part["format"] == 1 || part["version"] == 5 || part.is_string();
        assert!(has_version, "{told:?}: {part}");
    }
}

/// A run of six passes.
fn other_run(place: &Place, digit: &str) -> PathBuf {
    let text = fs::read_to_string(UNPROVEN).expect("a run");
    let path = place.path(&format!("{digit}.oscope.json"));
    fs::write(&path, in_six_passes(&text, &digit.repeat(32))).expect("a file");
    path
}

/// Checks the output of the program, for any exit code.
fn check(place: &Place, arguments: &[&str], schema: &str) {
    let all = [arguments, &["--json", "--quiet"]].concat();
    let output = place.oscope(&all).output().expect("the program starts");
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.stdout.len() > 2, "{all:?}: {said}");
    is_valid(&output.stdout, schema, &all);
}

#[test]
fn what_is_told_of_stored_runs() {
    let place = Place::new();
    place.oscope(&["import", EXPORTED]).assert().success();
    check(&place, &["show"], "report/schema/analysis-1");
    check(&place, &["show", "--redact"], "report/schema/analysis-1");
    check(&place, &["claims"], "report/schema/claims-1");
    check(&place, &["reproduce"], "report/schema/reproduction-1");
    check(&place, &["lab", "list"], "report/schema/labs-1");
    check(&place, &["advise"], "advice/schema/advice-1");
    check(&place, &["verify"], "report/schema/verification-1");
    check(&place, &["verify", EXPORTED], "report/schema/proof-1");
    check(&place, &["history"], "report/schema/runs-1");
    check(&place, &["history", "--changes"], "report/schema/changes-1");
    let sides = ["a", "b"].map(|digit| other_run(&place, digit));
    place.oscope(&["import"]).arg(&sides[0]).assert().success();
    check(
        &place,
        &["history", "file.block_size"],
        "report/schema/histories-1",
    );
    let compare = ["compare", text_of(&sides[0]), text_of(&sides[1])];
    check(&place, &compare, "report/schema/comparison-1");
    check(&place, &["export"], "record/schema/run-5");
    check(&place, &["export", "--redact"], "record/schema/run-5");
    check(
        &place,
        &["delete", "latest", "--force"],
        "oscope/schema/delete-1",
    );
}

#[test]
fn what_a_comparison_of_commands_tells() {
    let place = Place::new();
    let compare = ["ab", "true", "sleep 0.01", "--runs", "3"];
    check(&place, &compare, "oscope/schema/ab-1");
    check(&place, &["show"], "report/schema/analysis-1");
    check(&place, &["export"], "record/schema/run-5");
}

#[test]
fn what_a_comparison_of_values_tells() {
    let place = Place::new();
    let scratch = place.scratch();
    for runs in ["1", "2"] {
        let vary = ["ab", "process.calls", "--vary", "env:A=1,2", "--runs", runs];
        let compare = [&vary[..], &["--dir", text_of(&scratch)]].concat();
        check(&place, &compare, "oscope/schema/ab-vary-1");
    }
    check(&place, &["show"], "report/schema/analysis-1");
    check(&place, &["export"], "record/schema/run-5");
}

#[test]
fn what_is_told_of_damage() {
    let place = Place::new();
    place.oscope(&["import", EXPORTED]).assert().success();
    let store = rusqlite::Connection::open(&place.store).expect("the store");
    let change = "UPDATE runs SET name = 'other'; UPDATE batches SET content = x'01'; DELETE FROM points WHERE key = 2";
    store.execute_batch(change).expect("changed");
    drop(store);
    check(&place, &["verify"], "report/schema/verification-1");
    check(&place, &["history"], "report/schema/runs-1");
    let cut = place.path("cut.oscope.json");
    let text = fs::read_to_string(EXPORTED).expect("a run");
    fs::write(&cut, text.replace("2000000", "2000001")).expect("a file");
    check(&place, &["verify", text_of(&cut)], "report/schema/proof-1");
}

#[test]
fn what_is_told_of_experiments_and_the_machine() {
    let place = Place::new();
    check(&place, &["list"], "report/schema/definitions-1");
    check(&place, &["list", "--references"], "report/schema/headers-1");
    check(
        &place,
        &["explain", "memory"],
        "report/schema/definitions-1",
    );
    check(&place, &["doctor"], "report/schema/checks-1");
    let cleaned = place
        .oscope(&["cleanup", "--json", "--dir"])
        .arg(place.scratch())
        .assert();
    let cleaned = cleaned.success();
    let stdout = &cleaned.get_output().stdout;
    is_valid(stdout, "oscope/schema/leftovers-1", &["cleanup"]);
}

#[test]
fn what_a_run_tells() {
    let place = Place::new();
    let output = place
        .short_run()
        .args(["--json", "--quiet"])
        .output()
        .expect("the program starts");
    is_valid(&output.stdout, "report/schema/analysis-1", &["run"]);
    check(
        &place,
        &["history", "process.calls"],
        "report/schema/histories-1",
    );
    check(&place, &["export"], "record/schema/run-5");
}

fn text_of(path: &Path) -> &str {
    path.to_str().expect("a plain path")
}

#[test]
fn what_is_told_of_files() {
    let place = Place::new();
    let (file, copy) = (place.path("file"), place.path("copy"));
    let (file, copy) = (text_of(&file), text_of(&copy));
    let schema = "oscope/schema/file-1";
    check(
        &place,
        &[
            "file",
            "write",
            file,
            "--block-size",
            "4K",
            "--count",
            "200",
        ],
        schema,
    );
    check(
        &place,
        &["file", "read", file, "--block-size", "4K"],
        schema,
    );
    check(&place, &["file", "sum", file], schema);
    check(
        &place,
        &["file", "copy", file, copy, "--block-size", "64K"],
        schema,
    );
}

#[test]
fn what_both_sides_of_a_transfer_tell() {
    let place = Place::new();
    let file = place.path("file");
    fs::write(&file, vec![7; 100_000]).expect("a file");
    let receiver = Receiver::start(&place.path("to"), &["--once", "--json"]);
    let send = ["send", text_of(&file), "--to", &receiver.address];
    check(&place, &send, "oscope/schema/transfer-1");
    let there = receiver.end();
    is_valid(&there.stdout, "oscope/schema/transfer-1", &["receive"]);
}
