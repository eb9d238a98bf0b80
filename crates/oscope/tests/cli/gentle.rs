//! Runs on machines with other work: they stay within their limits, and report their usage.

use crate::common::{EACH_POINT, Place, json, list, outcome, scratch_files};
use platform::clock::now_ns;
use platform::process::{Exit, Worker, WorkerError, WorkerOptions};
use serde_json::Value;
use std::collections::BTreeSet;
use std::fs;
use std::sync::atomic::AtomicBool;
use std::time::Duration;
use testing::LONGEST_WAIT;

const MIB: u64 = 1 << 20;
static NEVER: AtomicBool = AtomicBool::new(false);

fn experiment<'v>(run: &'v Value, id: &str) -> &'v Value {
    let mut all = list(run, "experiments").iter();
    all.find(|it| it["definition"]["id"] == id || it["id"] == id)
        .expect("it is part of the run")
}

/// The failures of an experiment whose reason contains a text.
fn failures<'v>(run: &'v Value, id: &str, reason: &str) -> Vec<&'v Value> {
    let failures = list(experiment(run, id), "failures").iter();
    let is_meant = |it: &&Value| it["reason"].as_str().is_some_and(|it| it.contains(reason));
    failures.filter(is_meant).collect()
}

fn number(value: &Value, name: &str) -> u64 {
    let number = value[name].as_u64();
    number.unwrap_or_else(|| panic!("{name} in {value}"))
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
    let started_ns = now_ns();
    let deadline_ns = started_ns + LONGEST_WAIT.as_nanos() as u64;
    let command = place.run("memory.latency process.calls --gentle --budget 12s");
    let program = Worker::spawn(command.into(), &WorkerOptions::default());
    let mut program = program.expect("it starts");
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

    let run = json(text.as_bytes());
    let limits = &run["run"]["limited"]["limits"];
    assert_eq!(limits["processor_percent"], 25.0);
    assert_eq!(limits["cpus"], 1);
    let used = &run["run"]["limited"]["used"];
    let reported = number(used, "cpu_ns") as f64 / number(used, "wall_ns") as f64;
    assert!(reported <= 0.25 * 1.005, "{reported}");
    assert!(number(used, "cpu_ns") <= cpu_ns && number(used, "cpu_ns") > cpu_ns / 3);
    // Waiting for others counts as rest, so a busy machine adds little more.
    assert!(number(used, "rest_ns") > 0, "{used}");
    let memory_bytes = number(used, "memory_bytes");
    assert!(memory_bytes > 0 && memory_bytes <= number(limits, "memory_bytes"));
    assert!(number(used, "longest_burst_ns") > 0);
    let measured = list(experiment(&run, "process.calls"), "points");
    assert!(!measured.is_empty(), "it measures nevertheless");
}

#[test]
fn a_limit_on_memory_leaves_out_larger_blocks_and_says_so() {
    let place = Place::new();
    let (run, stderr) = outcome(
        &mut place.run("memory.bandwidth --limit memory=128MiB"),
        EACH_POINT,
    );
    let beyond = "beyond the limit of 128 MiB of memory";
    let left_out = failures(&run, "memory.bandwidth", beyond);
    assert!(!left_out.is_empty() && stderr.contains(beyond), "{stderr}");
    let points = list(experiment(&run, "memory.bandwidth"), "points");
    assert!(!points.is_empty(), "{stderr}");
    for point in points {
        let size = number(&point["levels"], "block_size");
        assert!(size <= 32 * MIB, "{point}");
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
    let run = place.run("threads.create --limit memory=128MiB");
    let Some(mut command) = place.as_somebody(&[], &run) else {
        return;
    };
    let (run, stderr) = outcome(&mut command, EACH_POINT);
    let used = &run["run"]["limited"]["used"];
    assert_eq!(used["memory_of_group"], false, "{stderr}");
    // Stacks exceed the address space limit, for which pthread_create(3) has EAGAIN.
    let no_room = [
        "no room for the stack",
        "beyond the limit",
        "start a kernel thread",
    ];
    let is_found = |reason: &&str| !failures(&run, "threads.create", reason).is_empty();
    assert!(no_room.iter().any(is_found), "{run}\n{stderr}");
}

#[test]
fn a_limit_on_scratch_files_leaves_out_experiments_that_need_larger_ones() {
    let place = Place::new();
    let words = "file.block_size memory.latency --limit disk=1MiB";
    let (run, stderr) = outcome(&mut place.run(words), EACH_POINT);
    let skipped = experiment(&run, "file.block_size")["skipped"].as_str();
    let beyond = "beyond the limit of 1.00 MiB of scratch files: it needs ";
    let is_beyond = skipped.is_some_and(|it| it.starts_with(beyond));
    assert!(is_beyond, "{skipped:?}\n{stderr}");
    assert!(!list(experiment(&run, "memory.latency"), "points").is_empty());
    assert!(number(&run["run"]["limited"]["used"], "disk_bytes") <= MIB);
}

#[test]
fn a_limit_on_writing_ends_experiments_that_write_and_no_others() {
    if writes_are_not_counted() {
        return;
    }
    let place = Place::new();
    let words = "file.block_size memory.latency --limit written=160MiB";
    let beyond = "beyond the limit of 160 MiB written";
    let sign = format!("not measured: {beyond}");
    let (run, stderr) = outcome(&mut place.run(words), &sign);
    if run["storage"]["file_system"] == "tmpfs" {
        return eprintln!("skipped: scratch files lie in memory here");
    }
    let used = &run["run"]["limited"]["used"];
    assert!(number(used, "written_bytes") > 0, "{used}");
    assert!(number(used, "written_bytes") <= 160 * MIB, "{used}");
    let ended = failures(&run, "file.block_size", beyond);
    assert!(!ended.is_empty(), "{run}\n{stderr}");
    let others = failures(&run, "memory.latency", beyond);
    assert!(others.is_empty(), "{stderr}");
}

#[test]
fn a_limit_on_processors_holds_for_every_thread() {
    let cpus = platform::placement::allowed_cpus().expect("this process runs somewhere");
    if cpus.len() < 2 {
        return eprintln!("skipped: there is only one processor");
    }
    let place = Place::new();
    let what = "file.sum threads.lock memory.parallel transfer.file process.ipc";
    let mut command = place.run(&format!("{what} --limit cpus=1 --budget 12s"));
    let json_file = fs::File::create(place.path("run.json")).expect("a new file");
    command
        .stdout(json_file)
        .stderr(std::process::Stdio::null());
    let mut program = command.spawn().expect("the program starts");
    let mut seen = BTreeSet::new();
    while program.try_wait().expect("it is ours").is_none() {
        for process in children(program.id()) {
            seen.extend(placements(process));
        }
        std::thread::sleep(Duration::from_millis(5));
    }
    // The program itself may use all processors until it has parsed its command line.
    let all = format!("{}-{}", cpus[0], cpus[cpus.len() - 1]);
    seen.retain(|it| it.contains([',', '-']) && *it != all);
    assert!(seen.is_empty(), "{seen:?}");
    let run = json(place.read("run.json").as_bytes());
    assert_eq!(run["run"]["limited"]["used"]["cpus"], 1);
    let beyond = "beyond the limit of 1 processor at once";
    let ended = failures(&run, "memory.parallel", beyond);
    assert!(!ended.is_empty(), "{run}");
}

/// The children of a process. The process itself is left out: its threads may have existed before
/// the limits.
fn children(process: u32) -> Vec<u32> {
    let children = fs::read_to_string(format!("/proc/{process}/task/{process}/children"));
    let children = children.unwrap_or_default();
    let children = children.split_whitespace().map(str::parse);
    children.filter_map(Result::ok).collect()
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
