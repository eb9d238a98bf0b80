//! Limits on a process: forbidden operations fail with their reason, and the others continue.

use crate::common::{Place, json, list, scratch_files, under, visit, visit_each_point};
use platform::sandbox::{Call, forbid};
use serde_json::Value;
use std::fs;
use std::path::{Path, PathBuf};
use testing::Command;

/// Checks that some points were measured, and that exactly the points with one of `names` in their
/// levels failed with `reason`.
fn assert_fails_only(command: &mut Command, names: &[&str], reason: &str) {
    // A point whose worker died next to others is tried once more, alone, in the second pass.
    let output = visit(command, "pass 2 of ");
    let stderr = String::from_utf8_lossy(&output.stderr);
    let run = json(&output.stdout);
    let experiment = &run["experiments"][0];
    let is_meant = |it: &Value| {
        let levels = it["levels"].to_string();
        names.iter().any(|name| levels.contains(name))
    };
    let measured = list(experiment, "points");
    assert!(!measured.is_empty(), "{stderr}");
    for point in measured {
        assert!(!is_meant(point), "{} did not fail", point["levels"]);
    }
    // Another reason is possible: there is no second core.
    let has_reason = |it: &&Value| it["reason"].as_str().is_some_and(|it| it.contains(reason));
    let failures = list(experiment, "failures").iter().filter(has_reason);
    let failures: Vec<_> = failures.collect();
    assert!(!failures.is_empty(), "nothing failed with '{reason}'");
    for failure in failures {
        assert!(is_meant(failure), "{failure}");
    }
}

/// The system's message for one process too many.
const NO_MORE_PROCESSES: &str = "Resource temporarily unavailable";
/// The calls that create a process or a thread.
const CHILDREN: [&str; 5] = [
    "thread create",
    "vfork",
    "\"fork",
    "posix_spawn",
    "fork+exec",
];

#[test]
fn a_limit_on_files_or_addresses_fails_the_points_that_need_more() {
    for (limit, experiment, name, reason) in [
        (
            "--nofile=40",
            "process.switch",
            "\"count\":32",
            "Too many open files",
        ),
        (
            "--fsize=16777216",
            "file.size",
            "\"file_size\":33554432",
            "File too large",
        ),
        (
            "--as=102400000",
            "threads.create",
            "\"threads\":1000",
            "no room for the stack",
        ),
    ] {
        let place = Place::new();
        let mut limited = under(&["prlimit", limit], &place.run(experiment));
        assert_fails_only(&mut limited, &[name], reason);
        assert!(scratch_files(&place.scratch()).is_empty());
    }
}

#[test]
fn without_descriptors_a_directory_that_cannot_be_locked_does_not_stay() {
    for most in 4..10 {
        let place = Place::new();
        let wrapper = ["prlimit", &format!("--nofile={most}")];
        // It may end anywhere, or not even start.
        let _ = visit_each_point(&mut under(&wrapper, &place.run("process.calls")));
        for left in scratch_files(&place.scratch()) {
            assert!(left.join("lock").exists(), "{most}: nobody ever sweeps it");
        }
    }
}

#[test]
fn without_proc_or_most_of_it_everything_that_needs_none_is_measured() {
    for (mount, experiment) in [
        ("proc -o subset=pid proc", "memory.copy"),
        ("tmpfs tmpfs", "process.calls"),
    ] {
        let place = Place::new();
        let script = format!("mount -t {mount} /proc && exec \"$0\" \"$@\"");
        let wrapper = ["unshare", "--mount", "sh", "-c", &script];
        let probe = under(&wrapper, &Command::new("true")).output();
        if !probe.is_ok_and(|output| output.status.success()) {
            eprintln!("skipped: nothing can be mounted over /proc here");
            continue;
        }
        let output = visit_each_point(&mut under(&wrapper, &place.run(experiment)));
        let run = json(&output.stdout);
        assert!(!list(&run["experiments"][0], "points").is_empty(), "{run}");
        assert!(scratch_files(&place.scratch()).is_empty());
    }
}

#[test]
fn on_one_processor_nothing_is_said_of_two() {
    let cpus = platform::placement::allowed_cpus().expect("this process runs somewhere");
    let place = Place::new();
    let wrapper = ["taskset", "--cpu-list", &cpus[0].to_string()];
    let mut confined = under(&wrapper, &place.run("process.switch"));
    assert_fails_only(&mut confined, &["two cores"], "only one core");
}

/// A run of an experiment as a user who has no other processes and is limited to `most` fails the points
/// with one of `names` in their levels.
fn few_processes_fail(most: u32, experiment: &str, names: &[&str], reason: &str) {
    let place = Place::new();
    let wrapper = ["prlimit", &format!("--nproc={most}")];
    if let Some(mut limited) = place.as_somebody(&wrapper, &place.run(experiment)) {
        assert_fails_only(&mut limited, names, reason);
    }
}

#[test]
fn a_limit_on_processes_fails_what_makes_more() {
    // The program itself, its worker, and in some cases threads of the worker.
    few_processes_fail(2, "process.calls", &CHILDREN, NO_MORE_PROCESSES);
    // Threads that did start must not wait for the others.
    few_processes_fail(3, "threads.switch", &["\"kernel\""], NO_MORE_PROCESSES);
    let crowd = ["\"threads\":100}"];
    few_processes_fail(10, "threads.create", &crowd, NO_MORE_PROCESSES);
    let several = ["\"threads\":2", "\"threads\":4", "\"threads\":8"];
    let reason = "cannot start a thread: Resource temporarily unavailable";
    few_processes_fail(2, "file.sum", &several, reason);
    let cpus = std::thread::available_parallelism().map_or(1, usize::from);
    if cpus < 2 {
        return eprintln!("skipped: one processor has no use for several threads");
    }
    let several: Vec<String> = (2..=cpus).map(|n| format!("\"threads\":{n}}}")).collect();
    let several: Vec<&str> = several.iter().map(String::as_str).collect();
    few_processes_fail(3, "memory.parallel", &several, NO_MORE_PROCESSES);
}

/// A control group that limits the number of processes, removed when dropped.
struct ProcessGroup(PathBuf);

impl ProcessGroup {
    /// `None`, with the reason printed, without the right to it or without the controller.
    fn new(most: u32) -> Option<Self> {
        let roots = ["/sys/fs/cgroup/pids", "/sys/fs/cgroup"];
        let name = format!("oscope-test-{}", std::process::id());
        for root in roots.map(Path::new) {
            let group = Self(root.join(&name));
            let made = fs::create_dir(&group.0).is_ok();
            if made && fs::write(group.0.join("pids.max"), most.to_string()).is_ok() {
                return Some(group);
            }
        }
        eprintln!("skipped: no control group for processes can be made here");
        None
    }
}

impl Drop for ProcessGroup {
    fn drop(&mut self) {
        let _ = fs::remove_dir(&self.0);
    }
}

#[test]
fn a_control_group_of_few_processes_fails_calls_that_make_more() {
    let Some(group) = ProcessGroup::new(2) else {
        return;
    };
    let place = Place::new();
    let members = group.0.join("cgroup.procs");
    let enter = "echo $$ >\"$0\" && exec \"$@\"";
    let members = members.to_str().expect("a plain path");
    let wrapper = ["sh", "-c", enter, members];
    let mut grouped = under(&wrapper, &place.run("process.calls"));
    assert_fails_only(&mut grouped, &CHILDREN, NO_MORE_PROCESSES);
}

#[test]
fn a_call_that_is_forbidden_fails_its_points_and_no_others() {
    let place = Place::new();
    // The filter applies to this thread and its children.
    std::thread::scope(|scope| {
        let start = || {
            if let Err(error) = forbid(Call::EventCounter) {
                eprintln!("skipped: {error}");
                return;
            }
            let mut filtered = place.run("process.ipc");
            assert_fails_only(&mut filtered, &["eventfd"], "not permitted");
        };
        scope.spawn(start);
    });
}
