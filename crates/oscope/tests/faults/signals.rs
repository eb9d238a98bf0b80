//! Runs and workers that are interrupted or killed, and exhausted time budgets.

use crate::common::{LARGE_BUDGET, Place, program, scratch_files, wait_for};
use crate::{end, signal};
use platform::programs;
use predicates::prelude::*;
use predicates::str::contains;
use std::fs::{self, Permissions};
use std::os::unix::fs::PermissionsExt;
use std::process::Stdio;
use testing::Command;

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
    place.short_run().assert().success().stderr(
        contains("run 1 was cut off")
            .and(contains("--resume 1"))
            .and(contains("removed")),
    );
    assert!(scratch_files(&place.scratch()).is_empty());
    assert!(place.samples() >= samples);
}

#[test]
fn a_comparison_that_was_killed_is_not_said_to_be_resumable() {
    let place = Place::new();
    let mut comparison = place.plain(&["ab", "process.calls", "--vary", "env:A=1,2"]);
    comparison
        .args(["--budget", LARGE_BUDGET, "--dir"])
        .arg(place.scratch());
    let child = comparison
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("the program starts");
    assert!(wait_for(|| place.samples() > 0), "it never measured");
    signal("KILL", child.id());
    let _ = end(child);
    place
        .oscope(&["cleanup", "--dir"])
        .arg(place.scratch())
        .assert()
        .success()
        .stdout(contains("run 1 was cut off").and(contains("--resume").not()));
}

#[test]
fn a_worker_that_is_killed_fails_its_point_and_the_run_goes_on() {
    let place = Place::new();
    let child = place.long_run();
    let parent = child.id();
    // A point whose worker died beside others is tried once more, alone.
    for _ in 0..10 {
        assert!(
            wait_for(|| kill_a_worker_of(parent)),
            "no worker was ever seen"
        );
    }
    let before = place.samples();
    assert!(wait_for(|| place.samples() > before), "the run stopped");
    signal("INT", parent);
    let (_, stdout, stderr) = end(child);
    assert!(
        stderr.contains("not measured: the worker ended with signal 9"),
        "{stderr}"
    );
    assert!(stdout.contains("signal 9"), "{stdout}");
}

/// Kills a worker; true if there was one.
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
fn a_killed_copy_leaves_no_dd_behind() {
    let place = Place::new();
    let (file, dd, id) = (place.path("file"), place.path("dd"), place.path("id"));
    fs::write(&file, [7; 5000]).expect("room");
    fs::write(
        &dd,
        "#!/bin/sh\necho $$ >id.new && mv id.new id && exec sleep 6000\n",
    )
    .expect("room");
    fs::set_permissions(&dd, Permissions::from_mode(0o700)).expect("it is ours");
    let mut copy = Command::new(program())
        .args(["file", "copy", "file", "copy", "--against", "dd"])
        .current_dir(place.path("."))
        .env(
            "PATH",
            format!("{}:{}", place.path(".").display(), "/usr/bin:/bin"),
        )
        .stderr(Stdio::null())
        .spawn()
        .expect("the program starts");
    assert!(wait_for(|| id.exists()));
    let id = fs::read_to_string(id).expect("it is there");
    copy.kill().expect("it runs");
    copy.wait().expect("it ends");
    let stat = format!("/proc/{}/stat", id.trim());
    // A zombie has ended as well.
    let runs = || fs::read_to_string(&stat).is_ok_and(|stat| !stat.contains(") Z "));
    assert!(wait_for(|| !runs()));
}
