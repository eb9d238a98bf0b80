//! `oscope reproduce`, and `oscope run` at levels that are not planned, as a user sees them.

mod common;

use common::Place;
use predicates::prelude::*;
use predicates::str::contains;
use serde_json::Value;
use std::fs;

fn told(place: &Place, arguments: &[&str]) -> Value {
    let output = place.oscope(arguments).output().expect("it starts");
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{arguments:?}: {said}");
    serde_json::from_slice(&output.stdout).expect("it is JSON")
}

/// The points of the newest run, as their levels.
fn levels(place: &Place, experiment: &str) -> Vec<Value> {
    let shown = told(place, &["show", "latest", experiment, "--json"]);
    let experiments = shown["experiments"].as_array().expect("a list");
    let experiment = experiments
        .iter()
        .find(|it| it["id"] == experiment)
        .expect("it was measured");
    let points = experiment["points"].as_array().expect("a list").iter();
    points.map(|point| point["levels"].clone()).collect()
}

fn run(place: &Place, arguments: &[&str]) {
    place
        .oscope(&["run", "--no-page", "--dir"])
        .arg(place.scratch())
        .args(arguments)
        .assert()
        .success();
}

#[test]
fn without_a_store_everything_is_accounted_for_and_nothing_is_decided() {
    let place = Place::new();
    let document = told(&place, &["reproduce", "--all", "--json"]);
    let tables = document["tables"].as_array().expect("a list").iter();
    let figures: usize = tables
        .map(|it| it["figures"].as_array().expect("a list").len())
        .sum();
    assert_eq!(document["figures"]["cannot_be_told"], figures);
    assert!(figures > 400, "{figures}");
    place
        .oscope(&["reproduce", "--list"])
        .assert()
        .success()
        .stdout(contains("Figure 22").and(contains(format!("{figures} figures"))));
}

#[test]
fn a_table_is_measured_and_judged() {
    let place = Place::new();
    run(
        &place,
        &[
            "process.calls",
            "--at",
            "call=getpid",
            "--at",
            "call=malloc+free",
            "--budget",
            "3s",
        ],
    );
    let document = told(&place, &["reproduce", "E", "Figure", "26", "--json"]);
    let tables = document["tables"].as_array().expect("a list");
    assert_eq!(tables.len(), 1);
    let figures = tables[0]["figures"].as_array().expect("a list");
    let here: Vec<&Value> = figures.iter().filter(|it| it["here"].is_number()).collect();
    assert!(
        here.iter()
            .any(|it| it["what"] == "Getpid" && it["printed"] == "1.486661667")
    );
    let commands = document["commands"].as_array().expect("a list");
    assert!(
        commands.iter().any(|words| words[1] == "process.calls"),
        "{commands:?}"
    );

    let file = place.path("figure.md");
    let mut write = place.oscope(&["reproduce", "e", "fig 26", "--of", "latest", "--output"]);
    write.arg(&file).assert().success();
    let text = fs::read_to_string(&file).expect("it was written");
    assert!(
        text.contains("1.486661667 million/s") && text.contains("| as reported |"),
        "{text}"
    );
    let page = place.path("figure.html");
    let write = || {
        let mut write = place.oscope(&["reproduce", "e", "fig 26", "--output"]);
        write.arg(&page);
        write
    };
    write().assert().success();
    let text = fs::read_to_string(&page).expect("it was written");
    assert!(
        text.contains("1.486661667 million/s") && text.contains("<svg"),
        "{text}"
    );
    write().assert().failure().stderr(contains("--force"));
}

#[test]
fn what_lacks_is_measured_first() {
    let place = Place::new();
    place
        .oscope(&["reproduce", "D", "Test", "--dir", ".", "--run"])
        .assert()
        .code(2)
        .stderr(contains("--list"));
    let mut reproduce = place.oscope(&["reproduce", "E", "Figure 26", "--run", "--dir"]);
    reproduce
        .arg(place.scratch())
        .assert()
        .success()
        .stdout(contains("24 figures").and(contains("not measured here yet").not()));
}

#[test]
fn a_level_that_is_not_planned_is_measured_alone() {
    let place = Place::new();
    run(
        &place,
        &[
            "threads.lock",
            "--at",
            "threads=7",
            "--at",
            "body=simple",
            "--at",
            "lock=SpinLock",
            "--budget",
            "2s",
        ],
    );
    let found = levels(&place, "threads.lock");
    assert_eq!(found.len(), 1, "{found:?}");
    assert_eq!(found[0]["threads"], 7);
    run(
        &place,
        &["file.call", "--file-size", "12KiB", "--budget", "2s"],
    );
    let found = levels(&place, "file.call");
    assert!(
        found.len() == 2 && found.iter().all(|it| it["file_size"] == 12288),
        "{found:?}"
    );
}

#[test]
fn what_an_axis_does_not_take_is_refused() {
    let place = Place::new();
    let refused = |arguments: &[&str], why: &str| {
        place
            .oscope(&["run", "--no-page", "--dir"])
            .arg(place.scratch())
            .args(arguments)
            .assert()
            .code(2)
            .stderr(contains(why));
    };
    refused(&["threads.lock", "--at", "lock=none"], "it takes Lock");
    refused(&["threads.lock", "--at", "threads=0"], "from 1 to 999");
    refused(
        &["threads.lock", "--at", "colour=red"],
        "the axes are body, lock, threads",
    );
    refused(
        &["process.calls", "--file-size", "4GiB"],
        "no axis 'file_size'",
    );
    refused(&["threads.lock", "--at", "threads"], "AXIS=LEVEL");
    let nothing = fs::read_dir(place.scratch()).expect("it is there").count();
    assert_eq!(nothing, 0);
}
