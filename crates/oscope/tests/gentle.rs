//! Runs on machines with other work: they stay within their limits, report their usage, and warn of
//! work that they would disturb.

mod common;

use common::{Place, scratch_files, visit, wait_for};
use platform::clock::now_ns;
use platform::confinement::MemoryGroup;
use platform::process::{Exit, Worker, WorkerError, WorkerOptions};
use serde_json::Value;
use std::collections::BTreeSet;
use std::fs;
use std::sync::atomic::AtomicBool;
use testing::{Command, LONGEST_WAIT};

const MIB: u64 = 1 << 20;
static NEVER: AtomicBool = AtomicBool::new(false);

/// A run in `place` that prints JSON.
fn run(place: &Place, arguments: &[&str]) -> Command {
    let mut command = place.plain(&["run", "--no-page", "--json"]);
    command.args(arguments).arg("--dir").arg(place.scratch());
    command
}

/// The output of a run that has visited each point, and its messages.
fn outcome(command: &mut Command) -> (Value, String) {
    outcome_until(command, "pass 1 of ")
}

/// The same, interrupted when its messages contain `sign`.
fn outcome_until(command: &mut Command, sign: &str) -> (Value, String) {
    let output = visit(command, sign);
    let stderr = String::from_utf8_lossy(&output.stderr).into_owned();
    let run = serde_json::from_slice(&output.stdout);
    (run.expect("a run, as JSON"), stderr)
}

fn list<'v>(value: &'v Value, name: &str) -> &'v [Value] {
    value[name].as_array().map_or(&[], Vec::as_slice)
}

fn experiment<'v>(run: &'v Value, id: &str) -> &'v Value {
    let mut all = list(run, "experiments").iter();
    all.find(|it| it["definition"]["id"] == id || it["id"] == id)
        .expect("it is part of the run")
}

fn number(value: &Value, name: &str) -> u64 {
    value[name]
        .as_u64()
        .unwrap_or_else(|| panic!("{name} in {value}"))
}

/// True, with the reason printed, if the system does not count bytes written.
fn writes_are_not_counted() -> bool {
    let are_not = !platform::usage::counts_storage();
    if are_not {
        eprintln!("skipped: this kernel does not count what a program writes");
    }
    are_not
}

#[test]
fn a_gentle_run_takes_no_more_than_a_quarter_of_a_processor() {
    if writes_are_not_counted() {
        return;
    }
    let place = Place::new();
    let what = [
        "memory.latency",
        "process.calls",
        "--gentle",
        "--budget",
        "12s",
    ];
    let started_ns = now_ns();
    let deadline_ns = started_ns + LONGEST_WAIT.as_nanos() as u64;
    let mut program =
        Worker::spawn(run(&place, &what).into(), &WorkerOptions::default()).expect("it starts");
    let mut text = String::new();
    let ended = loop {
        match program.read_line_until(deadline_ns, &NEVER) {
            Ok(Some(line)) => text += &line,
            Ok(None) => break program.wait(deadline_ns, &NEVER).expect("it ends"),
            // A busy machine may not have time for every point.
            Err(WorkerError::Died { finished, stderr }) => {
                assert_eq!(finished.exit, Exit::Code(1), "{stderr}");
                break finished;
            }
            Err(error) => panic!("{error}"),
        }
    };
    let wall_ns = now_ns() - started_ns;
    let cpu_ns = ended.usage.user_ns + ended.usage.system_ns;
    // The share includes the program's own work before the first batch and after the last.
    let share = cpu_ns as f64 / wall_ns as f64;
    assert!(share < 0.30, "{share}");

    let run: Value = serde_json::from_str(&text).expect("a run, as JSON");
    let limits = &run["run"]["limited"]["limits"];
    assert_eq!(limits["processor_percent"], 25.0);
    assert_eq!(limits["cpus"], 1);
    let used = &run["run"]["limited"]["used"];
    let told = number(used, "cpu_ns") as f64 / number(used, "wall_ns") as f64;
    assert!(told <= 0.25 * 1.005, "{told}");
    assert!(number(used, "cpu_ns") <= cpu_ns && number(used, "cpu_ns") > cpu_ns / 3);
    // Waiting for others counts as rest, so a busy machine adds little more.
    assert!(number(used, "rest_ns") > 0, "{used}");
    assert!(
        number(used, "memory_bytes") > 0
            && number(used, "memory_bytes") <= number(limits, "memory_bytes")
    );
    assert!(number(used, "longest_burst_ns") > 0);
    let measured = list(experiment(&run, "process.calls"), "points");
    assert!(!measured.is_empty(), "it measures nevertheless");
}

#[test]
fn a_limit_on_memory_leaves_out_what_needs_more_and_says_so() {
    let place = Place::new();
    let what = ["memory.bandwidth", "--limit", "memory=128MiB"];
    let (run, stderr) = outcome(&mut run(&place, &what));
    let bandwidth = experiment(&run, "memory.bandwidth");
    let beyond = "beyond the limit of 128 MiB of memory";
    let left_out: Vec<u64> = list(bandwidth, "failures")
        .iter()
        .filter(|it| {
            it["reason"]
                .as_str()
                .is_some_and(|it| it.starts_with(beyond))
        })
        .map(|it| number(&it["levels"], "block_size"))
        .collect();
    assert!(!left_out.is_empty() && stderr.contains(beyond), "{stderr}");
    let points = list(bandwidth, "points");
    assert!(!points.is_empty(), "{stderr}");
    for point in points {
        assert!(
            number(&point["levels"], "block_size") <= 32 * MIB,
            "{point}"
        );
    }
    let used = &run["run"]["limited"]["used"];
    assert!(number(used, "memory_bytes") <= 128 * MIB, "{used}");
    assert!(stderr.contains("taken at the most: "), "{stderr}");
    assert!(!stderr.contains("beyond its limit"), "{stderr}");
    assert!(scratch_files(&place.scratch()).is_empty());
}

#[test]
fn without_a_control_group_the_address_space_is_limited() {
    let place = Place::new();
    let what = [
        "run",
        "threads.create",
        "--limit",
        "memory=128MiB",
        "--no-page",
        "--json",
        "--dir",
    ];
    let Some(mut command) = place.as_somebody(&[], &what) else {
        return;
    };
    command.arg(place.scratch());
    let (run, stderr) = outcome(&mut command);
    let used = &run["run"]["limited"]["used"];
    assert_eq!(used["memory_of_group"], false, "{stderr}");
    // Stacks exceed the address space limit, for which pthread_create(3) has EAGAIN.
    let failures = list(experiment(&run, "threads.create"), "failures");
    let is_for_want_of_room = |it: &Value| {
        let reason = it["reason"].as_str().unwrap_or_default();
        let no_room = [
            "no room for the stack",
            "beyond the limit",
            "start a kernel thread",
        ];
        no_room.iter().any(|it| reason.contains(it))
    };
    assert!(
        failures.iter().any(is_for_want_of_room),
        "{failures:?}\n{stderr}"
    );
}

#[test]
fn a_limit_on_scratch_files_leaves_out_what_needs_larger_ones() {
    let place = Place::new();
    let what = ["file.block_size", "memory.latency", "--limit", "disk=1MiB"];
    let (run, stderr) = outcome(&mut run(&place, &what));
    let skipped = experiment(&run, "file.block_size")["skipped"].as_str();
    let beyond = "beyond the limit of 1.00 MiB of scratch files: it needs ";
    assert!(
        skipped.is_some_and(|it| it.starts_with(beyond)),
        "{skipped:?}\n{stderr}"
    );
    assert!(!list(experiment(&run, "memory.latency"), "points").is_empty());
    assert!(number(&run["run"]["limited"]["used"], "disk_bytes") <= MIB);
}

#[test]
fn a_limit_on_what_is_written_ends_what_writes_and_nothing_else() {
    if writes_are_not_counted() {
        return;
    }
    let place = Place::new();
    let what = [
        "file.block_size",
        "memory.latency",
        "--limit",
        "written=160MiB",
    ];
    let sign = "not measured: beyond the limit of 160 MiB written";
    let (run, stderr) = outcome_until(&mut run(&place, &what), sign);
    let is_memory = run["storage"]["file_system"] == "tmpfs";
    if is_memory {
        return eprintln!("skipped: scratch files lie in memory here");
    }
    let used = &run["run"]["limited"]["used"];
    assert!(number(used, "written_bytes") > 0, "{used}");
    assert!(number(used, "written_bytes") <= 160 * MIB, "{used}");
    let failures = list(experiment(&run, "file.block_size"), "failures");
    let is_beyond = |it: &Value| {
        let reason = it["reason"].as_str().unwrap_or_default();
        reason.starts_with("beyond the limit of 160 MiB written")
    };
    assert!(failures.iter().any(is_beyond), "{failures:?}\n{stderr}");
    let latency = experiment(&run, "memory.latency");
    assert!(!list(latency, "failures").iter().any(is_beyond), "{stderr}");
}

#[test]
fn a_limit_on_processors_holds_for_every_thread() {
    let cpus = platform::placement::allowed_cpus().expect("this process runs somewhere");
    if cpus.len() < 2 {
        return eprintln!("skipped: there is only one processor");
    }
    let place = Place::new();
    let what = [
        "file.sum",
        "threads.lock",
        "memory.parallel",
        "transfer.file",
        "process.ipc",
        "--limit",
        "cpus=1",
        "--budget",
        "12s",
    ];
    let mut command = run(&place, &what);
    let json = fs::File::create(place.path("run.json")).expect("a new file");
    command.stdout(json).stderr(std::process::Stdio::null());
    let mut program = command.spawn().expect("the program starts");
    let mut seen = BTreeSet::new();
    while program.try_wait().expect("it is ours").is_none() {
        for process in with_children(program.id()) {
            seen.extend(placements(process));
        }
        std::thread::sleep(std::time::Duration::from_millis(5));
    }
    // The program itself may use all processors until it has parsed its command line.
    let everywhere: Vec<String> = seen
        .into_iter()
        .filter(|it| it.contains([',', '-']))
        .collect();
    let all = format!("{}-{}", cpus[0], cpus[cpus.len() - 1]);
    let wrong: Vec<&String> = everywhere.iter().filter(|it| **it != all).collect();
    assert!(wrong.is_empty(), "{wrong:?}");
    let text = fs::read(place.path("run.json")).expect("it was written");
    let run: Value = serde_json::from_slice(&text).expect("a run, as JSON");
    assert_eq!(run["run"]["limited"]["used"]["cpus"], 1);
    let failures = list(experiment(&run, "memory.parallel"), "failures");
    let beyond = "beyond the limit of 1 processor at once";
    assert!(
        failures.iter().any(|it| it["reason"] == beyond),
        "{failures:?}"
    );
}

/// The children of a process. The process itself is left out: its threads may have existed before
/// the limits.
fn with_children(process: u32) -> Vec<u32> {
    let children = fs::read_to_string(format!("/proc/{process}/task/{process}/children"));
    let children = children.unwrap_or_default();
    children
        .split_whitespace()
        .filter_map(|child| child.parse().ok())
        .collect()
}

/// The allowed processors of each thread of a process.
fn placements(process: u32) -> Vec<String> {
    let tasks = fs::read_dir(format!("/proc/{process}/task"));
    let statuses = tasks.into_iter().flatten().flatten().filter_map(|task| {
        let status = fs::read_to_string(task.path().join("status")).ok()?;
        let mut lines = status.lines();
        let list = lines.find_map(|line| line.strip_prefix("Cpus_allowed_list:"))?;
        Some(list.trim().to_owned())
    });
    statuses.collect()
}

#[test]
fn limits_in_wrong_syntax_are_refused_with_the_list_of_all() {
    let place = Place::new();
    for (limit, problem) in [
        ("power=5W", "'power' cannot be limited"),
        ("memory=1MiB", "a worker needs 64 MiB"),
        ("processor", "is not KEY=VALUE"),
    ] {
        let output = run(&place, &["--limit", limit]).output();
        let output = output.expect("the program starts");
        let stderr = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(2), "{stderr}");
        assert!(
            stderr.contains(problem) && stderr.contains("rate=32MiB/s"),
            "{stderr}"
        );
    }
    for other in ["--allow-swap-file", "--to=host:5735", "--remote=/mnt"] {
        for limit in ["--gentle", "--limit=cpus=1"] {
            let output = run(&place, &[limit, other]).output();
            let output = output.expect("the program starts");
            let stderr = String::from_utf8_lossy(&output.stderr);
            assert_eq!(output.status.code(), Some(2), "{stderr}");
            assert!(stderr.contains("cannot be used with"), "{stderr}");
        }
    }
    assert!(!place.store.exists(), "nothing was begun");
}

#[test]
fn a_run_without_limits_says_nothing_of_them() {
    let place = Place::new();
    let (run, stderr) = outcome(&mut run(&place, &["process.calls"]));
    assert!(run["run"].get("limited").is_none(), "{run}");
    assert!(!stderr.contains("limit"), "{stderr}");
}

/// The doctor's list of work that a run would disturb.
fn hurt(doctor: &[u8]) -> Vec<(String, String)> {
    let checks: Value = serde_json::from_slice(doctor).expect("checks, as JSON");
    let checks = checks.as_array().expect("a list").iter();
    let harms = checks.filter(|check| check["effect"] == "hurts");
    let word = |check: &Value, name: &str| check[name].as_str().unwrap_or_default().to_owned();
    harms
        .map(|check| (word(check, "subject"), word(check, "found")))
        .collect()
}

#[test]
fn a_disk_that_is_nearly_full_is_warned_of() {
    let place = Place::new();
    let small = place.path("small");
    fs::create_dir(&small).expect("a directory");
    let in_small = |command: &Command| {
        let script = "mount -t tmpfs -o size=64m small \"$0\" \
                      && head -c 61000000 /dev/zero > \"$0/filler\" && exec \"$@\"";
        let mut wrapped = Command::new("unshare");
        wrapped
            .args(["--mount", "sh", "-c", script])
            .arg(&small)
            .arg(command.get_program())
            .args(command.get_args());
        wrapped
    };
    let probe = in_small(&Command::new("true")).output();
    if !probe.is_ok_and(|output| output.status.success()) {
        return eprintln!("skipped: no file system can be mounted here");
    }
    let small = small.to_str().expect("a plain path");
    let output = in_small(&place.plain(&["doctor", "--json", "--dir", small])).output();
    let found = hurt(&output.expect("the program starts").stdout);
    let is_told = |(subject, found): &(String, String)| {
        subject == "disk" && found.contains("which holds scratch files")
    };
    assert!(found.iter().any(is_told), "{found:?}");

    let what = [
        "run",
        "process.calls",
        "--budget",
        "1s",
        "--no-page",
        "--dir",
        small,
    ];
    let output = in_small(&place.plain(&what)).output();
    let stderr = output.expect("the program starts").stderr;
    let stderr = String::from_utf8_lossy(&stderr);
    let mut lines = stderr
        .lines()
        .filter(|line| line.contains("may hurt other work"));
    assert!(
        lines
            .next()
            .is_some_and(|line| line.contains("scratch files")),
        "{stderr}"
    );
    assert_eq!(lines.next(), None);
}

#[test]
fn a_control_group_that_is_nearly_full_is_warned_of() {
    let place = Place::new();
    let group = match MemoryGroup::create(
        256 * MIB,
        &place.scratch(),
        std::time::Duration::from_secs(5),
    ) {
        Ok(group) => group,
        Err(error) => return eprintln!("skipped: {error}"),
    };
    let options = WorkerOptions {
        memory_group: Some(&group),
        ..WorkerOptions::default()
    };
    // tail(1) keeps the last line in memory, and this input is a single line.
    let script = "(head -c 240000000 /dev/zero; touch \"$0\"; sleep 100) | tail > /dev/null & \
                  while [ ! -e \"$0\" ]; do sleep 0.1; done; exec \"$@\"";
    let doctor = place.plain(&["doctor", "--json"]);
    let mut command = Command::new("sh");
    command
        .args(["-c", script])
        .arg(place.path("full"))
        .arg(doctor.get_program())
        .args(doctor.get_args());
    let mut program = Worker::spawn(command.into(), &options).expect("the shell starts");
    let deadline_ns = now_ns() + LONGEST_WAIT.as_nanos() as u64;
    let mut text = String::new();
    while let Some(line) = program
        .read_line_until(deadline_ns, &NEVER)
        .expect("it prints checks")
    {
        text += &line;
        // The memory holder keeps standard output open, so reading until its end would block.
        if line == "]" {
            break;
        }
    }
    assert!(wait_for(|| program.kill().is_ok()));
    let found = hurt(text.as_bytes());
    let is_told = |(subject, found): &(String, String)| {
        subject == "memory limit" && found.contains("of 256 MiB")
    };
    assert!(found.iter().any(is_told), "{found:?}");
}
