//! `oscope delete` removes the named runs and nothing else.

mod common;

use common::{Place, wait_for};
use predicates::prelude::*;
use predicates::str::contains;
use rusqlite::Connection;
use std::fs;

const EXPORTED: &str = concat!(
    env!("CARGO_MANIFEST_DIR"),
    "/../record/tests/fixtures/run.oscope.json"
);
const OTHER: &str = "reference:razer-blade-2020";

/// An environment with two runs in its store.
fn stored() -> Place {
    let place = Place::new();
    let other = place.path("other.oscope.json");
    place
        .oscope(&["export", OTHER, "--output"])
        .arg(&other)
        .assert()
        .success();
    let mut import = place.oscope(&["import", EXPORTED]);
    import.arg(&other).assert().success();
    place
}

fn numbers(place: &Place) -> Vec<u64> {
    let listed = place.oscope(&["history", "--json"]).assert().success();
    let listed = &listed.get_output().stdout;
    let runs: serde_json::Value = serde_json::from_slice(listed).expect("JSON");
    let runs = runs.as_array().expect("a list").iter();
    runs.filter_map(|run| run["number"].as_u64()).collect()
}

#[test]
fn nothing_is_removed_without_force_and_what_would_be_is_told() {
    let place = stored();
    let before = fs::read(&place.store).expect("the store");
    place
        .oscope(&["delete", "1"])
        .assert()
        .code(2)
        .stdout(predicate::str::is_empty())
        .stderr(contains("nothing was removed").and(contains("run 1 (fixture")));
    assert!(fs::read(&place.store).expect("the store") == before);
}

#[test]
fn what_is_named_is_removed_and_the_rest_stays() {
    let place = stored();
    place
        .oscope(&["delete", "fixture", "1", "--force"])
        .assert()
        .success()
        .stdout(contains("removed run 1 (fixture").count(1));
    assert_eq!(numbers(&place), [2]);
    place.oscope(&["verify"]).assert().success();
    // The run can be imported again under another number.
    place.oscope(&["import", EXPORTED]).assert().success();
    let removed = place.oscope(&["delete", "3", "--force", "--json"]).assert();
    let removed = removed.success();
    let removed: serde_json::Value =
        serde_json::from_slice(&removed.get_output().stdout).expect("JSON");
    assert_eq!(removed[0]["number"], 3);
    assert_eq!(removed[0]["id"], "0123456789abcdef0123456789abcdef");
}

#[test]
fn all_are_there_or_none_is_removed() {
    let place = stored();
    place
        .oscope(&["delete", "1", "nothing-like-it", "--force"])
        .assert()
        .code(2);
    assert_eq!(numbers(&place).len(), 2);
    let empty = Place::new();
    let delete = empty.oscope(&["delete", "1", "--force"]).assert();
    delete.code(1).stderr(contains("there is no store at"));
}

#[test]
fn a_run_under_way_is_kept_and_goes_on() {
    let place = Place::new();
    let mut running = place.long_run();
    let delete = ["delete", "1", "--force"];
    let refused = place.oscope(&delete).assert().code(1);
    refused.stdout("").stderr(contains("run 1 is under way"));
    let before = place.samples();
    assert!(wait_for(|| place.samples() > before), "it measures no more");
    running.kill().expect("it runs");
    running.wait().expect("it ends");
    // The claim of a killed process is no more.
    place.oscope(&delete).assert().success();
    assert!(numbers(&place).is_empty());
}

#[test]
fn a_damaged_run_can_be_removed() {
    for change in [
        "UPDATE batches SET content = x'01' WHERE key = 1",
        "UPDATE runs SET started = 'yesterday' WHERE number = 1",
        "UPDATE machines SET content = '{' WHERE run = 1",
        "DELETE FROM machines WHERE run = 1",
    ] {
        let place = stored();
        let store = Connection::open(&place.store).expect("the store");
        store.execute_batch(change).expect("changed");
        drop(store);
        place.oscope(&["verify"]).assert().code(1);
        place.oscope(&["delete", "1", "--force"]).assert().success();
        place.oscope(&["verify"]).assert().success();
        assert_eq!(numbers(&place), [2], "{change}");
    }
}
