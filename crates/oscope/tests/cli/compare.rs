//! Comparisons as a user sees them, of made-up runs whose times differ by known factors.

mod conditions;
mod machines;

use crate::common::{
    EXPORTED, LARGE_BUDGET, Place, REPORT, fnv, json, list, made_up, made_up_batch, printed,
};
use serde_json::{Value, json};
use std::fs;
use std::ops::Range;

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
        let mut run = made_up(&place);
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
            // Calls of different durations, and processes that differ by a few per mille.
            let of_call = factor * 1e7 * (index + 1) as f64;
            let ns = |process| of_call * (self.of_process)(process);
            let batch = |process| made_up_batch(&example, process, ns(process));
            point["batches"] = (0..self.processes).map(batch).collect();
            point
        };
        run["run"]["experiments"][0]["points"] = CALLS.iter().enumerate().map(point).collect();
        let file = format!("{name}.oscope.json");
        self.place.file(&file, run.to_string())
    }

    /// Several sessions around `factor`, as one side.
    fn side(&self, name: &str, factor: f64) -> String {
        let wobble = [0.999, 1.0, 1.001].into_iter().enumerate();
        let session =
            |(index, it): (usize, f64)| self.session(&format!("{name}{index}"), factor * it);
        wobble.map(session).collect::<Vec<_>>().join(",")
    }

    /// Imports one session for each of these days, under a kernel of this release.
    fn import_days(&self, days: Range<u32>, factor: f64, kernel: &str) {
        for day in days {
            let wobble = 1.0 + 0.002 * f64::from(day * 7 % 5);
            let session = self.session(&format!("history{day}"), factor * wobble);
            let mut run = json(&fs::read(&session).expect("a session"));
            run["run"]["header"]["started"] = format!("2024-01-{day:02}T00:00:00Z").into();
            run["run"]["environment"]["kernel_release"] = kernel.into();
            fs::write(&session, run.to_string()).expect("a session");
            check!(self.place => "import {session} | 0");
        }
    }
}

#[test]
fn sessions_of_single_processes_are_refused() {
    let bench = Bench {
        processes: 1,
        ..Bench::new()
    };
    let (before, after) = (bench.side("before", 1.0), bench.side("after", 1.2));
    check!(bench.place => "
        compare {before} {after} --all | 1 | 2> seen too seldom for an estimate
    ");
}

#[test]
fn a_change_of_a_fifth_is_found_and_fails_the_gate() {
    let bench = Bench::new();
    let (before, after) = (bench.side("before", 1.0), bench.side("after", 1.2));
    let compare = format!("compare {before} {after} --json --fail-on slower --page $page.html");
    let compared = printed(&mut bench.place.line(&compare), "3 | 2> page:");
    let compared = &json(compared.as_bytes())["comparisons"][0];
    let counts = &compared["counts"];
    assert_eq!(counts["faster"], 0, "{counts}");
    assert_eq!(counts["slower"], CALLS.len(), "{counts}");
    assert_eq!(compared["basis"], "sessions");
    let value = &compared["values"][0];
    let ratio = value["ratio"].as_f64().expect("a ratio");
    assert!((ratio * 1.2 - 1.0).abs() < 0.01, "{value}");
    let page = bench.place.read("page.html");
    assert!(page.contains("<svg") && page.contains("process.calls"));
    check!(bench.place => "
        compare {after} {before} --fail-on slower | 0 | > faster | > 95 % interval
    ");
    let markdown = format!("compare {before} {after} --markdown");
    let markdown = bench.place.prints(&markdown);
    let is_markdown = markdown.contains("| slower") && markdown.contains("### ");
    assert!(is_markdown, "{markdown}");
}

#[test]
fn a_machine_is_equivalent_to_itself() {
    let bench = Bench::new();
    let (one, other) = (bench.side("one", 1.0), bench.side("other", 1.001));
    let compare = format!("compare {one} {other} --json --fail-on different");
    let compared = &bench.place.json(&compare)["comparisons"][0];
    assert_eq!(compared["counts"]["equivalent"], CALLS.len(), "{compared}");
    assert_eq!(compared["circumstances"], json!([]));
}

#[test]
fn one_session_each_names_its_limits_and_what_the_machines_differ_by() {
    let mut bench = Bench::new();
    let mut machine = |memory_bytes: u64, name: &str, factor: f64| {
        bench.run["run"]["machine"]["memory_bytes"] = memory_bytes.into();
        bench.run["run"]["header"]["machine_fingerprint"] = name.into();
        bench.session(name, factor)
    };
    let before = machine(1 << 30, "before", 1.0);
    let after = machine(2 << 30, "after", 1.5);
    check!(bench.place => "
        compare {before} {after} --fail-on slower | 2 | 2> oscope run --sessions 3
        compare {before} {after} | 0 | > One session on each side | > 8 inconclusive | > 0.667 ×
            | > The machines are not the same | > machine: memory | > 1 GiB | > 2 GiB
    ");
}

/// The mean of these processes lies far from the value that the session reports.
#[test]
fn the_interval_of_two_single_sessions_contains_their_ratio() {
    let mut bench = Bench::new();
    bench.processes = 10;
    let before = bench.session("before", 1.0);
    bench.of_process = |process| match process {
        7.. => 1.8,
        _ => 1.0 + 0.001 * process as f64,
    };
    let after = bench.session("after", 1.0);
    let found = bench
        .place
        .json(&format!("compare {before} {after} --json"));
    let rows = list(&found["comparisons"][0], "values");
    assert_eq!(rows.len(), CALLS.len());
    for row in rows {
        let end = |name: &str| row["interval"][name].as_f64().expect("an end");
        let ratio = row["ratio"].as_f64().expect("a ratio");
        assert!(end("low") <= ratio && ratio <= end("high"), "{row}");
    }
}

#[test]
fn sides_that_cannot_be_compared_are_refused_with_the_reason() {
    let mut bench = Bench::new();
    let one = bench.session("one", 1.0);
    let damaged = "{\"format\":\"oscope-run\",\"version\":1,";
    let damaged = bench.place.file("damaged.oscope.json", damaged);
    bench.run["run"]["experiments"][0]["definition"]["metrics"][0]["version"] = 2.into();
    let newer = bench.session("newer", 1.0);
    bench.run["run"]["experiments"][0]["definition"]["id"] = "process.other".into();
    let other = bench.session("other", 1.0);
    let run = fs::read_to_string(bench.session("elsewhere", 1.0)).expect("a session");
    let moved = run.replace(r#"["optimisation",3]"#, r#"["optimisation",2]"#);
    assert_ne!(moved, run);
    let elsewhere = bench.place.file("elsewhere.oscope.json", moved);
    check!(bench.place => "
        compare {one} 99             | 1 | 2> there is no store at
        compare {one} reference:none | 2 | 2> pentium4-2003-linux
        compare {one} {one},{one}    | 2 | 2> names the same run twice
        compare {one} {one}          | 2 | 2> share a run
        compare {one} {damaged}      | 1 | 2> cut off
        compare {one} {newer}        | 1
            | 2> version 1 of the metric on one side, version 2 on the other
        compare {one} {other}        | 1 | 2> nothing in common | 2> process.other
        compare {other} {elsewhere}  | 1 | 2> both measured process.other, at other points
    ");
}

#[test]
fn a_machine_of_today_is_compared_with_one_of_2003() {
    let bench = Bench::new();
    let here = bench.session("here", 1.0);
    check!(bench.place => "
        compare {REPORT} {here} | 0 | > getpid | > printed in a published report
        compare {here} {REPORT} | 0
        list --references | 0 | > reference:pentium4-2003-windows
    ");
}

#[test]
fn a_run_can_be_compared_as_soon_as_it_is_measured() {
    let bench = Bench::new();
    let before = bench.session("before", 1.0);
    check!(bench.place => "
        import {before} | 0
        run process.calls --at call=getpid --no-page --budget {LARGE_BUDGET} --compare-with 1
            --sessions 2 --name after --dir $scratch
            | 0 | > A  1 | > B  2,3 (2 sessions) | 2> session 2 of 2
        show after-2 | 0
    ");
}

#[test]
fn runs_that_share_nothing_are_refused_before_anything_is_measured() {
    check!(Place::with(EXPORTED) => "
        run memory.latency --compare-with 1 --no-page --dir $scratch
            | 1 | > | 2> the other memory.latency | !2> session 1
        show 2 | 1,2
    ");
}

#[test]
fn a_change_in_many_metrics_is_reported_once_with_its_cause() {
    let bench = Bench::new();
    bench.import_days(1..13, 1.0, "6.1.0");
    bench.import_days(13..25, 1.1, "6.2.0");
    let found = bench.place.json("history --changes --json");
    assert_eq!(found["searched"], 8);
    let changes = list(&found, "changes");
    assert_eq!(changes.len(), 1, "{found:#}");
    assert_eq!(changes[0]["kind"], "step");
    assert_eq!(changes[0]["latest_run"], 13);
    let moved = &changes[0]["moved"][0];
    assert_eq!(list(moved, "values").len(), 8);
    assert!((moved["ratio"].as_f64().expect("a ratio") * 1.1 - 1.0).abs() < 0.01);
    let kernel = json!({ "name": "environment: kernel release", "a": "6.1.0", "b": "6.2.0" });
    assert_eq!(changes[0]["circumstances"], json!([kernel]));
    // The metrics of an experiment are not asked for with all.
    check!(bench.place => "
        history --changes | 0 | > 8 values changed together | > 8 of 8
            | > kernel release: 6.2.0, before 6.1.0
        history --changes process.calls | 2
    ");
}

#[test]
fn steady_metrics_have_no_change_and_few_runs_say_how_many_are_needed() {
    let bench = Bench::new();
    bench.import_days(1..6, 1.0, "6.1.0");
    check!(bench.place => "history --changes | 0 | > 10 runs or more; here are 5 runs");
    bench.import_days(6..25, 1.0, "6.1.0");
    check!(bench.place => "history --changes | 0 | > None of 8 values changed");
}

#[test]
fn a_change_in_the_history_of_a_metric_is_found() {
    let bench = Bench::new();
    bench.import_days(1..13, 1.0, "6.1.0");
    bench.import_days(13..25, 1.3, "6.1.0");
    let asked = "history process.calls.rate --at call=getpid";
    let history = &bench.place.json(&format!("{asked} --json"))[0];
    let changes = list(history, "changes");
    assert_eq!(changes.len(), 1, "{changes:?}");
    assert_eq!(changes[0]["run"], 13);
    let ratio = changes[0]["ratio"].as_f64().expect("a ratio");
    assert!((ratio * 1.3 - 1.0).abs() < 0.01, "{ratio}");
    check!(bench.place => "
        {asked} | 0 | > at run 13 | > 13 to 24
        history process.calls.rat | 2 | 2> oscope explain process.calls
    ");
}

#[test]
fn a_run_goes_out_in_every_format_and_a_chart_as_a_picture() {
    let bench = Bench::new();
    let run = bench.session("run", 1.0);
    let exported = |format: &str| {
        let export = format!("export {run} --format {format}");
        bench.place.prints(&export)
    };
    let markdown = exported("markdown");
    assert!(markdown.contains("| fork+exit+wait, "), "{markdown}");
    let metrics = exported("openmetrics");
    let gauge =
        "oscope_process_calls_rate_operations_per_second{call=\"getpid\",optimisation=\"3\"} ";
    assert!(metrics.contains(gauge), "{metrics}");
    assert!(metrics.ends_with("# EOF\n"), "{metrics}");
    let first = &json(exported("google-benchmark").as_bytes())["benchmarks"][0];
    let name = "process.calls/rate/call:getpid/optimisation:3";
    assert_eq!(first["name"], name);
    assert_eq!(first["time_unit"], "ns");
    check!(bench.place => "
        plot process.calls.rate --run {run} --output $cost.svg | 0
        plot nothing --run {run} --output - | 2 | 2> the run has no chart 'nothing'
    ");
    let chart = bench.place.read("cost.svg");
    let is_drawn = chart.starts_with("<svg ") && chart.contains("getpid");
    assert!(is_drawn, "{chart}");
}
