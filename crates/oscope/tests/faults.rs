//! What goes wrong in the world: each fault ends in a clear error or a recorded reason.

mod common;

use common::{Place, is_root, scratch_files, wait_for};
use platform::programs;
use predicates::prelude::*;
use predicates::str::contains;
use std::ffi::OsStr;
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;
use std::process::{Child, Command, Output, Stdio};

fn signal(name: &str, id: u32) {
    let status = Command::new("kill")
        .args([format!("-{name}"), id.to_string()])
        .status();
    assert!(status.expect("kill(1) is there").success());
}

fn end(child: Child) -> (Output, String, String) {
    let output = child.wait_with_output().expect("the program ends");
    let stdout = String::from_utf8_lossy(&output.stdout).into_owned();
    let stderr = String::from_utf8_lossy(&output.stderr).into_owned();
    (output, stdout, stderr)
}

/// A small file system in memory; `None`, with the reason printed, where there is no right to it.
struct Tmpfs<'a>(&'a Path);

impl<'a> Tmpfs<'a> {
    fn mount(at: &'a Path, options: &str) -> Option<Self> {
        if !is_root() {
            eprintln!("skipped: mounting needs the rights of root");
            return None;
        }
        let mut mount = Command::new("mount");
        mount.args(["-t", "tmpfs", "-o", options, "tmpfs"]).arg(at);
        let mounted = mount.status().is_ok_and(|status| status.success());
        if !mounted {
            eprintln!("skipped: this system lets nobody mount a tmpfs");
        }
        mounted.then_some(Self(at))
    }
}

impl Drop for Tmpfs<'_> {
    fn drop(&mut self) {
        let _ = Command::new("umount").arg("-l").arg(self.0).status();
    }
}

#[test]
fn a_directory_that_is_not_there_is_named() {
    let place = Place::new();
    place
        .oscope(&["run", "process", "--dir", "/nonexistent/scratch"])
        .assert()
        .code(1)
        .stderr(contains("/nonexistent/scratch"));
    place
        .oscope(&["doctor", "--dir", "/nonexistent"])
        .assert()
        .code(1);
}

#[test]
fn a_file_is_no_directory() {
    let place = Place::new();
    let file = place.path("file");
    fs::write(&file, "mine").expect("a file");
    place
        .oscope(&["run", "process", "--dir"])
        .arg(&file)
        .assert()
        .code(1)
        .stderr(contains("directory"));
    assert_eq!(fs::read_to_string(file).expect("still there"), "mine");
}

#[test]
fn a_read_only_directory_is_refused() {
    let place = Place::new();
    let scratch = place.scratch();
    let Some(_tmpfs) = Tmpfs::mount(&scratch, "ro,size=64k") else {
        return;
    };
    place
        .oscope(&["run", "process", "--dir"])
        .arg(&scratch)
        .assert()
        .code(1)
        .stderr(contains("read-only").and(contains("--dir").or(contains("directory"))));
}

#[test]
fn a_directory_whose_name_is_no_text_is_as_good_as_any() {
    let place = Place::new();
    let odd = place.path("").join(OsStr::from_bytes(b"odd \xff"));
    fs::create_dir(&odd).expect("any bytes make a name");
    place
        .oscope(&[
            "run",
            "process.calls",
            "--budget",
            "2s",
            "--no-page",
            "--dir",
        ])
        .arg(&odd)
        .assert()
        .stdout(contains("getpid").and(contains("invalid").not()));
    assert!(scratch_files(&odd).is_empty());
}

#[test]
fn a_run_that_nobody_reads_any_more_ends_and_cleans_up() {
    let place = Place::new();
    let mut child = place
        .plain(&[
            "run",
            "process.calls",
            "--profile",
            "thorough",
            "--no-page",
            "--dir",
        ])
        .arg(place.scratch())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("the program starts");
    drop(child.stderr.take());
    let (output, stdout, _) = end(child);
    assert_eq!(output.status.code(), Some(141));
    assert!(stdout.contains("process.calls"), "{stdout}");
    assert!(scratch_files(&place.scratch()).is_empty());
}

#[test]
fn words_that_cannot_be_written_cost_nothing_but_the_exit_code() {
    let Ok(full) = fs::File::options().write(true).open("/dev/full") else {
        return eprintln!("skipped: no /dev/full here");
    };
    let place = Place::new();
    let scratch = place.scratch();
    let full = || full.try_clone().expect("a descriptor");
    let run = |stdout: Stdio, stderr: Stdio| {
        let mut run = place.plain(&["run", "process.calls", "--budget", "2s", "--no-page"]);
        run.arg("--dir").arg(&scratch).stdout(stdout).stderr(stderr);
        end(run.spawn().expect("the program starts"))
    };
    let (output, stdout, _) = run(Stdio::piped(), full().into());
    assert_eq!(output.status.code(), Some(1));
    assert!(stdout.contains("getpid"), "{stdout}");
    let (output, _, stderr) = run(full().into(), Stdio::piped());
    assert_eq!(output.status.code(), Some(1));
    assert!(stderr.contains("No space left"), "{stderr}");
    assert!(scratch_files(&scratch).is_empty());
    let help = place.plain(&["--help"]).stdout(full()).status();
    assert_eq!(help.expect("the program starts").code(), Some(1));
}

#[test]
fn a_full_disk_fails_what_needs_room_and_the_rest_goes_on() {
    let place = Place::new();
    let scratch = place.scratch();
    let Some(_tmpfs) = Tmpfs::mount(&scratch, "size=1m") else {
        return;
    };
    place
        .oscope(&[
            "run",
            "process.calls",
            "file.block_size",
            "--budget",
            "4s",
            "--no-page",
        ])
        .arg("--dir")
        .arg(&scratch)
        .assert()
        .code(1)
        .stderr(contains(
            "file.block_size: cannot be measured here: it needs",
        ))
        .stdout(contains("getpid"));
    assert!(scratch_files(&scratch).is_empty());
}

#[test]
fn points_that_the_time_does_not_reach_are_named_and_the_exit_code_tells() {
    let place = Place::new();
    place
        .oscope(&["run", "--budget", "1s", "--no-page"])
        .arg("--dir")
        .arg(place.scratch())
        .assert()
        .code(1)
        .stdout(contains("no time: ").and(contains("the time was used up")));
}

#[test]
fn a_store_on_a_full_disk_is_a_clear_error() {
    let place = Place::new();
    let mount = place.path("small");
    fs::create_dir(&mount).expect("a directory");
    let Some(_tmpfs) = Tmpfs::mount(&mount, "size=64k") else {
        return;
    };
    fs::write(mount.join("filler"), vec![1; 60 << 10]).expect("room for the filler");
    let scratch = place.scratch();
    Command::new(common::program())
        .args([
            "run",
            "process.calls",
            "--budget",
            "2s",
            "--no-page",
            "--store",
        ])
        .arg(mount.join("oscope.db"))
        .arg("--dir")
        .arg(&scratch)
        .output()
        .map(|output| {
            let stderr = String::from_utf8_lossy(&output.stderr).into_owned();
            assert_eq!(output.status.code(), Some(1), "{stderr}");
            assert!(stderr.contains("full"), "{stderr}");
        })
        .expect("the program starts");
    assert!(scratch_files(&scratch).is_empty());
}

#[test]
fn a_damaged_store_is_left_alone() {
    let place = Place::new();
    let store = place.path("oscope.db");
    fs::write(&store, "these are not the runs you are looking for").expect("a file");
    place
        .short_run()
        .assert()
        .code(1)
        .stderr(contains("oscope.db"));
    let text = fs::read_to_string(&store).expect("still there");
    assert_eq!(text, "these are not the runs you are looking for");
}

#[test]
fn a_store_in_a_read_only_place_is_a_clear_error() {
    let place = Place::new();
    let mount = place.path("sealed");
    fs::create_dir(&mount).expect("a directory");
    let Some(_tmpfs) = Tmpfs::mount(&mount, "ro,size=64k") else {
        return;
    };
    let output = Command::new(common::program())
        .args([
            "run",
            "process.calls",
            "--budget",
            "2s",
            "--no-page",
            "--store",
        ])
        .arg(mount.join("oscope.db"))
        .arg("--dir")
        .arg(place.scratch())
        .output()
        .expect("the program starts");
    let stderr = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.code(), Some(1), "{stderr}");
    assert!(stderr.contains("read-only"), "{stderr}");
}

#[test]
fn a_page_that_cannot_be_written_costs_nothing_else() {
    let place = Place::new();
    let scratch = place.scratch();
    place
        .oscope(&[
            "run",
            "process.calls",
            "--budget",
            "2s",
            "--page",
            "/nonexistent/page.html",
        ])
        .arg("--dir")
        .arg(&scratch)
        .assert()
        .code(1)
        .stdout(contains("getpid"))
        .stderr(contains("/nonexistent/page.html"));
    place
        .oscope(&["show"])
        .assert()
        .success()
        .stdout(contains("getpid"));
}

#[test]
fn without_the_rights_of_root_caches_are_emptied_file_by_file() {
    let place = Place::new();
    let what = [
        "run",
        "file.block_size",
        "--budget",
        "8s",
        "--no-page",
        "--json",
    ];
    let Some(mut unprivileged) = place.as_somebody(&[], &what) else {
        return;
    };
    let output = unprivileged
        .arg("--dir")
        .arg(place.scratch())
        .output()
        .expect("setpriv(1) is there");
    let stdout = String::from_utf8_lossy(&output.stdout).into_owned();
    let stderr = String::from_utf8_lossy(&output.stderr).into_owned();
    if stderr.contains("in memory") || stdout.contains("tmpfs") {
        eprintln!("skipped: the temporary directory lies in memory and cannot be made cold");
        return;
    }
    assert_eq!(output.status.code(), Some(0), "{stderr}");
    assert!(stdout.contains("read cold"), "{stdout}");
}

#[test]
fn ctrl_c_keeps_what_was_measured_and_cleans_up() {
    for (name, code) in [("INT", 130), ("TERM", 143)] {
        let place = Place::new();
        let child = place.long_run();
        signal(name, child.id());
        let (output, stdout, stderr) = end(child);
        assert_eq!(output.status.code(), Some(code), "{stderr}");
        assert!(stdout.contains("process.calls"), "{stdout}");
        assert!(scratch_files(&place.scratch()).is_empty());
        let before = place.samples();
        assert!(before > 0);
        place
            .oscope(&["show"])
            .assert()
            .success()
            .stdout(contains("process.calls"));
    }
}

#[test]
fn after_a_kill_the_next_start_clears_up_and_shows_what_there_is() {
    let place = Place::new();
    let child = place.long_run();
    signal("KILL", child.id());
    let _ = end(child);
    assert_eq!(scratch_files(&place.scratch()).len(), 1);
    let samples = place.samples();
    assert!(samples > 0);

    place
        .oscope(&["show", "1"])
        .assert()
        .success()
        .stdout(contains("did not come to its end"));
    place
        .short_run()
        .assert()
        .success()
        .stderr(contains("run 1 was cut off").and(contains("removed")));
    assert!(scratch_files(&place.scratch()).is_empty());
    assert!(place.samples() >= samples);
}

#[test]
fn a_worker_that_is_killed_fails_its_point_and_the_run_goes_on() {
    let place = Place::new();
    let child = place.long_run();
    let parent = child.id();
    assert!(
        wait_for(|| kill_a_worker_of(parent)),
        "no worker was ever seen"
    );
    std::thread::sleep(std::time::Duration::from_millis(300));
    signal("INT", parent);
    let (_, stdout, stderr) = end(child);
    assert!(
        stderr.contains("not measured: the worker ended with signal 9"),
        "{stderr}"
    );
    assert!(stdout.contains("signal 9"), "{stdout}");
}

/// Whether there was one to kill.
fn kill_a_worker_of(parent: u32) -> bool {
    let is_child = |id: u32| {
        let stat = fs::read_to_string(format!("/proc/{id}/stat")).unwrap_or_default();
        let behind_name = stat.rsplit(") ").next().unwrap_or_default();
        behind_name.split(' ').nth(1) == Some(&parent.to_string())
    };
    let worker = programs::running()
        .into_iter()
        .find(|program| program.name.starts_with("oscope") && is_child(program.id));
    worker.is_some_and(|worker| {
        Command::new("kill")
            .args(["-KILL", &worker.id.to_string()])
            .status()
            .is_ok_and(|status| status.success())
    })
}

#[test]
fn a_damaged_export_is_refused_and_changes_nothing() {
    let place = Place::new();
    place.short_run().assert().success();
    let file = place.path("run.oscope.json");
    place
        .oscope(&["export", "--output"])
        .arg(&file)
        .assert()
        .success();
    let whole = fs::read_to_string(&file).expect("the export");
    let runs = place
        .oscope(&["history", "--json"])
        .assert()
        .get_output()
        .stdout
        .clone();
    for damaged in [
        "",
        "{}",
        "[1,2",
        &whole[..whole.len() / 2],
        &whole
            .replace("\"version\": 1", "\"version\": 99")
            .replace("\"version\":1,", "\"version\":99,"),
    ] {
        fs::write(&file, damaged).expect("a file");
        place
            .oscope(&["import"])
            .arg(&file)
            .assert()
            .code(1)
            .stderr(contains("run.oscope.json"));
    }
    let after = place
        .oscope(&["history", "--json"])
        .assert()
        .get_output()
        .stdout
        .clone();
    assert_eq!(runs, after);
}
