//! Damaged exports.

use crate::common::Place;
use predicates::str::contains;
use std::fs;

#[test]
fn a_damaged_export_is_refused_and_changes_nothing() {
    let place = Place::new();
    place.short_run().assert().success();
    let file = place.path("run.oscope.json");
    place
        .oscope(&["export", "--output"])
        .arg(&file)
        .assert()
        .success();
    let whole = fs::read_to_string(&file).expect("the export");
    let runs = place
        .oscope(&["history", "--json"])
        .assert()
        .get_output()
        .stdout
        .clone();
    for damaged in [
        "",
        "{}",
        "[1,2",
        &whole[..whole.len() / 2],
        &whole
            .replace("\"version\": 1", "\"version\": 99")
            .replace("\"version\":1,", "\"version\":99,"),
    ] {
        fs::write(&file, damaged).expect("a file");
        place
            .oscope(&["import"])
            .arg(&file)
            .assert()
            .code(1)
            .stderr(contains("run.oscope.json"));
    }
    let after = place
        .oscope(&["history", "--json"])
        .assert()
        .get_output()
        .stdout
        .clone();
    assert_eq!(runs, after);
}
