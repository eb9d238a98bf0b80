//! Experiments from end to end: each measures its metrics and leaves no process
//! behind.

mod common;

use common::{Place, visit_each_point};
use serde_json::Value;
use std::fs;

/// Reasons why a point may fail on a healthy machine.
const EXCUSES: [&str; 4] = [
    "only one core",
    "huge pages",
    "cannot be made cold",
    "taken back nothing",
];

/// Processes with `what` in their initial environment, which workers and partners inherit.
fn processes_with(what: &str) -> usize {
    let entries = fs::read_dir("/proc").expect("this is Linux").flatten();
    let environments = entries.filter_map(|entry| fs::read(entry.path().join("environ")).ok());
    environments
        .filter(|environment| String::from_utf8_lossy(environment).contains(what))
        .count()
}

fn check(experiment: &str, metrics: &[&str]) {
    let place = Place::new();
    let mut run = place.plain(&["run", experiment, "--no-page", "--json"]);
    let mark = format!("{}-{experiment}", std::process::id());
    run.arg("--dir")
        .arg(place.scratch())
        .env("OSCOPE_TEST", &mark);
    let output = visit_each_point(&mut run);
    let run: Value = serde_json::from_slice(&output.stdout).expect("a run, as JSON");
    let measured = &run["experiments"][0];
    for failure in measured["failures"].as_array().expect("a list") {
        let reason = failure["reason"].as_str().expect("a reason");
        let is_excused = EXCUSES.iter().any(|excuse| reason.contains(excuse));
        assert!(is_excused, "{experiment}: {failure}");
    }
    let points = measured["points"].as_array().expect("a list");
    let estimates = points
        .iter()
        .flat_map(|point| point["estimates"].as_array().expect("a list"));
    let mut seen = Vec::new();
    for estimate in estimates {
        seen.push(estimate["metric"].as_str().expect("a name").to_owned());
        if estimate["verdict"] == "sound" {
            let value = estimate["value"].as_f64().expect("a number");
            // Only counts may be zero.
            let is_possible = value > 0.0 || value == 0.0 && estimate["unit"] == "count";
            assert!(value.is_finite() && is_possible, "{experiment}: {estimate}");
        }
    }
    for metric in metrics {
        assert!(
            seen.iter().any(|it| it == metric),
            "{experiment}: no {metric}"
        );
    }
    assert_eq!(processes_with(&mark), 0, "{experiment} left a process");
}

#[test]
fn forks_by_size() {
    check("process.fork_size", &["cost"]);
}

#[test]
fn switches() {
    check("process.switch", &["switch", "pass", "alone"]);
}

#[test]
fn talking() {
    check("process.ipc", &["round_trip", "bandwidth"]);
}

#[test]
fn waking_up() {
    check("process.wakeup", &["late"]);
}

#[test]
fn time_slices() {
    check(
        "threads.slice",
        &["got", "got_p99", "tick", "tick_p99", "in_ticks"],
    );
}

#[test]
fn waiting_for_descriptors() {
    check("process.poll", &["wait", "register"]);
}

#[test]
fn waiting_for_memory() {
    check("memory.latency", &["load"]);
}

#[test]
fn loads_from_many_pages() {
    check("memory.tlb", &["load"]);
}

#[test]
fn copying() {
    check("memory.copy", &["copy"]);
}

#[test]
fn memory_by_several() {
    check("memory.parallel", &["read", "write", "copy"]);
}

/// Checks an experiment that one processor leaves out.
fn check_on_several(experiment: &str, metrics: &[&str]) {
    match platform::placement::allowed_cpus() {
        Ok(cpus) if cpus.len() > 1 => check(experiment, metrics),
        _ => eprintln!("skipped: there is only one processor"),
    }
}

#[test]
fn lines_that_two_write_to() {
    check_on_several("memory.false_sharing", &["increment"]);
}

#[test]
fn lines_from_core_to_core() {
    check_on_several("memory.cores", &["one_way"]);
}

#[test]
fn calls_on_all_processors() {
    let metrics = ["getpid", "open_close", "page_fault", "futex_wake"];
    check_on_several("process.scale", &metrics);
}

#[test]
fn pages_that_are_not_there() {
    check(
        "memory.page_fault",
        &["cost", "minor_faults", "major_faults"],
    );
}

#[test]
fn pages_that_the_host_took_back() {
    let is_guest = platform::machine::Machine::read().hypervisor.is_some();
    if is_guest && platform::memory::reports_free_pages() == Some(true) {
        let metrics = ["just_used", "after_idling", "taken_back"];
        check("memory.page_reporting", &metrics);
    } else {
        println!("skipped: this is not a virtual machine that reports free pages to its host");
    }
}
