//! Runs and workers that are interrupted or killed, and exhausted time budgets.

use crate::common::{
    LARGE_BUDGET, LONG_RUN, Place, end_by, ends, program, scratch_files, wait_until,
};
use platform::programs;
use std::fs::{self, Permissions};
use std::os::unix::fs::PermissionsExt;
use std::process::Stdio;
use testing::Command;

#[test]
fn ctrl_c_keeps_the_samples_and_cleans_up() {
    for (name, code) in [("INT", 130), ("TERM", 143)] {
        let place = Place::new();
        let (output, stdout, stderr) = end_by(name, place.begun(LONG_RUN));
        assert_eq!(output.status.code(), Some(code), "{stderr}");
        assert!(stdout.contains("process.calls"), "{stdout}");
        assert!(scratch_files(&place.scratch()).is_empty());
        assert!(place.samples() > 0);
        check!(place => "show | 0 | > process.calls");
    }
}

#[test]
fn after_a_kill_the_next_start_clears_up_and_shows_what_there_is() {
    let place = Place::new();
    end_by("KILL", place.begun(LONG_RUN));
    assert_eq!(scratch_files(&place.scratch()).len(), 1);
    let samples = place.samples();
    assert!(samples > 0);
    check!(place => "show 1 | 0 | > was cut off or is still under way");
    let cleared = "0 | 2> run 1 was cut off | 2> --resume 1 | 2> removed";
    ends(&mut place.short_run(), cleared);
    assert!(scratch_files(&place.scratch()).is_empty());
    assert!(place.samples() >= samples);
}

#[test]
fn a_comparison_that_was_killed_is_not_said_to_be_resumable() {
    let place = Place::new();
    let compare = "ab process.calls --vary env:A=1,2 --dir $scratch --budget";
    end_by("KILL", place.begun(&format!("{compare} {LARGE_BUDGET}")));
    check!(place => "cleanup --dir $scratch | 0 | > run 1 was cut off | !> --resume");
}

#[test]
fn a_worker_that_is_killed_fails_its_point_and_the_run_goes_on() {
    let place = Place::new();
    let child = place.begun(LONG_RUN);
    let parent = child.id();
    // A point whose worker died next to others is tried once more, alone.
    for _ in 0..10 {
        wait_until("a worker", || kill_a_worker_of(parent));
    }
    let before = place.samples();
    wait_until("more samples", || place.samples() > before);
    let (_, stdout, stderr) = end_by("INT", child);
    let failed = "not measured: the worker ended with signal 9";
    assert!(stderr.contains(failed), "{stderr}");
    assert!(stdout.contains("signal 9"), "{stdout}");
}

/// Kills a worker; true if there was one.
fn kill_a_worker_of(parent: u32) -> bool {
    let is_child = |id: u32| {
        let stat = fs::read_to_string(format!("/proc/{id}/stat")).unwrap_or_default();
        let behind_name = stat.rsplit(") ").next().unwrap_or_default();
        behind_name.split(' ').nth(1) == Some(&parent.to_string())
    };
    let mut running = programs::running().into_iter();
    let worker = running.find(|it| it.name.starts_with("oscope") && is_child(it.id));
    worker.is_some_and(|worker| {
        // It may have ended by itself.
        let mut kill = Command::new("kill");
        let killed = kill.args(["-KILL", &worker.id.to_string()]).output();
        killed.is_ok_and(|killed| killed.status.success())
    })
}

#[test]
fn a_killed_copy_leaves_no_dd_behind() {
    let place = Place::new();
    place.file("file", [7; 5000]);
    let script = "#!/bin/sh\necho $$ >id.new && mv id.new id && exec sleep 6000\n";
    let dd = place.file("dd", script);
    fs::set_permissions(dd, Permissions::from_mode(0o700)).expect("it is ours");
    let mut copy = Command::new(program())
        .args(["file", "copy", "file", "copy", "--against", "dd"])
        .current_dir(place.path(""))
        .env("PATH", format!("{}:/usr/bin:/bin", place.name("")))
        .stderr(Stdio::null())
        .spawn()
        .expect("the program starts");
    wait_until("dd", || place.path("id").exists());
    copy.kill().expect("it runs");
    copy.wait().expect("it ends");
    let stat = format!("/proc/{}/stat", place.read("id").trim());
    // A zombie has ended as well.
    let runs = || fs::read_to_string(&stat).is_ok_and(|stat| !stat.contains(") Z "));
    wait_until("the end of dd", || !runs());
}
