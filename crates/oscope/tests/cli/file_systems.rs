//! The group `file` on common file systems, each in its own image that the test mounts. Each point
//! is measured, or reports why not.

use crate::common::{Place, json, list, scratch_files, text, visit, visit_each_point, wait_until};
use serde_json::Value;
use std::fs;
use std::path::Path;
use std::process::Output;
use testing::{Command, Mounted};

/// A file system of 2 GiB in an image below `place`.
fn image(place: &Place, kind: &str) -> Option<Mounted> {
    let image = place.path("image");
    let file = fs::File::create(&image).expect("a file");
    file.set_len(2 << 30).expect("a hole takes no room");
    let force = if kind == "ext4" { "-F" } else { "-f" };
    let mut mkfs = Command::new(format!("mkfs.{kind}"));
    let made = mkfs.args(["-q", force]).arg(&image).output();
    if !made.is_ok_and(|made| made.status.success()) {
        eprintln!("skipped: there is no mkfs.{kind} that works");
        return None;
    }
    Mounted::new(&["-o", "loop", text(&image)], &place.path("with space"))
}

/// A file system in memory.
fn memory(place: &Place, size: &str) -> Option<Mounted> {
    let arguments = ["-t", "tmpfs", "-o", size, "tmpfs"];
    Mounted::new(&arguments, &place.path("memory"))
}

/// A run in `directory`.
fn run(place: &Place, what: &str, directory: &Path) -> Command {
    let directory = directory.display();
    place.line(&format!("run {what} --no-page --json --dir '{directory}'"))
}

/// True if a run has made a file to measure with in a directory, next to its lock file.
fn has_files(directory: &Path) -> bool {
    let directories = scratch_files(directory).into_iter();
    let files = directories.flat_map(|directory| fs::read_dir(directory).into_iter().flatten());
    files.count() > 1
}

/// True if a run says that it could not measure all, or that it was interrupted after its first pass.
fn is_incomplete(output: &Output) -> bool {
    matches!(output.status.code(), Some(1 | 130))
}

/// Measures the group `file`; returns each experiment with its number of points and the reasons of its
/// failures.
fn reasons(place: &Place, mounted: &Mounted) -> Vec<(String, usize, Vec<String>)> {
    let output = visit_each_point(&mut run(place, "file", mounted.point()));
    assert!(scratch_files(mounted.point()).is_empty());
    let text = |value: &Value| {
        let text = value.as_str().map(str::to_owned);
        text.unwrap_or_else(|| value.to_string())
    };
    let run = json(&output.stdout);
    let found = list(&run, "experiments").iter().map(|experiment| {
        let skipped = &experiment["skipped"];
        let skipped = (!skipped.is_null()).then_some(skipped);
        let failures = list(experiment, "failures").iter().chain(skipped);
        let points = list(experiment, "points").len();
        (
            text(&experiment["id"]),
            points,
            failures.map(text).collect(),
        )
    });
    found.collect()
}

/// Checks that everything is measured, with these exceptions: experiments that need options from
/// the user, operations that the file system cannot do within the measurement's memory limit, and
/// uncached or non-blocking reads, which not all file systems support.
fn assert_everything_is_measured(place: &Place, mounted: &Mounted) {
    for (id, points, mut reasons) in reasons(place, mounted) {
        let expected = [
            "--remote DIR",
            "memory limited to",
            "reading without caching is not supported here",
            "reading without waiting is not supported here",
        ];
        reasons.retain(|reason| !expected.iter().any(|part| reason.contains(part)));
        assert!(reasons.is_empty(), "{id}: {reasons:?}");
        assert!(points > 0 || id == "file.remote", "nothing of {id}");
    }
}

#[test]
fn everything_is_measured_on_common_file_systems() {
    for kind in ["ext4", "xfs", "btrfs"] {
        let place = Place::new();
        if let Some(mounted) = image(&place, kind) {
            assert_everything_is_measured(&place, &mounted);
        }
    }
}

/// As in a container: the upper file system has no page cache of its own.
#[test]
fn everything_is_measured_on_overlayfs() {
    let place = Place::new();
    let Some(below) = image(&place, "ext4") else {
        return;
    };
    let directory = |name: &str| {
        let path = below.point().join(name);
        fs::create_dir(&path).expect("a directory");
        format!("{name}dir={}", path.display())
    };
    let options = ["lower", "upper", "work"].map(directory).join(",");
    if let Some(mounted) = Mounted::new(
        &["-t", "overlay", "-o", &options, "overlay"],
        &place.path("over"),
    ) {
        assert_everything_is_measured(&place, &mounted);
    }
}

#[test]
fn memory_says_what_it_cannot_do() {
    let place = Place::new();
    let Some(mounted) = memory(&place, "size=1g") else {
        return;
    };
    for (id, points, reasons) in reasons(&place, &mounted) {
        let says = |why: &str| reasons.iter().any(|reason| reason.contains(why));
        let is_right = match id.as_str() {
            "file.random" | "file.read_ahead" => says("cannot be made cold"),
            "file.sync" | "file.group_commit" => says("no device to wait for"),
            "file.call" | "file.metadata" | "file.phases" => points > 0,
            _ => points > 0 || !reasons.is_empty(),
        };
        assert!(is_right, "{id}: {reasons:?}");
    }
}

#[test]
fn a_disk_that_fills_up_fails_its_points_and_the_others_go_on() {
    let place = Place::new();
    // The files of file.metadata and file.call fit; oscope does not know that the rest will be
    // taken.
    let Some(mounted) = memory(&place, "size=64m") else {
        return;
    };
    let full = mounted.point().to_owned();
    let filler = std::thread::spawn(move || {
        wait_until("scratch files", || !scratch_files(&full).is_empty());
        // Fills all remaining space.
        let _ = fs::write(full.join("filler"), vec![1; 64 << 20]);
    });
    let what = "file.metadata file.call process.calls";
    // Points that fail next to others are tried once more, alone, in the second pass.
    let output = visit(&mut run(&place, what, mounted.point()), "pass 2 of ");
    filler.join().expect("it does not panic");
    let run = json(&output.stdout);
    let mut found = list(&run, "experiments").iter();
    let process = found.find(|found| found["id"] == "process.calls");
    assert!(process.is_some_and(|process| !list(process, "points").is_empty()));
    assert!(is_incomplete(&output), "{output:?}");
    assert!(run.to_string().contains("space"));
    assert!(scratch_files(mounted.point()).is_empty());
}

#[test]
fn a_directory_that_vanishes_fails_points_that_need_it_and_the_others_go_on() {
    let place = Place::new();
    let scratch = place.scratch();
    let doomed = scratch.clone();
    let vanish = std::thread::spawn(move || {
        wait_until("a file", || has_files(&doomed));
        let _ = fs::remove_dir_all(&doomed);
    });
    // The first pass may be through with the files before they vanish.
    let mut run = run(&place, "file.call process.calls", &scratch);
    let output = visit(&mut run, "pass 2 of ");
    vanish.join().expect("it does not panic");
    assert!(is_incomplete(&output), "{output:?}");
    let run = json(&output.stdout);
    let [file, process] = list(&run, "experiments") else {
        panic!("{run}");
    };
    assert!(!list(file, "failures").is_empty(), "{file}");
    let calls = list(process, "points");
    assert!(!calls.is_empty(), "getpid needs no directory");
}
