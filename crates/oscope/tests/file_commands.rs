//! The direct commands on files as a user sees them.

mod common;

use common::{Place, as_user, is_root, program, visit_each_point, wait_for};
use instrument::quantity::Bytes;
use predicates::prelude::*;
use predicates::str::contains;
use serde_json::Value;
use std::fs;
use std::io::Write;
use std::path::Path;
use std::process::Stdio;
use testing::{Command, LONGEST_WAIT, joined};

fn json(stdout: &[u8]) -> Value {
    serde_json::from_slice(stdout).expect("what --json prints is JSON")
}

/// A file of known contents: the words 1, 2, 3 and the tail `04 05`.
fn known_file(place: &Place) -> String {
    let path = place.path("known");
    fs::write(&path, [1, 0, 0, 0, 2, 0, 0, 0, 3, 0, 0, 0, 4, 5]).expect("room");
    path.to_str().expect("a plain path").to_owned()
}

#[test]
fn what_is_written_is_read_and_summed_to_the_same() {
    let place = Place::new();
    let path = place.path("file");
    let path = path.to_str().expect("a plain path");
    let write = [
        "file",
        "write",
        path,
        "--block-size",
        "64KiB",
        "--count",
        "20",
    ];
    let written = place.oscope(&write).arg("--json").assert().success();
    let xor = json(&written.get_output().stdout)["xor"].clone();
    place
        .oscope(&write)
        .assert()
        .code(1)
        .stderr(contains("--force"));
    place.oscope(&write).arg("--force").assert().success();

    for method in ["read", "pread", "stdio", "mmap"] {
        let read = ["file", "read", path, "--block-size", "10000", "--method"];
        let read = place
            .oscope(&read)
            .args([method, "--json"])
            .assert()
            .success();
        let read = json(&read.get_output().stdout);
        assert_eq!(
            (&read["xor"], &read["bytes"]),
            (&xor, &Value::from(20 << 16))
        );
        assert!(read["wall_ns"].as_u64() > Some(0));
    }
    place
        .oscope(&["file", "sum", path])
        .assert()
        .success()
        .stdout(format!(
            "{} {} {path}\n",
            xor.as_str().expect("text"),
            20 << 16
        ));
}

#[test]
fn the_words_are_little_endian_and_the_tail_is_filled_with_zeros() {
    let place = Place::new();
    let path = known_file(&place);
    place
        .oscope(&["file", "sum", &path])
        .assert()
        .success()
        .stdout(format!("00000504 14 {path}\n"));
    // However much is asked for, the time and the speed are told.
    place
        .oscope(&["file", "sum", &path, "--method", "pread", "--threads", "1"])
        .args(["--block-size", "4096"])
        .assert()
        .success()
        .stderr(contains(
            "B/s by pread, 1 thread, blocks of 4 KiB: as asked",
        ));
    place
        .oscope(&["file", "sum", "-"])
        .write_stdin(fs::read(&path).expect("it is there"))
        .assert()
        .success()
        .stdout("00000504 14 -\n");
}

/// The program with these arguments behind a redirection of the shell, such as `<&-`.
fn redirected(place: &Place, arguments: &[&str], redirection: &str) -> assert_cmd::Command {
    let mut shell = Command::new("sh");
    shell
        .args(["-c", &format!("exec \"$0\" \"$@\" {redirection}")])
        .arg(program())
        .args(arguments)
        .current_dir(place.scratch())
        .env("NO_COLOR", "1");
    let mut shell = assert_cmd::Command::from_std(shell.into());
    shell.timeout(LONGEST_WAIT);
    shell
}

#[test]
fn a_closed_standard_input_is_an_error_and_publishes_nothing() {
    let place = Place::new();
    for arguments in [
        &["file", "sum", "-"] as &[_],
        &["file", "sum", "/dev/stdin"],
        &["file", "read", "-", "--block-size", "4096"],
        &["file", "copy", "-", "copy"],
        &["send", "-", "--name", "x", "--to", "127.0.0.1:1"],
    ] {
        for redirection in ["<&-", "0>written"] {
            redirected(&place, arguments, redirection)
                .assert()
                .code(1)
                .stdout("")
                .stderr(contains("standard input: it is not open for reading"));
        }
    }
    assert!(!place.scratch().join("copy").exists());
    redirected(&place, &["file", "sum", "-"], "</dev/null")
        .assert()
        .success()
        .stdout("00000000 0 -\n");
}

#[test]
fn what_goes_to_standard_output_is_the_data_alone() {
    let place = Place::new();
    let path = known_file(&place);
    let data = fs::read(&path).expect("it is there");
    for target in ["-", "/dev/stdout", "/dev/fd/1", "/proc/self/fd/1"] {
        let copy = |flag: &[&str]| {
            let mut copy = place.oscope(&["file", "copy", &path, target]);
            let copied = copy.args(flag).assert().success().stdout(data.clone());
            String::from_utf8_lossy(&copied.get_output().stderr).into_owned()
        };
        assert!(copy(&["--force"]).contains("copied "), "{target}");
        assert_eq!(copy(&["-q"]), "", "{target}");
        for quiet in [&["--json"] as &[_], &["--json", "-q"]] {
            assert_eq!(json(copy(quiet).as_bytes())["bytes"], data.len());
        }
    }
    // Whatever standard output is: data is added to a file, and a file that is named is replaced.
    let out = place.scratch().join("out");
    for (target, redirection) in [
        ("-", ">out"),
        ("/dev/stdout", ">>out"),
        ("out", ">out"),
        ("out", ">>out"),
    ] {
        fs::write(&out, "before ").expect("a file");
        let copy = ["file", "copy", &path, target, "--force"];
        let copied = redirected(&place, &copy, redirection).assert().success();
        copied.stderr(contains("copied "));
        let is_added = target != "out" && redirection == ">>out";
        let before: &[u8] = if is_added { b"before " } else { b"" };
        assert_eq!(
            fs::read(&out).expect("it is there"),
            [before, &data].concat(),
            "{target} {redirection}"
        );
    }
    for method in ["read-write", "mmap"] {
        let copy = ["file", "copy", &path, "-", "--method", method];
        redirected(&place, &copy, ">>out").assert().success();
    }
    for method in ["uring", "reflink"] {
        let copy = ["file", "copy", &path, "-", "--method", method];
        let refused = redirected(&place, &copy, ">>out").assert().code(2);
        refused.stderr(contains("from start to end only"));
    }
    let before = fs::read(&out).expect("it is there");
    let itself = ["file", "copy", "out", "-"];
    let refused = redirected(&place, &itself, ">>out").assert().code(2);
    refused.stderr(contains("same file"));
    assert_eq!(fs::read(&out).expect("it is there"), before);
    redirected(&place, &["file", "copy", &path, "-"], ">&-")
        .assert()
        .code(1)
        .stderr(contains("standard output: it is not open"));
    let written = place
        .oscope(&["file", "write", "-", "--size", "10", "--block-size", "4"])
        .assert()
        .success()
        .stderr(contains("written "));
    assert_eq!(written.get_output().stdout.len(), 10);
    // A report that reaches nobody anyway goes where it was asked to go.
    redirected(
        &place,
        &["file", "copy", &path, "/dev/null", "--force"],
        ">/dev/null",
    )
    .assert()
    .success()
    .stderr("");
    assert_eq!(
        fs::read_dir(place.scratch()).expect("it is there").count(),
        1
    );
}

#[test]
fn a_copy_of_an_endless_input_to_a_full_device_ends() {
    let place = Place::new();
    let mut shell = Command::new("sh");
    let pipeline = "yes | timeout 60 \"$0\" file copy - /dev/full --force";
    shell.args(["-c", pipeline]).arg(program());
    if !Path::new("/dev/full").exists() {
        return eprintln!("skipped: there is no /dev/full");
    }
    assert_cmd::Command::from_std(shell.into())
        .assert()
        .code(1)
        .stderr(contains("no space left for /dev/full"));
    assert!(!place.path("-").exists());
}

#[test]
fn a_copy_goes_into_a_directory_under_the_name_of_its_source() {
    let place = Place::new();
    let path = known_file(&place);
    let into = place.scratch();
    let copy = || {
        let mut copy = place.oscope(&["file", "copy", &path, "--json"]);
        copy.arg(&into);
        copy
    };
    let copied = copy().assert().success();
    let target = into.join("known");
    assert_eq!(
        json(&copied.get_output().stdout)["target"],
        target.to_str().expect("a plain path")
    );
    copy()
        .assert()
        .code(1)
        .stderr(contains("scratch/known is there already"));
    copy().arg("--force").assert().success();
    fs::remove_file(&target).expect("it was copied");
    fs::create_dir(&target).expect("a directory");
    let refused = copy().arg("--force").assert().code(2);
    refused.stderr(contains("scratch/known is a directory"));
    let refused = place
        .oscope(&["file", "copy", &path, "/proc/copy"])
        .assert();
    refused.code(1).stderr(contains("/proc"));
    let compared = ["file", "copy", &path, "-", "--against", "dd"];
    place.oscope(&compared).assert().code(2).stdout("");
    let mut input = place.oscope(&["file", "copy", "-"]);
    let refused = input.arg(&into).write_stdin("x").assert().code(2);
    refused.stderr(contains("standard input has no name"));
    let mut copy = place.oscope(&["file", "copy", &path]);
    let refused = copy.arg(into.join("new/")).assert().code(2);
    refused.stderr(contains("there is no directory").and(contains("new/")));
}

#[test]
fn a_block_is_bounded_by_the_file_or_by_memory() {
    let place = Place::new();
    let path = known_file(&place);
    let target = place.scratch().join("target");
    let target = target.to_str().expect("a plain path");
    let tib = ["--block-size", "1TiB"];
    for arguments in [
        &["file", "read", &path] as &[_],
        &["file", "sum", &path, "--threads", "1000"],
        &["file", "copy", &path, target, "--method", "read-write"],
        &["file", "copy", &path, target, "--against", "dd", "--force"],
        &["file", "write", target, "--size", "5", "--force"],
    ] {
        place.oscope(arguments).args(tib).assert().success();
    }
    fs::remove_file(target).expect("it was written");
    // The address space bounds the memory that is available.
    for arguments in [
        &["file", "sum", "/proc/cpuinfo"] as &[_],
        &["file", "read", "/dev/zero", "--count", "1"],
        &["file", "copy", "/dev/zero", target],
        &["file", "write", target, "--size", "1TiB"],
        &["file", "size", target, "--grow"],
    ] {
        for size in ["1TiB", "512MiB"] {
            let mut shell = Command::new("sh");
            let limited = "ulimit -v 2000000; exec \"$0\" \"$@\"";
            shell.args(["-c", limited]).arg(program()).args(arguments);
            shell.args(["--block-size", size]);
            let mut shell = assert_cmd::Command::from_std(shell.into());
            let refused = shell.timeout(LONGEST_WAIT).assert().code(2);
            let stderr = String::from_utf8_lossy(&refused.get_output().stderr).into_owned();
            let most = stderr.split("at most ").nth(1).unwrap_or_default();
            let most: Bytes = most.trim().parse().unwrap_or_else(|_| panic!("{stderr}"));
            assert!(
                most.0 > 1 << 20 && most.0 <= 2_000_000 * 1024 / 8,
                "{stderr}"
            );
        }
    }
    assert!(!Path::new(target).exists());
}

#[test]
fn holes_are_no_bytes_that_were_moved() {
    let place = Place::new();
    let path = place.path("holes");
    let file = fs::File::create(&path).expect("a file");
    file.set_len(1 << 40).expect("a hole takes no room");
    let path = path.to_str().expect("a plain path");
    for method in ["read-write", "copy-file-range"] {
        let copy = |flag| {
            let mut copy = place.oscope(&["file", "copy", path, "--method", method, "--force"]);
            let copied = copy.arg(place.path("copy")).args(flag).assert().success();
            String::from_utf8_lossy(&copied.get_output().stdout).into_owned()
        };
        let report = copy(None);
        assert!(!report.contains("B/s"), "{report}");
        assert!(
            report.contains("0 B of data and 1.000 TiB of holes"),
            "{report}"
        );
        let report = json(copy(Some("--json")).as_bytes());
        assert_eq!(
            (
                &report["bytes"],
                &report["hole_bytes"],
                &report["bytes_per_second"]
            ),
            (&(1_u64 << 40).into(), &(1_u64 << 40).into(), &0.0.into())
        );
    }
}

#[test]
fn sizes_that_are_not_named_are_chosen() {
    let place = Place::new();
    let path = place.path("file");
    let path = path.to_str().expect("a plain path");
    let write = |arguments: &[&str]| {
        let mut write = place.oscope(&["file", "write", path, "--json"]);
        write.args(arguments);
        write
    };
    let written = write(&["--size", "300000"]).assert().success();
    let written = json(&written.get_output().stdout);
    assert_eq!(
        (
            &written["bytes"],
            &written["block_bytes"],
            &written["count"]
        ),
        (&300_000.into(), &(128 << 10).into(), &3.into())
    );
    for (method, block_bytes) in [("read", 256 << 10), ("mmap", 8 << 20)] {
        let read = ["file", "read", path, "--json", "--method", method];
        let read = place.oscope(&read).assert().success();
        let read = json(&read.get_output().stdout);
        assert_eq!(
            (&read["xor"], &read["block_bytes"]),
            (&written["xor"], &Value::from(block_bytes))
        );
    }
    let whole = ["--size", "1", "--count", "1"];
    write(&whole).assert().code(2).stderr(contains("--count"));
    write(&[]).assert().code(2).stderr(contains("--size"));
}

#[test]
fn one_file_that_fails_does_not_hide_the_others() {
    let place = Place::new();
    let path = known_file(&place);
    let directory = place.scratch();
    place
        .oscope(&["file", "sum", &path])
        .args([&place.path("nonexistent"), &directory])
        .assert()
        .code(1)
        .stdout(contains("00000504 14"))
        .stderr(contains("/nonexistent").and(contains("is a directory")));
}

#[test]
fn a_file_without_the_right_to_read_is_named() {
    let place = Place::new();
    let path = known_file(&place);
    let status = Command::new("chmod").args(["000", &path]).status();
    assert!(status.expect("chmod(1) is there").success());
    let mut sum = place.plain(&["file", "sum", &path]);
    let output = if is_root() {
        // Root may read everything; another user may not.
        let mut other = as_user(65534);
        other.arg(sum.get_program()).args(sum.get_args());
        match other.output() {
            Err(error) => return eprintln!("skipped: setpriv: {error}"),
            Ok(output) if matches!(output.status.code(), Some(126 | 127)) => {
                return eprintln!("skipped: others cannot start {}", program().display());
            }
            Ok(output) => output,
        }
    } else {
        sum.output().expect("the program starts")
    };
    let words = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(1), "{words}");
    assert!(
        words.contains("known") && words.contains("ermission"),
        "{words}"
    );
}

#[test]
fn a_pipe_with_a_name_is_read_to_its_end_and_never_waited_for_in_vain() {
    let place = Place::new();
    let (path, pipe) = (known_file(&place), place.path("pipe"));
    let made = Command::new("mkfifo").arg(&pipe).status();
    if !made.is_ok_and(|status| status.success()) {
        return eprintln!("skipped: no mkfifo here");
    }
    let pipe = pipe.to_str().expect("a plain path").to_owned();
    let writer = |pipe: String| std::thread::spawn(move || fs::write(pipe, [1, 0, 0, 0, 2]));
    let writing = writer(pipe.clone());
    place
        .oscope(&["file", "sum", &pipe])
        .assert()
        .success()
        .stdout(contains("00000003 5 "));
    joined("a reader of the pipe", writing).expect("it was read");
    // Methods that need offsets report it.
    let writing = writer(pipe.clone());
    place
        .oscope(&[
            "file",
            "read",
            &pipe,
            "--block-size",
            "4",
            "--method",
            "mmap",
        ])
        .assert()
        .code(2)
        .stderr(contains("from start to end"));
    // The writer may have succeeded, found no reader, or come when the reader had gone: then it waits
    // for another, which reads and writes so that it does not wait itself.
    let another = fs::File::options().read(true).write(true).open(&pipe);
    let _ = joined("another reader of the pipe", writing);
    drop(another);
    place
        .oscope(&["file", "copy", &path, &pipe])
        .assert()
        .code(1)
        .stderr(contains("--force"));
}

#[test]
fn wrong_sizes_are_explained_and_a_better_one_is_offered() {
    let place = Place::new();
    let path = known_file(&place);
    let read = |size| place.oscope(&["file", "read", &path, "--block-size", size]);
    read("0").assert().code(2).stderr(contains("at least 1"));
    read("lots").assert().code(2).stderr(contains("size"));
    read("8EiB").assert().code(2);
    let mut direct = read("1000");
    let direct = direct.args(["--method", "direct"]).assert();
    let stderr = String::from_utf8_lossy(&direct.get_output().stderr).into_owned();
    assert!(
        stderr.contains("take ") || stderr.contains("not supported"),
        "{stderr}"
    );
    read("10")
        .args(["--count", "2"])
        .assert()
        .success()
        .stdout(contains("in 2 blocks").and(contains("the file ends here; 20 B were asked for")));
}

#[test]
fn the_size_for_a_time_is_found_and_a_grown_file_is_gone() {
    let place = Place::new();
    let scratch = place.path("grown");
    place
        .oscope(&[
            "file",
            "size",
            "--grow",
            "--block-size",
            "128",
            "--time",
            "2ms..500ms",
        ])
        .arg(&scratch)
        .arg("--json")
        .assert()
        .success()
        .stdout(contains("\"blocks\""));
    assert!(!scratch.exists());
    let path = known_file(&place);
    place
        .oscope(&["file", "size", &path, "--block-size", "128"])
        .assert()
        .code(1)
        .stderr(contains("--grow"));
}

#[test]
fn copies_are_the_same_and_may_be_compared_with_dd() {
    let place = Place::new();
    let path = known_file(&place);
    let target = place.path("copy");
    let mut copy = place.oscope(&["file", "copy", &path, "--against", "dd", "--json"]);
    let copied = copy.arg(&target).assert();
    let has_dd = Command::new("dd").arg("--version").output().is_ok();
    if has_dd {
        let copied = json(&copied.success().get_output().stdout);
        assert_eq!(copied["against_dd"].as_array().map(Vec::len), Some(5));
    } else {
        copied.code(1).stderr(contains("dd"));
    }
    assert_eq!(
        fs::read(&target).expect("the copy"),
        fs::read(&path).expect("the file")
    );
    place
        .oscope(&["file", "copy", &path, &path, "--force"])
        .assert()
        .code(2)
        .stderr(contains("same file"));
}

/// True if a process has a file of this size open, under any name or none.
fn has_open(process: u32, bytes: u64) -> bool {
    let open = fs::read_dir(format!("/proc/{process}/fd"));
    open.into_iter().flatten().flatten().any(|entry| {
        fs::metadata(entry.path()).is_ok_and(|file| file.is_file() && file.len() == bytes)
    })
}

#[test]
fn a_copy_from_a_silent_pipe_that_is_ended_or_killed_leaves_nothing() {
    let place = Place::new();
    let target = place.path("copy");
    for (signal, code) in [("-INT", Some(130)), ("-KILL", None)] {
        let mut child = Command::new(program())
            .args(["file", "copy", "-"])
            .arg(&target)
            .stdin(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .expect("the program starts");
        let mut pipe = child.stdin.take().expect("it was asked for");
        pipe.write_all(b"something").expect("it listens");
        assert!(wait_for(|| has_open(child.id(), 9)));
        assert!(!target.exists(), "a part has the name of the whole");
        let id = child.id().to_string();
        let status = Command::new("kill").args([signal, &id]).status();
        assert!(status.expect("kill(1) is there").success());
        let ended = child.wait().expect("it ends");
        assert_eq!(ended.code(), code);
        assert!(!target.exists());
    }
}

#[test]
fn the_experiments_on_whole_files_run() {
    let place = Place::new();
    let scratch = place.scratch();
    let mut run = place.plain(&["run", "file.sum", "file.size", "file.engine"]);
    run.args(["--no-page", "--json", "--dir"]).arg(&scratch);
    let output = visit_each_point(&mut run);
    let text = json(&output.stdout).to_string();
    for part in ["file.sum", "by_cpu", "file.size", "file.engine", "pread"] {
        assert!(text.contains(part), "no {part} in {text}");
    }
    assert!(common::scratch_files(&scratch).is_empty());
}
