//! Workers of Linux: signals, process groups, and limits. `workers.rs` has the rest.
#![cfg(target_os = "linux")]

use std::sync::atomic::AtomicBool;
use std::time::Duration;
use testing::{Command, LONGEST_WAIT, wait_until};

use oscope_platform::clock::now_ns;
use oscope_platform::confinement::{MemoryGroup, free_swap_bytes};
use oscope_platform::process::{Exit, Worker, WorkerError, WorkerLimits, WorkerOptions};

static NEVER: AtomicBool = AtomicBool::new(false);

fn shell(script: &str) -> Worker {
    shell_with(script, &WorkerOptions::default())
}

fn shell_with(script: &str, options: &WorkerOptions<'_>) -> Worker {
    let mut command = Command::new("sh");
    command.args(["-c", script]);
    Worker::spawn(command.into(), options).expect("there is a shell")
}

fn hear(worker: &mut Worker) -> Option<String> {
    worker.read_line_until(late(), &NEVER).expect("it goes on")
}

/// The error once it has died, and how it ended.
fn death(mut worker: Worker) -> (String, Exit) {
    let error = worker
        .read_line_until(late(), &NEVER)
        .expect_err("it fails");
    let message = error.to_string();
    let WorkerError::Died { finished, .. } = error else {
        panic!("{error}");
    };
    (message, finished.exit)
}

/// A deadline far beyond the duration of any test.
fn late() -> u64 {
    now_ns() + LONGEST_WAIT.as_nanos() as u64
}

fn is_gone(id: u32) -> bool {
    !std::path::Path::new(&format!("/proc/{id}")).exists()
}

#[test]
fn the_end_of_a_successful_worker_is_no_line() {
    let mut worker = shell("cut -d' ' -f5 /proc/$$/stat; echo first; printf last");
    let id = worker.id().to_string();
    // It leads a process group.
    for line in [Some(&*id), Some("first"), Some("last"), None, None] {
        assert_eq!(hear(&mut worker).as_deref(), line);
    }
}

#[test]
fn a_killed_worker_is_reported_with_its_signal() {
    let mut worker = shell("echo first; kill -9 $$");
    assert_eq!(hear(&mut worker).as_deref(), Some("first"));
    let message = "the worker ended with signal 9 (SIGKILL)".to_owned();
    assert_eq!(death(worker), (message, Exit::Signal(9)));
}

#[test]
fn a_worker_that_outlives_its_time_is_killed_with_all_its_children() {
    let mut worker = shell("sleep 1000 & echo $!; wait");
    let sleeper = hear(&mut worker).unwrap();
    let soon = now_ns() + 1_000_000;
    let error = worker.read_line_until(soon, &NEVER).unwrap_err();
    assert!(matches!(error, WorkerError::TimedOut), "{error}");
    let id = worker.id();
    assert!(!is_gone(id));
    drop(worker);
    assert!(is_gone(id));
    // It was reparented to another process, which waits for it at its own time.
    wait_until("the end of its child", || {
        let stat = std::fs::read_to_string(format!("/proc/{sleeper}/stat"));
        !stat.is_ok_and(|stat| stat.contains("(sleep)") && !stat.contains(") Z "))
    });
}

#[test]
fn an_orphan_that_holds_the_pipes_does_not_hide_the_end() {
    let (_, exit) = death(shell("sleep 1000 & exit 4"));
    assert_eq!(exit, Exit::Code(4));
}

#[test]
fn a_worker_in_a_memory_group_cannot_hold_more_and_leaves_no_group_behind() {
    let scratch = tempfile::tempdir().unwrap();
    let group = match MemoryGroup::create(32 << 20, scratch.path(), Duration::from_secs(5)) {
        Ok(group) => group,
        Err(error) => return println!("skipped: {error}"),
    };
    let options = WorkerOptions {
        memory_group: Some(&group),
        ..WorkerOptions::default()
    };
    let mut worker = shell_with("cat /proc/self/cgroup; sleep 60 &", &options);
    let mut own_group = None;
    while let Some(line) = worker.read_line_until(late(), &NEVER).unwrap_or(None) {
        let line_of_ours = line.contains("/oscope-");
        own_group = own_group.or(line_of_ours.then_some(line));
    }
    assert!(own_group.is_some());
    drop(worker);

    if free_swap_bytes() > 0 {
        println!("skipped: a part, since with swap more than the limit can be held");
    } else {
        // tail(1) keeps its last line in memory, and the input is a single line.
        let script = "head -c 100000000 /dev/zero | tail > /dev/null; exit 7";
        let mut greedy = shell_with(script, &options);
        let finished = greedy.wait(late(), &NEVER).unwrap();
        assert_eq!(
            finished.exit,
            Exit::Code(7),
            "only the greedy process is killed"
        );
    }
    drop(group);
    assert_eq!(std::fs::read_dir(scratch.path()).unwrap().count(), 0);
}

#[test]
fn a_worker_has_no_more_than_its_limits_allow_it() {
    let scratch = tempfile::tempdir().unwrap();
    let file = scratch.path().join("file");
    let limits = WorkerLimits {
        address_space_bytes: Some(96 << 20),
        file_bytes: Some(1 << 20),
    };
    let options = WorkerOptions {
        limits,
        ..WorkerOptions::default()
    };
    let script = format!(
        "ulimit -v; ulimit -f; trap '' XFSZ; head -c 3000000 /dev/zero > {}; echo $?",
        file.display()
    );
    let mut worker = shell_with(&script, &options);
    let mut next = || hear(&mut worker).unwrap();
    assert_eq!(next(), (96 << 10).to_string());
    assert!(["1024", "2048"].contains(&next().as_str()), "in blocks");
    assert_ne!(next(), "0", "the write beyond the limit fails");
    assert_eq!(std::fs::metadata(&file).unwrap().len(), 1 << 20);
}
