//! `oscope lab`: each lab from its questions to the hand-in, and a class.

mod common;

use common::{Place, scratch_files, wait_for};
use predicates::prelude::*;
use predicates::str::contains;
use serde_json::Value;
use std::fmt::Write as _;
use std::fs;
use std::path::PathBuf;

const EXPORTED: &str = concat!(
    env!("CARGO_MANIFEST_DIR"),
    "/../record/tests/fixtures/run.oscope.json"
);

/// The labs as `oscope lab list --json` tells them.
fn labs(place: &Place) -> Vec<Value> {
    let output = place
        .oscope(&["lab", "list", "--json"])
        .output()
        .expect("it starts");
    let document: Value = serde_json::from_slice(&output.stdout).expect("it is JSON");
    document.as_array().expect("a list").clone()
}

/// A file of answers to all questions of `lab`.
fn answers(place: &Place, lab: &str) -> PathBuf {
    let labs = labs(place);
    let known = labs.iter().find(|it| it["name"] == lab).expect(lab);
    let mut text = "student = Anna B.\n".to_owned();
    for question in known["questions"].as_array().expect("a list") {
        let key = question["key"].as_str().expect("a key");
        let prediction = match question["unit"].as_str() {
            None => question["choices"][0].as_str().expect("a choice"),
            Some("nanoseconds") => "10 ns",
            Some("bytes") => "64 KiB",
            Some("bytes_per_second") => "5 GB/s",
            Some("operations_per_second") => "1 Mops/s",
            Some(_) => "3",
        };
        writeln!(
            text,
            "{key} = {prediction}\n{key}.why = Since <b>it</b> is so."
        )
        .expect("a String takes all");
    }
    let path = place.path("answers.txt");
    fs::write(&path, text).expect("a file");
    path
}

/// Measures `lab` in a short form and looks at all that was written.
fn runs_to_its_end(lab: &str) {
    let place = Place::new();
    let (answers, output) = (answers(&place, lab), place.path("hand-ins"));
    let start = || {
        let mut start = place.oscope(&["lab", "start", lab, "--budget", "4s", "--quiet"]);
        start.arg("--answers").arg(&answers);
        start.arg("--dir").arg(place.scratch());
        start.arg("--output").arg(&output);
        start
    };
    // A point that the system or the time does not allow leaves the exit code 1, and the hand-in its reason.
    let started = start().assert().code(predicate::in_iter([0, 1]));
    let is_whole = started.get_output().status.success();
    let read = |ending: &str| {
        let path = output.join(format!("lab-{lab}-anna-b{ending}"));
        fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
    };
    let hand_in: Value = serde_json::from_str(&read(".json")).expect("JSON");
    let asked = labs(&place);
    let asked = asked.iter().find(|it| it["name"] == lab).expect(lab);
    let keys = |of: &Value| -> Vec<Value> {
        let all = of.as_array().expect("a list").iter();
        all.map(|it| it["key"].clone()).collect()
    };
    assert_eq!(keys(&hand_in["answers"]), keys(&asked["questions"]));
    for answer in hand_in["answers"].as_array().expect("a list") {
        assert!(answer["measured"].is_object(), "{answer:#}");
        assert_eq!(answer["why"], "Since <b>it</b> is so.");
    }
    let (text, page) = (read(".md"), read(".html"));
    assert!(!page.contains("<b>it</b>") && !page.contains("<script"));
    // A chart needs more than one point.
    if is_whole || text.contains("-1.svg") {
        assert!(text.contains("-1.svg") && page.contains("<svg"));
        assert!(read("-1.svg").starts_with("<svg"));
    }
    assert!(scratch_files(&place.scratch()).is_empty());
    // Existing files stay, and are seen before anything is measured.
    start().assert().failure().stderr(contains("--force"));
}

#[test]
fn lab_caches() {
    runs_to_its_end("caches");
}

#[test]
fn lab_blocks() {
    runs_to_its_end("blocks");
}

#[test]
fn lab_cold_warm() {
    runs_to_its_end("cold-warm");
}

#[test]
fn lab_clocks() {
    runs_to_its_end("clocks");
}

#[test]
fn lab_locks() {
    runs_to_its_end("locks");
}

#[test]
fn lab_inversion() {
    runs_to_its_end("inversion");
}

#[test]
fn lab_mmap() {
    runs_to_its_end("mmap");
}

#[test]
fn lab_systems() {
    runs_to_its_end("systems");
}

#[test]
fn every_lab_is_tested_here() {
    let source = include_str!("lab.rs");
    for lab in labs(&Place::new()) {
        let name = lab["name"].as_str().expect("a name");
        assert!(
            source.contains(&format!("runs_to_its_end(\"{name}\")")),
            "{name}"
        );
    }
}

#[test]
fn without_a_terminal_the_missing_answers_are_named() {
    let place = Place::new();
    let start = ["lab", "start", "locks", "--answer", "short=Lock"];
    place.oscope(&start).assert().code(2).stderr(
        contains("no terminal")
            .and(contains("student, yields, factor"))
            .and(contains("--questions")),
    );
    for (wrong, told) in [
        (
            ["lab", "start", "locks", "--answer", "short=3 ns"],
            "Lock, SpinLock",
        ),
        (["lab", "start", "locks", "--answer", "long=Lock"], "yields"),
        (
            ["lab", "start", "none", "--answer", "short=Lock"],
            "cold-warm",
        ),
    ] {
        place.oscope(&wrong).assert().code(2).stderr(contains(told));
    }
    place
        .oscope(&["lab", "start", "locks", "--questions"])
        .assert()
        .success()
        .stdout(contains("yields.why = "));
    assert!(!place.store.exists());
}

#[test]
fn a_class_stands_side_by_side_on_a_stored_run() {
    let place = Place::new();
    place
        .oscope(&[
            "run",
            "threads.lock",
            "--budget",
            "12s",
            "--no-page",
            "--dir",
        ])
        .arg(place.scratch())
        .assert()
        // A slow machine does not reach every point.
        .code(predicate::in_iter([0, 1]));
    let answers = answers(&place, "locks");
    let output = place.path("hand-ins");
    for student in ["Anna", "Berta <b>"] {
        let mut start = place.oscope(&[
            "lab",
            "start",
            "locks",
            "--of",
            "latest",
            "--student",
            student,
        ]);
        start
            .arg("--answers")
            .arg(&answers)
            .arg("--output")
            .arg(&output);
        start
            .assert()
            .success()
            .stderr(contains("Report D, Table 1"));
    }
    let documents = ["lab-locks-anna.json", "lab-locks-berta-b.json"].map(|name| output.join(name));
    let collect = |more: &[&str]| {
        let mut collect = place.oscope(&["lab", "collect"]);
        collect.args(&documents).args(more);
        collect
    };
    let markdown = collect(&[]).assert().success();
    markdown.stdout(contains("| Anna |").and(contains("Berta &lt;b&gt;")));
    let page = place.path("class.html");
    collect(&["--output", page.to_str().expect("UTF-8")])
        .assert()
        .success();
    let text = fs::read_to_string(&page).expect("a page");
    assert!(text.contains("<svg") && text.contains("Berta") && !text.contains("<b>"));
    let told = collect(&["--json"]).output().expect("it starts");
    let class: Value = serde_json::from_slice(&told.stdout).expect("JSON");
    assert_eq!(
        class["questions"][0]["rows"].as_array().map(Vec::len),
        Some(2)
    );
    place
        .oscope(&["lab", "collect", EXPORTED])
        .assert()
        .failure()
        .stderr(contains("no hand-in"));
    // A run that has nothing of the lab.
    place
        .oscope(&[
            "lab",
            "start",
            "inversion",
            "--of",
            "latest",
            "--student",
            "A",
            "--answer",
            "none=B",
        ])
        .args([
            "--answer",
            "inheritance=A",
            "--answer",
            "ceiling=A",
            "--answer",
            "gain=2",
        ])
        .assert()
        .code(2)
        .stderr(contains("threads.inversion"));
}

#[test]
fn a_stop_leaves_no_hand_in_and_no_scratch_files() {
    let place = Place::new();
    let answers = answers(&place, "systems");
    let output = place.path("hand-ins");
    let child = place
        .plain(&["lab", "start", "systems", "--answers"])
        .arg(&answers)
        .arg("--dir")
        .arg(place.scratch())
        .arg("--output")
        .arg(&output)
        .spawn()
        .expect("it starts");
    assert!(wait_for(|| place.samples() > 0), "it never measured");
    let interrupt = testing::Command::new("kill")
        .args(["-INT", &child.id().to_string()])
        .status();
    assert!(interrupt.expect("kill is there").success());
    let ended = child.wait_with_output().expect("it ends");
    assert_eq!(ended.status.code(), Some(130));
    assert_eq!(fs::read_dir(&output).expect("it was made").count(), 0);
    assert!(scratch_files(&place.scratch()).is_empty());
}
