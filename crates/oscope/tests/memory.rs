//! Limited memory, temporary swap, and memory of several nodes: the results, and that nothing is
//! left behind however a run ends.

mod common;

use common::{
    LARGE_BUDGET, Place, is_root, is_vague, program, scratch_files, visit_each_point, wait_for,
};
use platform::confinement::{MemoryGroup, SwapFile, can_limit_memory, free_swap_bytes};
use platform::node::{self, Node};
use platform::process::{Worker, WorkerOptions};
use predicates::str::contains;
use serde_json::Value;
use std::fs;
use std::path::Path;
use std::process::Stdio;
use std::sync::atomic::AtomicBool;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use testing::{Command, LONGEST_WAIT, Process};

const MIB: u64 = 1 << 20;
static NEVER: AtomicBool = AtomicBool::new(false);

/// Swap belongs to the whole system: tests that create swap, or require none, take turns.
fn turn() -> MutexGuard<'static, ()> {
    static TURN: Mutex<()> = Mutex::new(());
    TURN.lock().unwrap_or_else(PoisonError::into_inner)
}

fn swap_is_on(scratch: &Path) -> bool {
    let swaps = fs::read_to_string("/proc/swaps").unwrap_or_default();
    swaps.contains(scratch.to_str().expect("a plain path"))
}

/// True if this process may create swap; if not, prints the reason.
fn may_swap(place: &Place) -> bool {
    if !is_root() || !can_limit_memory() {
        eprintln!("skipped: a temporary swap file needs root, and a memory control group");
        return false;
    }
    match SwapFile::create(256 * MIB, &place.scratch()) {
        Ok(_) => true,
        Err(error) => {
            eprintln!("skipped: {error}");
            false
        }
    }
}

/// True if a run that needs swap creates its own. It uses that of the system where there is some.
fn makes_its_own_swap(place: &Place) -> bool {
    let swaps = fs::read_to_string("/proc/swaps").unwrap_or_default();
    if swaps.lines().count() > 1 {
        eprintln!("skipped: this system has swap of its own");
        return false;
    }
    may_swap(place)
}

/// A run that creates swap for the point that needs it, in the first round.
const SWAPPING_RUN: [&str; 6] = [
    "run",
    "memory.bandwidth",
    "--allow-swap-file",
    "--no-page",
    "--budget",
    LARGE_BUDGET,
];

/// Waits until such a run has created swap.
fn makes_swap(run: &mut Process, scratch: &Path) -> bool {
    let has_ended = |run: &mut Process| run.try_wait().is_ok_and(|status| status.is_some());
    let until = || swap_is_on(scratch) || has_ended(run);
    wait_for(until) && swap_is_on(scratch)
}

/// The block sizes that a run measured.
fn block_sizes(run: &Value) -> Vec<u64> {
    let points = run["experiments"][0]["points"].as_array();
    let points = points.into_iter().flatten();
    let sizes = points.filter_map(|point| point["levels"]["block_size"].as_u64());
    sizes.collect()
}

/// The estimates of the largest block that a run measured.
fn largest_block(run: &Value) -> Vec<Value> {
    let points = run["experiments"][0]["points"].as_array();
    let points = points.into_iter().flatten();
    let largest = points.max_by_key(|point| point["levels"]["block_size"].as_u64());
    let estimates = largest.and_then(|point| point["estimates"].as_array());
    estimates.cloned().unwrap_or_default()
}

#[test]
fn in_little_memory_blocks_are_cut_and_the_finding_says_so() {
    let _turn = turn();
    let place = Place::new();
    let group = match MemoryGroup::create(256 * MIB, &place.scratch(), Duration::from_secs(5)) {
        Ok(group) => group,
        Err(error) => return eprintln!("skipped: {error}"),
    };
    let options = WorkerOptions {
        memory_group: Some(&group),
        ..WorkerOptions::default()
    };
    let mut command = place.plain(&["run", "memory.bandwidth", "--budget", "20s", "--no-page"]);
    command.arg("--json").arg("--dir").arg(place.scratch());
    let mut run = Worker::spawn(command.into(), &options).expect("the program starts");
    let deadline_ns = platform::clock::now_ns() + LONGEST_WAIT.as_nanos() as u64;
    let mut text = String::new();
    while let Ok(Some(line)) = run.read_line_until(deadline_ns, &NEVER) {
        text.push_str(&line);
    }
    let run: Value = serde_json::from_str(&text).expect("the run came to its end");
    let largest = block_sizes(&run).into_iter().max();
    assert!(largest.is_some_and(|size| size <= 64 * MIB), "{largest:?}");
    let findings = run["findings"].as_array().expect("a list");
    let memory = findings.iter().find(|it| it["key"] == "memory");
    let Some(memory) = memory else {
        // Of numbers that a busy machine leaves vague, nothing is said.
        let numbers = largest_block(&run);
        assert!(numbers.iter().any(is_vague), "nothing about memory: {run}");
        return;
    };
    let sentence = memory["sentence"].to_string();
    let is_beyond_caches = sentence.contains("which no cache holds");
    assert!(
        is_beyond_caches || sentence.contains("a quarter of the memory available"),
        "{sentence}"
    );
}

#[test]
fn an_address_space_that_is_too_small_is_named() {
    let place = Place::new();
    let limited = |kib: u32, arguments: &[&str]| {
        let script = format!("ulimit -v {kib} && exec \"$0\" \"$@\"");
        let mut shell = Command::new("sh");
        shell.args(["-c", &script]).arg(program()).args(arguments);
        shell.output().expect("there is a shell")
    };
    // The program itself needs another size in each build.
    let starts = |kib: &u32| limited(*kib, &["--version"]).status.success();
    let least = (30_000..).step_by(10_000).find(starts).expect("it starts");
    let [store, scratch] = [place.path("oscope.db"), place.scratch()];
    let [store, scratch] = [&store, &scratch].map(|path| path.to_str().expect("text"));
    let what = ["run", "memory.bandwidth", "--no-page", "--store", store];
    let output = limited(least + 10_000, &[&what[..], &["--dir", scratch]].concat());
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(1), "{stderr}");
    assert!(stderr.contains("of memory, of which"), "{stderr}");
}

fn start_swapping(place: &Place) -> Process {
    place
        .plain(&SWAPPING_RUN)
        .arg("--dir")
        .arg(place.scratch())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .expect("the program starts")
}

#[test]
fn swap_made_for_a_killed_run_is_undone_by_cleanup() {
    let _turn = turn();
    let place = Place::new();
    if !makes_its_own_swap(&place) {
        return;
    }
    let scratch = place.scratch();
    let mut killed = start_swapping(&place);
    let was_on = makes_swap(&mut killed, &scratch);
    killed.kill().expect("it runs");
    killed.wait().expect("it was killed");
    assert!(was_on && swap_is_on(&scratch));
    let group = fs::read_to_string(scratch_files(&scratch)[0].join("memory-group"));
    // A worker that was starting when its parent was killed may hold the lock a moment longer.
    assert!(wait_for(|| {
        let mut cleanup = place.oscope(&["cleanup", "--dir"]);
        let cleanup = cleanup.arg(&scratch).assert().success();
        String::from_utf8_lossy(&cleanup.get_output().stdout).contains("removed")
    }));
    assert!(!swap_is_on(&scratch) && scratch_files(&scratch).is_empty());
    if let Ok(group) = group {
        let path = group.lines().next().expect("a path");
        assert!(!Path::new(path).exists(), "{path}");
    }
    place
        .oscope(&["cleanup", "--dir"])
        .arg(&scratch)
        .assert()
        .success()
        .stdout(contains("nothing was left behind"));
}

#[test]
fn swap_made_for_an_interrupted_run_is_gone_with_it() {
    let _turn = turn();
    let place = Place::new();
    if !makes_its_own_swap(&place) {
        return;
    }
    let scratch = place.scratch();
    let mut run = start_swapping(&place);
    let was_on = makes_swap(&mut run, &scratch);
    let status = Command::new("kill")
        .args(["-INT", &run.id().to_string()])
        .status();
    assert!(status.is_ok_and(|status| status.success()));
    run.wait().expect("it ends");
    assert!(was_on && !swap_is_on(&scratch) && scratch_files(&scratch).is_empty());
}

/// The results of a run that has visited each point, and its messages.
fn outcome(mut run: Command, place: &Place) -> (Value, String) {
    let output = visit_each_point(run.arg("--dir").arg(place.scratch()));
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    let run = serde_json::from_slice(&output.stdout);
    (run.unwrap_or_else(|error| panic!("{error}: {said}")), said)
}

/// A short run of memory.bandwidth without privileges, in so little address space that all its
/// blocks are measured quickly, except those in swap.
fn bandwidth_without_rights(place: &Place) -> Option<Command> {
    let what = ["run", "memory.bandwidth", "--no-page", "--json"];
    place.as_somebody(&["prlimit", "--as=419430400"], &what)
}

/// The points measured in swap.
fn in_swap(run: &Value) -> Vec<&Value> {
    let points = run["experiments"][0]["points"].as_array();
    let points = points.into_iter().flatten();
    let is_in_swap = |point: &&Value| {
        let pages = point["levels"]["pages"].as_str();
        pages.is_some_and(|pages| pages.starts_with("swap"))
    };
    points.filter(is_in_swap).collect()
}

#[test]
fn without_rights_blocks_go_to_swap_on_request() {
    let _turn = turn();
    let place = Place::new();
    let Some(run) = bandwidth_without_rights(&place) else {
        return;
    };
    let area = place.path("area");
    fs::create_dir(&area).expect("a directory");
    let _swap = match SwapFile::create(256 * MIB, &area) {
        Ok(swap) => swap,
        Err(error) => return eprintln!("skipped: {error}"),
    };
    let (run, said) = outcome(run, &place);
    let points = in_swap(&run);
    let failures = run["experiments"][0]["failures"].to_string();
    // A disk may be too busy to swap the block out in time.
    if points.is_empty() && failures.contains("the kernel keeps") {
        return eprintln!("skipped: {failures}");
    }
    let [point] = points.as_slice() else {
        panic!("{} points: {said}", points.len());
    };
    assert_eq!(point["levels"]["pages"], "swap, paged out", "{said}");
    let estimates = point["estimates"].as_array().expect("a list");
    for metric in ["read_major_faults", "write_major_faults"] {
        let faults = estimates.iter().find(|it| it["metric"] == metric);
        let faults = faults.and_then(|it| it["value"].as_f64());
        assert!(faults.is_some_and(|faults| faults > 0.0), "{point}");
    }
}

#[test]
fn without_rights_and_without_swap_the_rest_is_measured_and_the_finding_says_what_is_missing() {
    let _turn = turn();
    let place = Place::new();
    let Some(run) = bandwidth_without_rights(&place) else {
        return;
    };
    if free_swap_bytes() > 0 {
        return eprintln!("skipped: this system has swap");
    }
    let (run, said) = outcome(run, &place);
    assert!(!block_sizes(&run).is_empty(), "{said}");
    assert_eq!(in_swap(&run), Vec::<&Value>::new());
    let findings = run["findings"].to_string();
    assert!(findings.contains("Swap was not measured"), "{findings}");
}

#[test]
fn memory_is_measured_from_each_node_to_each_or_the_question_does_not_arise() {
    let nodes = node::all();
    let has_memory = |node: &&Node| node.available_bytes.is_some();
    let with_memory = nodes.iter().filter(has_memory).count();
    let place = Place::new();
    let of = |what: &[&str]| {
        let what = [&["run"], what, &["--no-page", "--json"]].concat();
        outcome(place.plain(&what), &place)
    };
    let (run, said) = of(&["memory.nodes"]);
    let measured = &run["experiments"][0];
    if with_memory < 2 {
        let reason = measured["skipped"].as_str().expect("a reason");
        assert!(reason.contains("fewer than two memory nodes"), "{said}");
        // Together with others, the experiment is not even mentioned.
        let (run, said) = of(&["memory.nodes", "memory.parallel"]);
        let experiments = run["experiments"].as_array().expect("a list");
        assert_eq!(experiments.len(), 1, "{said}");
        return eprintln!("skipped: this machine has fewer than two memory nodes");
    }
    let list = |name: &str| measured[name].as_array().expect("a list").clone();
    assert_eq!(list("failures"), Vec::<Value>::new(), "{said}");
    let points = list("points");
    let with_processors = nodes.iter().filter(|node| !node.cpus.is_empty()).count();
    let pairs = with_processors * with_memory;
    assert_eq!(points.len(), pairs, "{said}");
    for estimate in points
        .iter()
        .filter_map(|point| point["estimates"].as_array())
        .flatten()
    {
        // Under emulation, interruptions can make a time difference meaningless.
        let is_sound = estimate["verdict"] == "sound";
        let is_positive = estimate["value"].as_f64().is_some_and(|value| value > 0.0);
        assert!(is_positive || !is_sound, "{estimate}");
    }
}
