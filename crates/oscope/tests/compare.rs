//! Comparisons as a user sees them, of made-up runs whose times differ by known factors.

mod common;
#[path = "compare/conditions.rs"]
mod conditions;

use common::{LARGE_BUDGET, Place};
use predicates::prelude::*;
use predicates::str::contains;
use serde_json::{Value, json};
use std::fs;
use std::path::PathBuf;

/// The calls of the made-up runs; real runs use the same names.
const CALLS: [&str; 8] = [
    "getpid",
    "read 1 byte",
    "lseek",
    "open+close",
    "fopen+fclose",
    "create+delete",
    "malloc+free",
    "fork+exit+wait",
];

/// An environment with a run that serves as template for sessions.
struct Bench {
    place: Place,
    run: Value,
    /// Number of processes per point.
    processes: usize,
    /// The time of each process over that of the session.
    of_process: fn(usize) -> f64,
}

impl Bench {
    fn new() -> Self {
        let place = Place::new();
        let mut export = place.oscope(&["export", "reference:pentium4-2003-linux"]);
        let output = export.unwrap();
        let mut run: Value = serde_json::from_slice(&output.stdout).expect("an exported run");
        // A changed run would not match its checksums.
        let document = run.as_object_mut().expect("a document");
        document.remove("checksums");
        let experiments = &mut run["run"]["experiments"];
        *experiments = json!([experiments[0]]);
        experiments[0]["definition"]["isolation"] = "fresh_process".into();
        Self {
            place,
            run,
            processes: 5,
            of_process: |process| 1.0 + 0.001 * process as f64,
        }
    }

    /// An exported session in which everything takes `factor` times as long.
    fn session(&self, name: &str, factor: f64) -> String {
        let mut run = self.run.clone();
        run["run"]["header"]["id"] = format!("{:032x}", fnv(name)).into();
        let example = run["run"]["experiments"][0]["points"][0].clone();
        let point = |(index, call): (usize, &&str)| {
            let mut point = example.clone();
            point["point"] = json!([["call", call], ["optimisation", 3]]);
            let batch = |process: usize| {
                let mut batch = example["batches"][0].clone();
                // Calls of different durations, and processes that differ by a few per mille.
                let ns = factor * 1e7 * (index + 1) as f64 * (self.of_process)(process);
                batch["pass"] = process.into();
                batch["samples"][0]["reading"] =
                    json!({ "once": { "work": 1000.0, "wall_ns": ns as u64 } });
                batch
            };
            point["batches"] = (0..self.processes).map(batch).collect();
            point
        };
        run["run"]["experiments"][0]["points"] = CALLS.iter().enumerate().map(point).collect();
        let path = self.file(name);
        fs::write(&path, run.to_string()).expect("a file in the place");
        path.to_str().expect("a plain path").to_owned()
    }

    /// Several sessions around `factor`, as one side.
    fn side(&self, name: &str, factor: f64) -> String {
        let wobble = [0.999, 1.0, 1.001];
        let sessions = wobble
            .iter()
            .enumerate()
            .map(|(index, wobble)| self.session(&format!("{name}{index}"), factor * wobble));
        sessions.collect::<Vec<_>>().join(",")
    }

    fn file(&self, name: &str) -> PathBuf {
        self.place.path(&format!("{name}.oscope.json"))
    }
}

fn fnv(text: &str) -> usize {
    text.bytes().fold(0x811c_9dc5, |hash, byte| {
        ((hash ^ usize::from(byte)) * 0x0100_0193) & 0xffff_ffff
    })
}

fn json(stdout: &[u8]) -> Value {
    serde_json::from_slice(stdout).expect("what --json prints is JSON")
}

#[test]
fn sessions_of_single_processes_are_refused() {
    let bench = Bench {
        processes: 1,
        ..Bench::new()
    };
    let (before, after) = (bench.side("before", 1.0), bench.side("after", 1.2));
    bench
        .place
        .oscope(&["compare", &before, &after, "--all"])
        .assert()
        .code(1)
        .stderr(contains("seen too seldom for an estimate"));
}

#[test]
fn a_change_of_a_fifth_is_found_and_fails_the_gate() {
    let bench = Bench::new();
    let (before, after) = (bench.side("before", 1.0), bench.side("after", 1.2));
    let page = bench.place.path("comparison.html");
    let compared = bench
        .place
        .oscope(&["compare", &before, &after, "--json", "--fail-on", "slower"])
        .arg("--page")
        .arg(&page)
        .assert()
        .code(3)
        .stderr(contains("page:"));
    let compared = &json(&compared.get_output().stdout)["comparisons"][0];
    let counts = &compared["counts"];
    assert_eq!(counts["faster"], 0, "{counts}");
    assert_eq!(counts["slower"], CALLS.len(), "{counts}");
    assert_eq!(compared["basis"], "sessions");
    let value = &compared["values"][0];
    let ratio = value["ratio"].as_f64().expect("a ratio");
    assert!((ratio * 1.2 - 1.0).abs() < 0.01, "{value}");
    let page = fs::read_to_string(page).expect("the page was written");
    assert!(page.contains("<svg") && page.contains("process.calls"));

    bench
        .place
        .oscope(&["compare", &after, &before, "--fail-on", "slower"])
        .assert()
        .success()
        .stdout(contains("faster").and(contains("95 % interval")));
    bench
        .place
        .oscope(&["compare", &before, &after, "--markdown"])
        .assert()
        .success()
        .stdout(contains("| slower").and(contains("### ")));
}

#[test]
fn a_machine_is_equivalent_to_itself() {
    let bench = Bench::new();
    let (one, other) = (bench.side("one", 1.0), bench.side("other", 1.001));
    let compared = bench
        .place
        .oscope(&["compare", &one, &other, "--json", "--fail-on", "different"])
        .assert()
        .success();
    let compared = &json(&compared.get_output().stdout)["comparisons"][0];
    let counts = &compared["counts"];
    assert_eq!(counts["equivalent"], CALLS.len(), "{counts}");
    assert_eq!(compared["circumstances"], json!([]));
}

#[test]
fn one_session_each_says_what_it_cannot_tell_and_other_machines_are_named() {
    let mut bench = Bench::new();
    let mut machine = |memory_bytes: u64, name: &str, factor: f64| {
        bench.run["run"]["machine"]["memory_bytes"] = memory_bytes.into();
        bench.run["run"]["header"]["machine_fingerprint"] = name.into();
        bench.session(name, factor)
    };
    let before = machine(1 << 30, "before", 1.0);
    let after = machine(2 << 30, "after", 1.5);
    bench
        .place
        .oscope(&["compare", &before, &after, "--fail-on", "slower"])
        .assert()
        .code(2)
        .stderr(contains("oscope run --sessions 3"));
    bench
        .place
        .oscope(&["compare", &before, &after])
        .assert()
        .success()
        .stdout(
            contains("One session on each side")
                .and(contains("8 inconclusive"))
                .and(contains("0.667 ×"))
                .and(contains("The machines are not the same"))
                .and(contains("machine: memory"))
                .and(contains("1 GiB").and(contains("2 GiB"))),
        );
}

/// The mean of these processes lies far from the value that the session tells.
#[test]
fn the_interval_of_two_single_sessions_contains_their_ratio() {
    let mut bench = Bench::new();
    bench.processes = 10;
    let before = bench.session("before", 1.0);
    bench.of_process = |process| {
        if process > 6 {
            1.8
        } else {
            1.0 + 0.001 * process as f64
        }
    };
    let after = bench.session("after", 1.0);
    let mut compare = bench.place.oscope(&["compare", &before, &after, "--json"]);
    let found = json(&compare.output().expect("it ran").stdout);
    let rows = found["comparisons"][0]["values"].as_array();
    let rows = rows.expect("values");
    assert_eq!(rows.len(), CALLS.len());
    for row in rows {
        let end = |name: &str| row["interval"][name].as_f64().expect("an end");
        let ratio = row["ratio"].as_f64().expect("a ratio");
        assert!(end("low") <= ratio && ratio <= end("high"), "{row}");
    }
}

#[test]
fn what_does_not_mean_the_same_is_refused_with_its_reason() {
    let mut bench = Bench::new();
    let before = bench.session("before", 1.0);
    let definition = &mut bench.run["run"]["experiments"][0]["definition"];
    definition["metrics"][0]["version"] = 2.into();
    let after = bench.session("after", 1.0);
    bench
        .place
        .oscope(&["compare", &before, &after])
        .assert()
        .code(1)
        .stderr(contains(
            "version 1 of the metric on one side, version 2 on the other",
        ));
}

#[test]
fn sides_that_make_no_sense_are_told_apart() {
    let bench = Bench::new();
    let one = bench.session("one", 1.0);
    let fails = |sides: [&str; 2], code: i32, words: &str| {
        bench
            .place
            .oscope(&["compare", sides[0], sides[1]])
            .assert()
            .code(code)
            .stderr(contains(words));
    };
    fails([&one, "99"], 1, "there is no store at");
    fails([&one, "reference:none"], 2, "pentium4-2003-linux");
    let twice = format!("{one},{one}");
    fails([&one, &twice], 2, "names the same run twice");
    fails([&one, &one], 2, "share a run");
    let damaged = bench.file("damaged");
    fs::write(&damaged, "{\"format\":\"oscope-run\",\"version\":1,").expect("a file");
    fails(
        [&one, damaged.to_str().expect("a plain path")],
        1,
        "cut off",
    );
    fails(
        [&one, "reference:pentium4-2003-linux"].map(|side| side),
        0,
        "",
    );
}

#[test]
fn what_shares_nothing_is_said() {
    let mut bench = Bench::new();
    let one = bench.session("one", 1.0);
    bench.run["run"]["experiments"][0]["definition"]["id"] = "process.other".into();
    let other = bench.session("other", 1.0);
    bench
        .place
        .oscope(&["compare", &one, &other])
        .assert()
        .code(1)
        .stderr(contains("nothing in common").and(contains("process.other")));

    let elsewhere = bench.session("elsewhere", 1.0);
    let run = fs::read_to_string(&elsewhere).expect("a session");
    let moved = run.replace(r#"["optimisation",3]"#, r#"["optimisation",2]"#);
    assert_ne!(moved, run);
    fs::write(&elsewhere, moved).expect("the same file");
    bench
        .place
        .oscope(&["compare", &other, &elsewhere])
        .assert()
        .code(1)
        .stderr(contains("both measured process.other, at other points"));
}

#[test]
fn a_machine_of_today_stands_beside_one_of_2003() {
    let bench = Bench::new();
    let here = bench.session("here", 1.0);
    bench
        .place
        .oscope(&["compare", "reference:pentium4-2003-linux", &here])
        .assert()
        .success()
        .stdout(contains("getpid").and(contains("printed in a published report")));
    bench
        .place
        .oscope(&["list", "--references"])
        .assert()
        .success()
        .stdout(contains("reference:pentium4-2003-windows"));
}

#[test]
fn a_run_can_be_compared_as_soon_as_it_is_measured() {
    let bench = Bench::new();
    let scratch = bench.place.scratch();
    let before = bench.session("before", 1.0);
    bench.place.oscope(&["import", &before]).assert().success();
    bench
        .place
        .oscope(&["run", "process.calls", "--at", "call=getpid", "--no-page"])
        .args(["--budget", LARGE_BUDGET])
        .args(["--compare-with", "1", "--sessions", "2", "--name", "after"])
        .arg("--dir")
        .arg(&scratch)
        .assert()
        .success()
        .stdout(contains("A  1").and(contains("B  2,3 (2 sessions)")))
        .stderr(contains("session 2 of 2"));
    bench.place.oscope(&["show", "after-2"]).assert().success();
}

#[test]
fn what_cannot_be_compared_is_refused_before_it_is_measured() {
    let place = Place::new();
    let fixture = concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/../record/tests/fixtures/run.oscope.json"
    );
    place.oscope(&["import", fixture]).assert().success();
    place
        .oscope(&["run", "memory.latency", "--compare-with", "1"])
        .args(["--no-page", "--dir"])
        .arg(place.scratch())
        .assert()
        .code(1)
        .stdout("")
        .stderr(contains("the other memory.latency").and(contains("session 1").not()));
    // Nothing was measured.
    place.oscope(&["show", "2"]).assert().failure();
}

/// Imports one session of `bench` for each of these days into `place`.
fn import_days(place: &Place, bench: &Bench, days: std::ops::Range<u32>, factor: f64) {
    import_days_on(place, bench, days, factor, "6.1.0");
}

/// As [`import_days`], under a kernel of this release.
fn import_days_on(
    place: &Place,
    bench: &Bench,
    days: std::ops::Range<u32>,
    factor: f64,
    kernel: &str,
) {
    for day in days {
        let wobble = 1.0 + 0.002 * f64::from(day * 7 % 5);
        let session = bench.session(&format!("history{day}"), factor * wobble);
        let text = fs::read_to_string(&session).expect("a session");
        let mut run: Value = serde_json::from_str(&text).expect("JSON");
        run["run"]["header"]["started"] = format!("2024-01-{day:02}T00:00:00Z").into();
        run["run"]["environment"]["kernel_release"] = kernel.into();
        fs::write(&session, run.to_string()).expect("a session");
        place.oscope(&["import", &session]).assert().success();
    }
}

#[test]
fn a_change_in_many_metrics_is_told_once_with_its_cause() {
    let bench = Bench::new();
    import_days_on(&bench.place, &bench, 1..13, 1.0, "6.1.0");
    import_days_on(&bench.place, &bench, 13..25, 1.1, "6.2.0");
    let asked = ["history", "--changes"];
    let told = bench.place.oscope(&asked).arg("--json").assert().success();
    let told = json(&told.get_output().stdout);
    assert_eq!(told["searched"], 8);
    let changes = told["changes"].as_array().expect("a list");
    assert_eq!(changes.len(), 1, "{told:#}");
    let change = &changes[0];
    assert_eq!(
        (&change["kind"], &change["latest_run"]),
        (&"step".into(), &13.into())
    );
    let moved = &change["moved"][0];
    assert_eq!(moved["values"].as_array().expect("a list").len(), 8);
    assert!((moved["ratio"].as_f64().expect("a ratio") * 1.1 - 1.0).abs() < 0.01);
    let kernel = json!({ "name": "environment: kernel release", "a": "6.1.0", "b": "6.2.0" });
    assert_eq!(change["circumstances"], json!([kernel]));
    let text = bench.place.oscope(&asked).assert().success();
    let text = text.stdout(contains("8 values changed together").and(contains("8 of 8")));
    text.stdout(contains("kernel release: 6.2.0, before 6.1.0"));
    // The metrics of an experiment are not asked for with all.
    let both = [&asked[..], &["process.calls"]].concat();
    bench.place.oscope(&both).assert().code(2);
}

#[test]
fn steady_metrics_have_no_change_and_few_runs_say_how_many_are_needed() {
    let bench = Bench::new();
    import_days(&bench.place, &bench, 1..6, 1.0);
    let asked = ["history", "--changes"];
    let few = bench.place.oscope(&asked).assert().success();
    few.stdout(contains("10 runs or more; here are 5 runs"));
    import_days(&bench.place, &bench, 6..25, 1.0);
    let steady = bench.place.oscope(&asked).assert().success();
    steady.stdout(contains("None of 8 values changed"));
}

#[test]
fn a_change_in_the_history_of_a_metric_is_found() {
    let bench = Bench::new();
    import_days(&bench.place, &bench, 1..13, 1.0);
    import_days(&bench.place, &bench, 13..25, 1.3);
    let asked = ["history", "process.calls.rate", "--at", "call=getpid"];
    let history = bench.place.oscope(&asked).arg("--json").assert().success();
    let history = &json(&history.get_output().stdout)[0];
    let changes = history["changes"].as_array().expect("changes");
    assert_eq!(changes.len(), 1, "{changes:?}");
    assert_eq!(changes[0]["run"], 13);
    let ratio = changes[0]["ratio"].as_f64().expect("a ratio");
    assert!((ratio * 1.3 - 1.0).abs() < 0.01, "{ratio}");
    bench
        .place
        .oscope(&asked)
        .assert()
        .success()
        .stdout(contains("at run 13").and(contains("13 to 24")));
    bench
        .place
        .oscope(&["history", "process.calls.rat"])
        .assert()
        .code(2)
        .stderr(contains("oscope explain process.calls"));
}

#[test]
fn a_run_goes_out_in_every_format_and_a_chart_as_a_picture() {
    let bench = Bench::new();
    let run = bench.session("run", 1.0);
    let exported = |format: &str| {
        let exported = bench
            .place
            .oscope(&["export", &run, "--format", format])
            .assert()
            .success();
        String::from_utf8(exported.get_output().stdout.clone()).expect("text")
    };
    let markdown = exported("markdown");
    assert!(markdown.contains("| fork+exit+wait, "), "{markdown}");
    let metrics = exported("openmetrics");
    let gauge =
        "oscope_process_calls_rate_operations_per_second{call=\"getpid\",optimisation=\"3\"} ";
    assert!(metrics.contains(gauge), "{metrics}");
    assert!(metrics.ends_with("# EOF\n"), "{metrics}");
    let benchmark: Value = serde_json::from_str(&exported("google-benchmark")).expect("JSON");
    let first = &benchmark["benchmarks"][0];
    assert_eq!(
        first["name"],
        "process.calls/rate/call:getpid/optimisation:3"
    );
    assert_eq!(first["time_unit"], "ns");

    let chart = bench.place.path("cost.svg");
    bench
        .place
        .oscope(&["plot", "process.calls.rate", "--run", &run, "--output"])
        .arg(&chart)
        .assert()
        .success();
    let chart = fs::read_to_string(chart).expect("the chart was written");
    assert!(
        chart.starts_with("<svg ") && chart.contains("getpid"),
        "{chart}"
    );
    bench
        .place
        .oscope(&["plot", "nothing", "--run", &run, "--output", "-"])
        .assert()
        .code(2)
        .stderr(contains("the run has no chart 'nothing'"));
}
