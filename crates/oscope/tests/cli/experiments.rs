//! Experiments from end to end: each measures its metrics and leaves no process
//! behind.

use crate::common::{Place, REPORT, ends, json, list, scratch_files, visit_each_point};
use instrument::cycles::cycles_per_multiplication;
use platform::machine::Machine;
use serde_json::Value;
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
    let mark = format!("{}-{experiment}", std::process::id());
    let output = visit_each_point(place.run(experiment).env("OSCOPE_TEST", &mark));
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
            // Counts, amounts and shares may be zero, as the time that a host stole.
            let unit = estimate["unit"].as_str().unwrap_or("");
            let may_be_zero = ["count", "bytes", "share"].contains(&unit);
            let is_possible = value > 0.0 || value == 0.0 && may_be_zero;
            assert!(value.is_finite() && is_possible, "{experiment}: {estimate}");
        }
    }
    for metric in metrics {
        let is_measured = estimates.iter().any(|it| it["metric"] == *metric);
        assert!(is_measured, "{experiment}: no {metric}");
    }
    assert_eq!(processes_with(&mark), 0, "{experiment} left a process");
    let left = scratch_files(&place.scratch());
    assert!(left.is_empty(), "{experiment} left {left:?}");
}

#[test]
fn processes_and_threads_are_measured() {
    check("process.fork_size", &["cost"]);
    check("process.switch", &["switch", "pass", "alone"]);
    check("process.ipc", &["round_trip", "bandwidth"]);
    check("process.wakeup", &["late"]);
    check("process.poll", &["wait", "register"]);
    let slices = ["got", "got_p99", "tick", "tick_p99", "in_ticks"];
    check("threads.slice", &slices);
    check("system.noise", &["lost", "gaps", "work", "delay"]);
}

#[test]
fn memory_is_measured() {
    check("memory.latency", &["load"]);
    check("memory.tlb", &["load"]);
    check("memory.copy", &["copy"]);
    check("memory.parallel", &["read", "write", "copy"]);
    let faults = ["cost", "minor_faults", "major_faults"];
    check("memory.page_fault", &faults);
    check("memory.allocate", &["cost", "faults", "taken", "held"]);
}

#[test]
fn a_preloaded_allocator_is_measured_and_finds_all_processors() {
    const SOURCE: &str = r#"
        #define _GNU_SOURCE
        #include <sched.h>
        #include <stdio.h>
        #include <stdlib.h>
        void *__libc_malloc(size_t);
        void *malloc(size_t bytes) { return __libc_malloc(bytes); }
        __attribute__((constructor)) static void count(void) {
            cpu_set_t set;
            FILE *file = fopen(getenv("COUNT_IN"), "w");
            if (!file || sched_getaffinity(0, sizeof set, &set)) abort();
            fprintf(file, "%d", CPU_COUNT(&set));
            fclose(file);
        }"#;
    let place = Place::new();
    check!(place => "run memory.allocate --at allocator=/no/library.so | 2 | 2> takes no level '/no/library.so'");
    let (library, count) = (place.path("own.so"), place.path("count"));
    std::fs::write(place.path("own.c"), SOURCE).expect("there is space");
    let mut compiler = std::process::Command::new("cc");
    let compiler = compiler.args(["-shared", "-fPIC", "-o"]).arg(&library);
    let built = compiler.arg(place.path("own.c")).status();
    assert!(built.expect("the README asks for one").success());
    let levels = format!("--at allocator={} --at block_size=16", library.display());
    let run = format!("run memory.allocate {levels} --no-page --json --dir $scratch");
    let run = json(&visit_each_point(place.line(&run).env("COUNT_IN", &count)).stdout);
    let measured = &run["experiments"][0];
    if let [failure, ..] = list(measured, "failures") {
        let reason = failure["reason"].as_str().expect("a reason");
        assert!(reason.contains("statically"), "{reason}");
        return println!("skipped: {reason}");
    }
    for point in list(measured, "points") {
        let remark = point["remarks"][0].as_str().expect("a remark");
        assert!(remark.contains("own.so, SHA-256 "), "{remark}");
    }
    let allowed = platform::placement::allowed_cpus().expect("this system has them");
    let counted = std::fs::read_to_string(&count).expect("the library was loaded");
    assert_eq!(counted, allowed.len().to_string());
}

#[test]
fn what_several_processors_share_is_measured() {
    match platform::placement::allowed_cpus() {
        Ok(cpus) if cpus.len() > 1 => {}
        _ => return eprintln!("skipped: there is only one processor"),
    }
    check("memory.loaded", &["latency", "bandwidth"]);
    check("memory.false_sharing", &["increment"]);
    check("memory.cores", &["one_way"]);
    let calls = ["getpid", "open_close", "page_fault", "futex_wake"];
    check("process.scale", &calls);
}

#[test]
fn pages_that_the_host_took_back_are_measured() {
    let is_guest = Machine::read().hypervisor.is_some();
    if is_guest && platform::memory::reports_free_pages() == Some(true) {
        let metrics = ["just_used", "after_idling", "taken_back"];
        check("memory.page_reporting", &metrics);
    } else {
        println!("skipped: this is not a virtual machine that reports free pages to its host");
    }
}

#[test]
fn the_group_threads_is_measured_and_drawn() {
    let place = Place::new();
    let mut run = place.line("run threads --json --dir $scratch --page $page.html");
    let run = json(&visit_each_point(&mut run).stdout);
    let experiments = list(&run, "experiments");
    assert_eq!(experiments.len(), 9);
    let page = place.read("page.html");
    // After one visit few points have an estimate.
    let is_sound = |point: &Value| {
        let mut estimates = list(point, "estimates").iter();
        estimates.all(|estimate| estimate["verdict"] == "sound")
    };
    let is_drawn = |experiment: &Value| {
        let mut points = list(experiment, "points").iter();
        experiment["id"] == "threads.inversion"
            && points.any(|of| of["levels"]["protocol"] == "inheritance" && is_sound(of))
    };
    if experiments.iter().any(is_drawn) {
        assert!(page.contains("With priority inheritance"), "a timeline");
    }
    if cfg!(any(target_arch = "x86_64", target_arch = "aarch64")) {
        for experiment in experiments {
            assert!(!list(experiment, "points").is_empty(), "{experiment}");
        }
    }
}

#[test]
fn whole_files_are_measured() {
    check("file.sum", &["throughput", "by_cpu"]);
    check("file.size", &["throughput"]);
    check("file.engine", &["rate"]);
}

#[test]
fn transfers_are_measured_and_judged() {
    let place = Place::new();
    let run = "run transfer --json --page $page.html --dir $scratch";
    let run = json(&visit_each_point(&mut place.line(run)).stdout);
    let points = list(&run["experiments"][0], "points");
    assert!(!points.is_empty(), "nothing was measured");
    let claims = list(&run, "claims").iter();
    let judged = claims.filter(|claim| claim["experiments"][0] == "transfer.file");
    assert_eq!(judged.count(), 6);
    assert!(place.read("page.html").contains("Transfer of a file"));
    assert!(place.names("scratch").is_empty());
}

#[test]
fn costs_of_the_core_have_cycles_where_the_clock_is_known() {
    let place = Place::new();
    check!(place => "show {REPORT} --cycles | 1 | 2> the clock of this run is not known");
    ends(&mut place.short_run(), "0");
    if cycles_per_multiplication(&Machine::read()).is_some() {
        check!(place => "show latest --cycles | 0 | > cycles");
    } else {
        check!(place => "show latest --cycles | 1");
    }
}
