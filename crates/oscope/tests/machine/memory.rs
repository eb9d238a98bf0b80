//! Limited memory, temporary swap, and memory of several nodes: the results, and that nothing is
//! left behind however a run ends.

use crate::alone;
use crate::common::{
    EACH_POINT, LARGE_BUDGET, Place, ends, is_root, json, list, outcome, program, scratch_files,
    signal, under, wait_until,
};
use platform::confinement::{MemoryGroup, SwapFile, can_limit_memory, free_swap_bytes};
use platform::node::{self, Node};
use platform::process::{Worker, WorkerOptions};
use serde_json::Value;
use std::fs;
use std::path::Path;
use std::process::Stdio;
use std::sync::atomic::AtomicBool;
use std::time::Duration;
use testing::{Command, LONGEST_WAIT, Process};

const MIB: u64 = 1 << 20;
static NEVER: AtomicBool = AtomicBool::new(false);

fn swaps() -> String {
    fs::read_to_string("/proc/swaps").unwrap_or_default()
}

fn swap_is_on(scratch: &Path) -> bool {
    swaps().contains(scratch.to_str().expect("a plain path"))
}

/// True if a run that needs swap creates its own; if not, prints the reason. It uses that of the system where
/// there is some.
fn makes_its_own_swap(place: &Place) -> bool {
    let reason = if swaps().lines().count() > 1 {
        "this system has swap of its own".to_owned()
    } else if !is_root() || !can_limit_memory() {
        "a temporary swap file needs root, and a memory control group".to_owned()
    } else {
        match SwapFile::create(256 * MIB, &place.scratch()) {
            Ok(_) => return true,
            Err(error) => error.to_string(),
        }
    };
    eprintln!("skipped: {reason}");
    false
}

/// Starts a run that creates swap for the point that needs it, in the first round. True if it did.
fn swapping(place: &Place) -> (Process, bool) {
    let run = "run memory.bandwidth --allow-swap-file --no-page --dir $scratch --budget";
    let mut run = place.line(&format!("{run} {LARGE_BUDGET}"));
    let run = run.stdout(Stdio::null()).stderr(Stdio::null());
    let mut run = run.spawn().expect("the program starts");
    let scratch = place.scratch();
    let mut has_ended = || run.try_wait().is_ok_and(|status| status.is_some());
    wait_until("swap", || swap_is_on(&scratch) || has_ended());
    (run, swap_is_on(&scratch))
}

/// The points of a run of one experiment.
fn points(run: &Value) -> &[Value] {
    list(&run["experiments"][0], "points")
}

/// The block size of a point.
fn block_size(point: &Value) -> Option<u64> {
    point["levels"]["block_size"].as_u64()
}

#[test]
fn in_little_memory_blocks_are_cut() {
    let _alone = alone();
    let place = Place::new();
    let group = match MemoryGroup::create(256 * MIB, &place.scratch(), Duration::from_secs(5)) {
        Ok(group) => group,
        Err(error) => return eprintln!("skipped: {error}"),
    };
    let options = WorkerOptions {
        memory_group: Some(&group),
        ..WorkerOptions::default()
    };
    let command = place.run("memory.bandwidth --budget 20s");
    let mut run = Worker::spawn(command.into(), &options).expect("the program starts");
    let deadline_ns = platform::clock::now_ns() + LONGEST_WAIT.as_nanos() as u64;
    let mut text = String::new();
    while let Ok(Some(line)) = run.read_line_until(deadline_ns, &NEVER) {
        text.push_str(&line);
    }
    let run = json(text.as_bytes());
    let largest = points(&run).iter().max_by_key(|point| block_size(point));
    let largest = largest.expect("some are measured");
    assert!(block_size(largest) <= Some(64 * MIB), "{largest}");
}

#[test]
fn an_address_space_that_is_too_small_is_named() {
    let _alone = alone();
    let place = Place::new();
    let limited = |kib: u32, command: &Command| {
        let limit = format!("ulimit -v {kib} && exec \"$0\" \"$@\"");
        under(&["sh", "-c", &limit], command)
    };
    // The program itself needs another size in each build.
    let starts = |kib: &u32| {
        let output = limited(*kib, Command::new(program()).arg("--version")).output();
        output.is_ok_and(|output| output.status.success())
    };
    let least = (30_000..).step_by(10_000).find(starts).expect("it starts");
    let run = place.line("run memory.bandwidth --no-page --dir $scratch");
    let mut run = limited(least + 10_000, &run);
    ends(&mut run, "1 | 2> of memory, of which");
}

#[test]
fn swap_made_for_a_killed_run_is_undone_by_cleanup() {
    let _alone = alone();
    let place = Place::new();
    if !makes_its_own_swap(&place) {
        return;
    }
    let scratch = place.scratch();
    let (mut killed, was_on) = swapping(&place);
    killed.kill().expect("it runs");
    killed.wait().expect("it was killed");
    assert!(was_on && swap_is_on(&scratch));
    let group = fs::read_to_string(scratch_files(&scratch)[0].join("memory-group"));
    // A worker that was starting when its parent was killed may hold the lock a moment longer.
    wait_until("the end of the lock", || {
        place.prints("cleanup --dir $scratch").contains("removed")
    });
    assert!(!swap_is_on(&scratch) && scratch_files(&scratch).is_empty());
    if let Ok(group) = group {
        let path = group.lines().next().expect("a path");
        assert!(!Path::new(path).exists(), "{path}");
    }
    check!(place => "cleanup --dir $scratch | 0 | > nothing was left behind");
}

#[test]
fn swap_made_for_an_interrupted_run_is_gone_with_it() {
    let _alone = alone();
    let place = Place::new();
    if !makes_its_own_swap(&place) {
        return;
    }
    let scratch = place.scratch();
    let (mut run, was_on) = swapping(&place);
    signal("INT", run.id());
    run.wait().expect("it ends");
    assert!(was_on && !swap_is_on(&scratch) && scratch_files(&scratch).is_empty());
}

/// A short run of memory.bandwidth without privileges, in so little address space that all its
/// blocks are measured quickly, except those in swap.
fn bandwidth_without_rights(place: &Place) -> Option<Command> {
    let run = place.run("memory.bandwidth");
    place.as_somebody(&["prlimit", "--as=419430400"], &run)
}

/// The points measured in swap.
fn in_swap(run: &Value) -> Vec<&Value> {
    let is_in_swap = |point: &&Value| {
        let pages = point["levels"]["pages"].as_str();
        pages.is_some_and(|pages| pages.starts_with("swap"))
    };
    points(run).iter().filter(is_in_swap).collect()
}

#[test]
fn without_rights_blocks_go_to_swap_on_request() {
    let _alone = alone();
    let place = Place::new();
    let Some(mut run) = bandwidth_without_rights(&place) else {
        return;
    };
    let area = place.directory("area");
    let _swap = match SwapFile::create(256 * MIB, area.as_ref()) {
        Ok(swap) => swap,
        Err(error) => return eprintln!("skipped: {error}"),
    };
    let (run, said) = outcome(&mut run, EACH_POINT);
    let failures = run["experiments"][0]["failures"].to_string();
    let in_swap = in_swap(&run);
    // A disk may be too busy to swap the block out in time.
    if in_swap.is_empty() && failures.contains("the kernel keeps") {
        return eprintln!("skipped: {failures}");
    }
    let [point] = in_swap[..] else {
        panic!("{} points: {said}", in_swap.len());
    };
    assert_eq!(point["levels"]["pages"], "swap, paged out", "{said}");
    for metric in ["read_major_faults", "write_major_faults"] {
        let mut estimates = list(point, "estimates").iter();
        let faults = estimates.find(|it| it["metric"] == metric);
        let faults = faults.and_then(|it| it["value"].as_f64());
        assert!(faults.is_some_and(|faults| faults > 0.0), "{point}");
    }
}

#[test]
fn without_rights_and_without_swap_the_rest_is_measured() {
    let _alone = alone();
    let place = Place::new();
    let Some(mut run) = bandwidth_without_rights(&place) else {
        return;
    };
    if free_swap_bytes() > 0 {
        return eprintln!("skipped: this system has swap");
    }
    let (run, said) = outcome(&mut run, EACH_POINT);
    assert!(!points(&run).is_empty(), "{said}");
    assert_eq!(in_swap(&run), Vec::<&Value>::new());
}

#[test]
fn memory_is_measured_from_each_node_to_each_or_the_question_does_not_arise() {
    let _alone = alone();
    let nodes = node::all();
    let has_memory = |node: &&Node| node.available_bytes.is_some();
    let with_memory = nodes.iter().filter(has_memory).count();
    let place = Place::new();
    let of = |what: &str| outcome(&mut place.run(what), EACH_POINT);
    let (run, said) = of("memory.nodes");
    let measured = &run["experiments"][0];
    if with_memory < 2 {
        let reason = measured["skipped"].as_str().expect("a reason");
        assert!(reason.contains("fewer than two memory nodes"), "{said}");
        // Together with others, the experiment is not even mentioned.
        let (run, said) = of("memory.nodes memory.parallel");
        assert_eq!(list(&run, "experiments").len(), 1, "{said}");
        return eprintln!("skipped: this machine has fewer than two memory nodes");
    }
    assert!(list(measured, "failures").is_empty(), "{said}");
    let with_processors = nodes.iter().filter(|node| !node.cpus.is_empty()).count();
    let pairs = with_processors * with_memory;
    assert_eq!(points(&run).len(), pairs, "{said}");
    let estimates = points(&run)
        .iter()
        .flat_map(|point| list(point, "estimates"));
    for estimate in estimates {
        // Under emulation, interruptions can make a time difference meaningless.
        let is_sound = estimate["verdict"] == "sound";
        let is_positive = estimate["value"].as_f64().is_some_and(|value| value > 0.0);
        assert!(is_positive || !is_sound, "{estimate}");
    }
}
