//! Experiments from end to end: each measures its metrics and leaves no process
//! behind.

use crate::common::{Place, json, list, visit_each_point};
use std::fs;

/// Reasons why a point may fail on a healthy machine.
const EXCUSES: [&str; 4] = [
    "only one core",
    "huge pages",
    "cannot be made cold",
    "taken back nothing",
];

/// Processes with `text` in their initial environment, which workers and partners inherit.
fn processes_with(text: &str) -> usize {
    let entries = fs::read_dir("/proc").expect("this is Linux").flatten();
    let environments = entries.filter_map(|entry| fs::read(entry.path().join("environ")).ok());
    environments
        .filter(|environment| String::from_utf8_lossy(environment).contains(text))
        .count()
}

fn check(experiment: &str, metrics: &[&str]) {
    let place = Place::new();
    let run = format!("run {experiment} --no-page --json --dir $scratch");
    let mark = format!("{}-{experiment}", std::process::id());
    let output = visit_each_point(place.line(&run).env("OSCOPE_TEST", &mark));
    let run = json(&output.stdout);
    let measured = &run["experiments"][0];
    for failure in list(measured, "failures") {
        let reason = failure["reason"].as_str().expect("a reason");
        let is_excused = EXCUSES.iter().any(|excuse| reason.contains(excuse));
        assert!(is_excused, "{experiment}: {failure}");
    }
    let points = list(measured, "points").iter();
    let estimates = points.flat_map(|point| list(point, "estimates"));
    let estimates: Vec<_> = estimates.collect();
    for estimate in &estimates {
        if estimate["verdict"] == "sound" {
            let value = estimate["value"].as_f64().expect("a number");
            // Only counts may be zero.
            let is_possible = value > 0.0 || value == 0.0 && estimate["unit"] == "count";
            assert!(value.is_finite() && is_possible, "{experiment}: {estimate}");
        }
    }
    for metric in metrics {
        let is_measured = estimates.iter().any(|it| it["metric"] == *metric);
        assert!(is_measured, "{experiment}: no {metric}");
    }
    assert_eq!(processes_with(&mark), 0, "{experiment} left a process");
}

#[test]
fn processes_and_threads() {
    check("process.fork_size", &["cost"]);
    check("process.switch", &["switch", "pass", "alone"]);
    check("process.ipc", &["round_trip", "bandwidth"]);
    check("process.wakeup", &["late"]);
    check("process.poll", &["wait", "register"]);
    let slices = ["got", "got_p99", "tick", "tick_p99", "in_ticks"];
    check("threads.slice", &slices);
}

#[test]
fn memory() {
    check("memory.latency", &["load"]);
    check("memory.tlb", &["load"]);
    check("memory.copy", &["copy"]);
    check("memory.parallel", &["read", "write", "copy"]);
    let faults = ["cost", "minor_faults", "major_faults"];
    check("memory.page_fault", &faults);
}

#[test]
fn several_processors() {
    match platform::placement::allowed_cpus() {
        Ok(cpus) if cpus.len() > 1 => {}
        _ => return eprintln!("skipped: there is only one processor"),
    }
    check("memory.false_sharing", &["increment"]);
    check("memory.cores", &["one_way"]);
    let calls = ["getpid", "open_close", "page_fault", "futex_wake"];
    check("process.scale", &calls);
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
