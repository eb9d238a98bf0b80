//! Limits on a process: forbidden operations fail with their reason, and the others continue.

mod common;

use common::{Place, as_user, fresh_user, scratch_files, visit, visit_each_point};
use platform::sandbox::{Call, forbid};
use serde_json::Value;
use std::fs;
use std::path::{Path, PathBuf};
use testing::Command;

/// `command`, started by `wrapper`.
fn under(wrapper: &[&str], command: &Command) -> Command {
    let mut started = Command::new(wrapper[0]);
    started
        .args(&wrapper[1..])
        .arg(command.get_program())
        .args(command.get_args());
    for (name, value) in command.get_envs() {
        match value {
            Some(value) => started.env(name, value),
            None => started.env_remove(name),
        };
    }
    started
}

/// A run of an experiment.
fn run(place: &Place, experiment: &str) -> Command {
    let mut command = place.plain(&["run", experiment, "--no-page", "--json"]);
    command.arg("--dir").arg(place.scratch());
    command
}

/// Checks that some points were measured, and that exactly the points with one of `names` in their
/// levels failed with `reason`.
fn assert_fails_only(command: &mut Command, names: &[&str], reason: &str) {
    // A point whose worker died next to others is tried once more, alone, in the second pass.
    let output = visit(command, "pass 2 of ");
    let stderr = String::from_utf8_lossy(&output.stderr);
    let run: Value = serde_json::from_slice(&output.stdout).expect("a run, as JSON");
    let experiment = &run["experiments"][0];
    let list = |name: &str| experiment[name].as_array().expect("a list").clone();
    let is_meant = |it: &Value| {
        let levels = it["levels"].to_string();
        names.iter().any(|name| levels.contains(name))
    };
    let measured = list("points");
    assert!(!measured.is_empty(), "{stderr}");
    for point in &measured {
        assert!(!is_meant(point), "{} did not fail", point["levels"]);
    }
    let mut failures = list("failures");
    // Another reason is possible: there is no second core.
    failures.retain(|it| it["reason"].as_str().is_some_and(|it| it.contains(reason)));
    assert!(!failures.is_empty(), "nothing failed with '{reason}'");
    for failure in &failures {
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
fn a_limit_on_open_files_fails_the_rings_that_need_more() {
    let place = Place::new();
    let mut limited = under(&["prlimit", "--nofile=40"], &run(&place, "process.switch"));
    assert_fails_only(&mut limited, &["\"count\":32"], "Too many open files");
}

#[test]
fn without_descriptors_a_directory_that_cannot_be_locked_does_not_stay() {
    for most in 4..10 {
        let place = Place::new();
        let wrapper = ["prlimit", &format!("--nofile={most}")];
        // It may end anywhere, or not even start.
        let _ = visit_each_point(&mut under(&wrapper, &run(&place, "process.calls")));
        for left in scratch_files(&place.scratch()) {
            assert!(left.join("lock").exists(), "{most}: nobody ever sweeps it");
        }
    }
}

#[test]
fn a_limit_on_the_size_of_files_fails_those_that_need_larger_ones() {
    let place = Place::new();
    let wrapper = ["prlimit", "--fsize=16777216"];
    let mut limited = under(&wrapper, &run(&place, "file.size"));
    assert_fails_only(&mut limited, &["\"file_size\":33554432"], "File too large");
    assert!(scratch_files(&place.scratch()).is_empty());
}

#[test]
fn a_limit_on_addresses_fails_more_threads_than_there_is_room_for() {
    let place = Place::new();
    let wrapper = ["prlimit", "--as=102400000"];
    let mut limited = under(&wrapper, &run(&place, "threads.create"));
    assert_fails_only(&mut limited, &["\"threads\":1000"], "no room for the stack");
}

#[test]
fn memory_is_measured_where_proc_shows_nothing_but_processes() {
    let place = Place::new();
    let mount = "mount -t proc -o subset=pid proc /proc && exec \"$0\" \"$@\"";
    let wrapper = ["unshare", "--mount", "sh", "-c", mount];
    let mut probe = under(&wrapper, &Command::new("true"));
    if !probe.status().is_ok_and(|status| status.success()) {
        return eprintln!("skipped: /proc cannot be mounted so here");
    }
    let output = visit_each_point(&mut under(&wrapper, &run(&place, "memory.copy")));
    let run: Value = serde_json::from_slice(&output.stdout).expect("a run, as JSON");
    let points = run["experiments"][0]["points"].as_array();
    assert!(points.is_some_and(|points| !points.is_empty()), "{run}");
}

#[test]
fn without_proc_everything_that_needs_none_is_measured() {
    let place = Place::new();
    let mount = "mount -t tmpfs tmpfs /proc && exec \"$0\" \"$@\"";
    let wrapper = ["unshare", "--mount", "sh", "-c", mount];
    let mut probe = under(&wrapper, &Command::new("true"));
    if !probe.status().is_ok_and(|status| status.success()) {
        return eprintln!("skipped: nothing can be mounted over /proc here");
    }
    let output = visit_each_point(&mut under(&wrapper, &run(&place, "process.calls")));
    let run: Value = serde_json::from_slice(&output.stdout)
        .unwrap_or_else(|_| panic!("{}", String::from_utf8_lossy(&output.stderr)));
    let points = run["experiments"][0]["points"].as_array();
    assert!(points.is_some_and(|points| !points.is_empty()), "{run}");
    assert!(scratch_files(&place.scratch()).is_empty());
}

#[test]
fn on_one_processor_nothing_is_said_of_two() {
    let cpus = platform::placement::allowed_cpus().expect("this process runs somewhere");
    let place = Place::new();
    let wrapper = ["taskset", "--cpu-list", &cpus[0].to_string()];
    let mut confined = under(&wrapper, &run(&place, "process.switch"));
    assert_fails_only(&mut confined, &["two cores"], "only one core");
}

/// `run` as a user who has no other processes and is limited to `most`; `None` without the right to
/// it.
fn run_as_other(most: u32, place: &Place, run: &Command) -> Option<Command> {
    let user = fresh_user();
    let copy = place.program_for(user)?;
    let mut limited = as_user(user);
    limited
        .args(["prlimit", &format!("--nproc={most}")])
        .arg(copy)
        .args(run.get_args())
        .env("NO_COLOR", "1");
    Some(limited)
}

#[test]
fn a_limit_on_processes_fails_what_makes_them() {
    let place = Place::new();
    // The program itself and its worker.
    let limited = run_as_other(2, &place, &run(&place, "process.calls"));
    if let Some(mut limited) = limited {
        assert_fails_only(&mut limited, &CHILDREN, NO_MORE_PROCESSES);
    }
}

/// Threads that did start must not wait for the others.
#[test]
fn a_limit_on_processes_fails_threads_that_wait_for_each_other() {
    for (most, experiment, crowd) in [
        (3, "threads.switch", "\"kernel\""),
        (10, "threads.create", "\"threads\":100}"),
    ] {
        let place = Place::new();
        let limited = run_as_other(most, &place, &run(&place, experiment));
        if let Some(mut limited) = limited {
            assert_fails_only(&mut limited, &[crowd], NO_MORE_PROCESSES);
        }
    }
}

#[test]
fn a_limit_on_processes_fails_threads_that_share_the_memory() {
    let cpus = std::thread::available_parallelism().map_or(1, usize::from);
    if cpus < 2 {
        eprintln!("skipped: one processor has no use for several threads");
        return;
    }
    let several: Vec<String> = (2..=cpus).map(|n| format!("\"threads\":{n}}}")).collect();
    let several: Vec<&str> = several.iter().map(String::as_str).collect();
    let place = Place::new();
    // The program itself, its worker, and one thread of the worker.
    let limited = run_as_other(3, &place, &run(&place, "memory.parallel"));
    if let Some(mut limited) = limited {
        assert_fails_only(&mut limited, &several, NO_MORE_PROCESSES);
    }
}

#[test]
fn a_limit_on_processes_fails_threads_that_sum_a_file() {
    let several = ["\"threads\":2", "\"threads\":4", "\"threads\":8"];
    let place = Place::new();
    // The program itself and its worker.
    let limited = run_as_other(2, &place, &run(&place, "file.sum"));
    if let Some(mut limited) = limited {
        let reason = "cannot start a thread: Resource temporarily unavailable";
        assert_fails_only(&mut limited, &several, reason);
    }
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
fn a_control_group_of_few_processes_fails_what_makes_more() {
    let Some(group) = ProcessGroup::new(2) else {
        return;
    };
    let place = Place::new();
    let members = group.0.join("cgroup.procs");
    let enter = "echo $$ >\"$0\" && exec \"$@\"";
    let members = members.to_str().expect("a plain path");
    let wrapper = ["sh", "-c", enter, members];
    let mut grouped = under(&wrapper, &run(&place, "process.calls"));
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
            let mut filtered = run(&place, "process.ipc");
            assert_fails_only(&mut filtered, &["eventfd"], "not permitted");
        };
        scope.spawn(start);
    });
}
