//! Memory that is limited, and swap that is made for a while: what is measured then, and that
//! nothing is left behind however a run ends.

mod common;

use common::{Place, is_root, program, scratch_files, wait_for};
use platform::confinement::{MemoryGroup, can_limit_memory};
use platform::process::{Worker, WorkerOptions};
use predicates::str::contains;
use serde_json::Value;
use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::atomic::AtomicBool;

const MIB: u64 = 1 << 20;
static NEVER: AtomicBool = AtomicBool::new(false);

fn swap_is_on(scratch: &Path) -> bool {
    let swaps = fs::read_to_string("/proc/swaps").unwrap_or_default();
    swaps.contains(scratch.to_str().expect("a plain path"))
}

/// Whether swap can be made here; if not, says so.
fn may_swap() -> bool {
    let may = is_root() && can_limit_memory();
    if !may {
        eprintln!("skipped: a temporary swap file takes root, and a memory control group");
    }
    may
}

/// The sizes of the blocks that a run measured.
fn block_sizes(run: &Value) -> Vec<u64> {
    let points = run["experiments"][0]["points"].as_array();
    let points = points.into_iter().flatten();
    let sizes = points.filter_map(|point| point["levels"]["block_size"].as_u64());
    sizes.collect()
}

#[test]
fn in_little_memory_blocks_are_cut_and_the_finding_says_so() {
    let place = Place::new();
    let group = match MemoryGroup::create(256 * MIB, &place.scratch()) {
        Ok(group) => group,
        Err(error) => return eprintln!("skipped: {error}"),
    };
    let options = WorkerOptions {
        memory_group: Some(&group),
        ..WorkerOptions::default()
    };
    let mut command = place.plain(&["run", "memory.bandwidth", "--budget", "10s", "--no-page"]);
    command.arg("--json").arg("--dir").arg(place.scratch());
    let mut run = Worker::spawn(command, &options).expect("the program starts");
    let deadline_ns = platform::clock::now_ns() + 120_000_000_000;
    let mut text = String::new();
    while let Ok(Some(line)) = run.read_line_until(deadline_ns, &NEVER) {
        text.push_str(&line);
    }
    let run: Value = serde_json::from_str(&text).expect("the run came to its end");
    let largest = block_sizes(&run).into_iter().max();
    assert!(largest.is_some_and(|size| size <= 64 * MIB), "{largest:?}");
    assert!(text.contains("a quarter of the memory available"));
}

#[test]
fn an_address_space_that_is_too_small_is_named() {
    let place = Place::new();
    let script = format!(
        "ulimit -v 40000 && exec {} run memory.bandwidth --no-page --store {} --dir {}",
        program().display(),
        place.path("oscope.db").display(),
        place.scratch().display(),
    );
    let output = Command::new("sh").args(["-c", &script]).output();
    let output = output.expect("there is a shell");
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(1), "{stderr}");
    assert!(stderr.contains("of memory, of which"), "{stderr}");
}

#[test]
fn swap_made_for_a_killed_run_is_undone_by_cleanup() {
    if !may_swap() {
        return;
    }
    let place = Place::new();
    let scratch = place.scratch();
    let mut killed = place
        .plain(&["run", "memory.bandwidth", "--allow-swap-file", "--no-page"])
        .arg("--dir")
        .arg(&scratch)
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .expect("the program starts");
    let was_on = wait_for(|| swap_is_on(&scratch));
    killed.kill().expect("it runs");
    killed.wait().expect("it was killed");
    if !was_on {
        eprintln!("skipped: the file system of temporary files holds no swap");
        return;
    }
    assert!(swap_is_on(&scratch));
    let group = fs::read_to_string(scratch_files(&scratch)[0].join("memory-group"));
    // A worker that was being started when its parent was killed holds the lock for a moment more.
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
    if !may_swap() {
        return;
    }
    let place = Place::new();
    let scratch = place.scratch();
    let mut run = place
        .plain(&["run", "memory.bandwidth", "--allow-swap-file", "--no-page"])
        .arg("--dir")
        .arg(&scratch)
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .expect("the program starts");
    let was_on = wait_for(|| swap_is_on(&scratch));
    let status = Command::new("kill")
        .args(["-INT", &run.id().to_string()])
        .status();
    assert!(status.is_ok_and(|status| status.success()));
    run.wait().expect("it ends");
    if !was_on {
        eprintln!("skipped: the file system of temporary files holds no swap");
    }
    assert!(!swap_is_on(&scratch) && scratch_files(&scratch).is_empty());
}
