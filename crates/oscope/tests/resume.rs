//! Runs that stop before their end, and go on with `oscope run --resume`.

mod common;

use common::{LARGE_BUDGET, Place, wait_for};
use predicates::prelude::*;
use predicates::str::contains;
use serde_json::Value;
use std::fs;
use std::process::{Output, Stdio};
use testing::{Command, Process};

/// A run of ten passes, after its first measurement.
fn begun(place: &Place) -> Process {
    begun_with(place, &[])
}

fn begun_with(place: &Place, options: &[&str]) -> Process {
    let what = ["run", "process.calls", "--at", "call=getpid", "--no-page"];
    let child = place
        .plain(&what)
        .args(["--budget", LARGE_BUDGET])
        .args(options)
        .arg("--dir")
        .arg(place.scratch())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("the program starts");
    assert!(wait_for(|| place.samples() > 0), "the run never measured");
    child
}

fn end_by(signal: &str, child: Process) -> Output {
    let sent = Command::new("kill")
        .args([format!("-{signal}"), child.id().to_string()])
        .status();
    assert!(sent.expect("kill(1) is there").success());
    child.wait_with_output().expect("the program ends")
}

/// The run with this number, as it is stored.
fn stored(place: &Place, number: &str) -> Value {
    let file = place.path("exported.json");
    place
        .oscope(&["export", number, "--force", "-o"])
        .arg(&file)
        .assert()
        .success();
    let text = fs::read(file).expect("it was written");
    serde_json::from_slice(&text).expect("JSON")
}

/// The batches of each point, by its experiment and levels.
fn batches(run: &Value) -> Vec<(String, Vec<Value>)> {
    let list = |of: &Value| of.as_array().cloned().unwrap_or_default();
    let mut found = Vec::new();
    for experiment in list(&run["run"]["experiments"]) {
        for point in list(&experiment["points"]) {
            let name = format!("{} {}", experiment["definition"]["id"], point["point"]);
            found.push((name, list(&point["batches"])));
        }
    }
    assert!(!found.is_empty(), "the format of exported runs has changed");
    found
}

fn count(run: &Value) -> usize {
    batches(run).iter().map(|(_, batches)| batches.len()).sum()
}

/// Goes on with run 1, and checks that all that was stored before is still there.
fn resume(place: &Place) -> Value {
    let before = stored(place, "1");
    place
        .oscope(&["run", "--resume", "1", "--no-page"])
        .assert()
        .success()
        .stdout(contains("process.calls"))
        .stderr(contains("at most "));
    let after = stored(place, "1");
    for ((name, old), (same, new)) in batches(&before).iter().zip(batches(&after)) {
        assert_eq!(*name, same);
        assert_eq!(old[..], new[..old.len()], "{name}");
    }
    assert!(count(&after) > count(&before));
    let header = &after["run"]["header"];
    let budget = |run: &Value| run["run"]["header"]["budget_ns"].as_f64().expect("a time");
    assert!(
        budget(&after) < 1.01 * budget(&before),
        "only the rest is given"
    );
    assert_eq!(header["interrupted"], false);
    assert!(header["ended"].is_string());
    assert_eq!(header["id"], before["run"]["header"]["id"]);
    place.oscope(&["verify"]).assert().success();
    after
}

#[test]
fn after_ctrl_c_a_run_tells_how_to_go_on_and_goes_on() {
    let place = Place::new();
    let output = end_by("INT", begun(&place));
    assert_eq!(output.status.code(), Some(130));
    let told = String::from_utf8_lossy(&output.stderr).into_owned();
    let command = format!("`oscope run --resume 1 --store {}`", place.store.display());
    assert!(told.contains(&command), "{told}");
    assert_eq!(stored(&place, "1")["run"]["header"]["interrupted"], true);
    let whole = resume(&place);
    let passes = batches(&whole).into_iter().flat_map(|(_, batches)| batches);
    let mut passes: Vec<u64> = passes.filter_map(|batch| batch["pass"].as_u64()).collect();
    passes.sort_unstable();
    passes.dedup();
    assert_eq!(passes, (0..passes.len() as u64).collect::<Vec<_>>());
    assert!(passes.len() > 2, "{passes:?}");
    let runs = place.oscope(&["history", "--json"]).assert().success();
    let runs: Value = serde_json::from_slice(&runs.get_output().stdout).expect("JSON");
    assert_eq!(runs.as_array().map(Vec::len), Some(1), "it is the same run");
}

#[test]
fn a_run_that_was_killed_goes_on_too() {
    let place = Place::new();
    end_by("KILL", begun(&place));
    assert!(stored(&place, "1")["run"]["header"]["ended"].is_null());
    resume(&place);
}

#[test]
fn a_run_whose_writes_are_limited_goes_on_after_a_kill_with_what_is_left() {
    let place = Place::new();
    let limits = ["--limit", "written=1GiB"];
    end_by("KILL", begun_with(&place, &limits));
    let written = |run: &Value| {
        let used = &run["run"]["header"]["limited"]["used"];
        used["written_bytes"].as_u64().expect("it was noted")
    };
    let before = written(&stored(&place, "1"));
    let after = written(&resume(&place));
    assert!(before > 0 && after > before, "{before} {after}");
}

#[test]
fn limits_hold_for_both_parts_together() {
    let place = Place::new();
    let output = end_by(
        "INT",
        begun_with(&place, &["--limit", "processor=50%,written=1GiB"]),
    );
    assert_eq!(output.status.code(), Some(130));
    let used = |run: &Value, what: &str| {
        let limited = &run["run"]["header"]["limited"];
        assert_eq!(limited["limits"]["processor_percent"], 50.0);
        limited["used"][what].as_u64().expect("a number")
    };
    let before = stored(&place, "1");
    let after = resume(&place);
    for grows in ["wall_ns", "cpu_ns", "written_bytes"] {
        assert!(used(&after, grows) > used(&before, grows), "{grows}");
    }
}

#[test]
fn a_run_with_relative_paths_goes_on_from_another_directory() {
    let place = Place::new();
    fs::create_dir_all(place.path("there")).expect("it is ours");
    let what = ["run", "file.remote", "--budget", LARGE_BUDGET, "--no-page"];
    let child = place
        .plain(&what)
        .current_dir(place.path(""))
        .args(["--remote", "there", "--dir"])
        .arg(place.scratch().file_name().expect("it has a name"))
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("the program starts");
    assert!(wait_for(|| place.samples() > 0), "the run never measured");
    assert_eq!(end_by("INT", child).status.code(), Some(130));
    let before = stored(&place, "1");
    let _ = place
        .oscope(&["run", "--resume", "1", "--budget", "2s", "--no-page"])
        .current_dir("/")
        .assert()
        .stderr(contains("visits"));
    assert!(count(&stored(&place, "1")) > count(&before));
}

#[test]
fn a_run_cut_off_by_its_budget_gets_the_time_that_is_given() {
    let place = Place::new();
    let what = [
        "run",
        "process",
        "--budget",
        "1s",
        "--no-page",
        "--seed",
        "3",
    ];
    place
        .oscope(&what)
        .arg("--dir")
        .arg(place.scratch())
        .assert()
        .code(1)
        .stderr(contains("oscope run --resume 1"));
    let before = stored(&place, "1");
    place
        .oscope(&["run", "--resume", "1", "--budget", "4s", "--no-page"])
        .assert()
        .stderr(contains("quick profile: at most 4.0 s"));
    let after = stored(&place, "1");
    assert!(count(&after) > count(&before));
    let budget = |run: &Value| run["run"]["header"]["budget_ns"].as_f64();
    assert!(budget(&after) > budget(&before));
    let seen = |run: &Value| batches(run).iter().filter(|it| !it.1.is_empty()).count();
    assert!(seen(&after) > seen(&before), "new points come first");
}

#[test]
fn a_run_that_is_under_way_is_left_alone() {
    let place = Place::new();
    let child = begun(&place);
    place
        .oscope(&["run", "--resume", "1", "--no-page"])
        .assert()
        .code(2)
        .stderr(contains("may still be under way"));
    assert_eq!(end_by("INT", child).status.code(), Some(130));
    place.oscope(&["verify"]).assert().success();
}

#[test]
fn what_cannot_go_on_is_refused_with_the_reason() {
    let place = Place::new();
    place.short_run().assert().success();
    let file = place.path("elsewhere.json");
    place
        .oscope(&["export", "1", "--redact", "-o"])
        .arg(&file)
        .assert()
        .success();
    let other = Place::new();
    other.oscope(&["import"]).arg(&file).assert().success();
    let refused = |place: &Place, reason: &str| {
        place
            .oscope(&["run", "--resume", "1", "--no-page"])
            .assert()
            .code(2)
            .stderr(contains(reason).and(contains("`oscope run` measures anew")));
    };
    refused(&other, "it was measured on another machine");
    fs::remove_dir_all(place.scratch()).expect("nobody uses it");
    refused(&place, "is gone");
    for other in [["--profile", "standard"], ["--at", "threads=2"]] {
        place
            .oscope(&["run", "--resume", "1"])
            .args(other)
            .assert()
            .code(2)
            .stderr(contains("cannot be used with"));
    }
    place
        .oscope(&["run", "--resume", "9"])
        .assert()
        .code(2)
        .stderr(contains("there is no run '9'"));
}
