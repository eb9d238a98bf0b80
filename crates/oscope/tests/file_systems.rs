//! The group `file` on common file systems, each in its own image that the test mounts. Each point
//! is measured, or reports why not.

mod common;

use common::{Place, may, scratch_files, visit, visit_each_point};
use serde_json::Value;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Output, Stdio};
use testing::Command;

const IMAGE_BYTES: u64 = 2 << 30;

/// A file system made for a test.
struct Mounted {
    point: PathBuf,
}

impl Mounted {
    /// An image of `kind` below `place`; `None`, with the reason printed, if that is not possible.
    fn image(place: &Place, kind: &str) -> Option<Self> {
        if !may("mounting") {
            return None;
        }
        let image = place.path(kind);
        let file = fs::File::create(&image).expect("a file");
        file.set_len(IMAGE_BYTES).expect("a hole takes no room");
        let mut mkfs = Command::new(format!("mkfs.{kind}"));
        if kind == "ext4" {
            mkfs.args(["-q", "-F"]);
        } else {
            mkfs.args(["-q", "-f"]);
        }
        let made = mkfs.arg(&image).output();
        if !made.is_ok_and(|made| made.status.success()) {
            eprintln!("skipped: there is no mkfs.{kind} that works");
            return None;
        }
        Self::mount(place, kind, &["-o", "loop"], &image)
    }

    fn mount(place: &Place, kind: &str, options: &[&str], source: &Path) -> Option<Self> {
        let point = place.path(&format!("{kind} mounted"));
        fs::create_dir(&point).expect("a directory");
        let mut mount = Command::new("mount");
        mount
            .args(["-t", kind])
            .args(options)
            .arg(source)
            .arg(&point);
        let mounted = mount.output().is_ok_and(|output| output.status.success());
        if !mounted {
            eprintln!("skipped: this system does not mount {kind}");
        }
        mounted.then_some(Self { point })
    }
}

impl Drop for Mounted {
    fn drop(&mut self) {
        let _ = Command::new("umount").arg(&self.point).status();
    }
}

fn run(place: &Place, directory: &Path, what: &[&str]) -> Output {
    let mut run = place.plain(&["run"]);
    run.args(what)
        .args(["--no-page", "--json", "--dir"])
        .arg(directory);
    visit_each_point(&mut run)
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

fn experiments(output: &Output) -> Vec<Value> {
    let run: Value = serde_json::from_slice(&output.stdout)
        .unwrap_or_else(|_| panic!("{}", String::from_utf8_lossy(&output.stderr)));
    run["experiments"].as_array().expect("a list").clone()
}

/// Measures `what`; returns each experiment with its number of points and the reasons of its
/// failures.
fn reasons(place: &Place, directory: &Path, what: &str) -> Vec<(String, usize, Vec<String>)> {
    let output = run(place, directory, &[what]);
    assert!(scratch_files(directory).is_empty());
    let text = |value: &Value| {
        value
            .as_str()
            .map_or_else(|| value.to_string(), str::to_owned)
    };
    experiments(&output)
        .iter()
        .map(|experiment| {
            let points = experiment["points"].as_array().map_or(0, Vec::len);
            let failures = experiment["failures"]
                .as_array()
                .cloned()
                .unwrap_or_default();
            let skipped = (!experiment["skipped"].is_null()).then(|| experiment["skipped"].clone());
            let reasons = failures.iter().chain(&skipped).map(text).collect();
            (text(&experiment["id"]), points, reasons)
        })
        .collect()
}

/// Checks that everything is measured, with these exceptions: experiments that need options from
/// the user, operations that the file system cannot do within
/// the measurement's memory limit, and uncached or non-blocking reads, which not all file systems
/// support.
fn everything_is_measured_on(kind: &str) {
    let place = Place::new();
    if let Some(mounted) = Mounted::image(&place, kind) {
        assert_everything_is_measured(&place, &mounted);
    }
}

fn assert_everything_is_measured(place: &Place, mounted: &Mounted) {
    for (id, points, reasons) in reasons(place, &mounted.point, "file") {
        let expected = [
            "--remote DIR",
            "memory limited to",
            "reading without caching is not supported here",
            "reading without waiting is not supported here",
        ];
        let is_expected = |reason: &String| expected.iter().any(|part| reason.contains(part));
        let unexpected: Vec<_> = reasons
            .iter()
            .filter(|reason| !is_expected(reason))
            .collect();
        assert!(unexpected.is_empty(), "{id}: {unexpected:?}");
        assert!(points > 0 || id == "file.remote", "nothing of {id}");
    }
}

#[test]
fn everything_is_measured_on_ext4() {
    everything_is_measured_on("ext4");
}

#[test]
fn everything_is_measured_on_xfs() {
    everything_is_measured_on("xfs");
}

#[test]
fn everything_is_measured_on_btrfs() {
    everything_is_measured_on("btrfs");
}

/// As in a container: the upper file system has no page cache of its own.
#[test]
fn everything_is_measured_on_overlayfs() {
    let place = Place::new();
    let Some(below) = Mounted::image(&place, "ext4") else {
        return;
    };
    let directory = |name: &str| {
        let path = below.point.join(name);
        fs::create_dir(&path).expect("a directory");
        format!("{name}dir={}", path.display())
    };
    let options = ["lower", "upper", "work"].map(directory).join(",");
    let overlay = Path::new("overlay");
    if let Some(mounted) = Mounted::mount(&place, "overlay", &["-o", &options], overlay) {
        assert_everything_is_measured(&place, &mounted);
    }
}

#[test]
fn memory_says_what_it_cannot_do() {
    if !may("mounting") {
        return;
    }
    let place = Place::new();
    let Some(mounted) = Mounted::mount(&place, "tmpfs", &["-o", "size=1g"], Path::new("tmpfs"))
    else {
        return;
    };
    for (id, points, reasons) in reasons(&place, &mounted.point, "file") {
        match id.as_str() {
            "file.random" | "file.read_ahead" => {
                let says_why = |reason: &String| reason.contains("cannot be made cold");
                assert!(reasons.iter().any(says_why), "{id}: {reasons:?}");
            }
            "file.sync" | "file.group_commit" => {
                let says_why = |reason: &String| reason.contains("no device to wait for");
                assert!(reasons.iter().any(says_why), "{id}: {reasons:?}");
            }
            "file.call" | "file.metadata" | "file.phases" => {
                assert!(points > 0, "{id}: {reasons:?}");
            }
            _ => assert!(points > 0 || !reasons.is_empty(), "{id}"),
        }
    }
}

#[test]
fn a_disk_that_fills_up_fails_its_points_and_the_others_go_on() {
    if !may("mounting") {
        return;
    }
    let place = Place::new();
    // The files of file.metadata and file.call fit; oscope does not know that the rest will be
    // taken.
    let Some(mounted) = Mounted::mount(&place, "tmpfs", &["-o", "size=64m"], Path::new("tmpfs"))
    else {
        return;
    };
    let full = mounted.point.clone();
    let filler = std::thread::spawn(move || {
        let started = common::wait_for(|| !scratch_files(&full).is_empty());
        // Fills all remaining space.
        let _ = fs::write(full.join("filler"), vec![1; 64 << 20]);
        started
    });
    let what = ["file.metadata", "file.call", "process.calls"];
    let mut run = place.plain(&["run"]);
    run.args(what).args(["--no-page", "--json", "--dir"]);
    // Points that fail next to others are tried once more, alone, in the second pass.
    let output = visit(run.arg(&mounted.point), "pass 2 of ");
    assert!(filler.join().expect("it does not panic"));
    let found = experiments(&output);
    let process = found.iter().find(|found| found["id"] == "process.calls");
    let points = process.and_then(|process| process["points"].as_array());
    assert!(points.is_some_and(|points| !points.is_empty()));
    assert!(is_incomplete(&output), "{output:?}");
    assert!(output.stdout.windows(5).any(|text| text == b"space"));
    assert!(scratch_files(&mounted.point).is_empty());
}

#[test]
fn ctrl_c_leaves_no_scratch_file() {
    let place = Place::new();
    let scratch = place.scratch();
    let mut run = place.plain(&["run", "file", "--profile", "thorough", "--no-page", "--dir"]);
    let run = run
        .arg(&scratch)
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    let child = run.spawn().expect("the program starts");
    assert!(
        common::wait_for(|| has_files(&scratch)),
        "the run never made a file"
    );
    let stop = Command::new("kill")
        .args(["-INT", &child.id().to_string()])
        .status();
    assert!(stop.expect("kill(1) is there").success());
    let output = child.wait_with_output().expect("the program ends");
    assert_eq!(output.status.code(), Some(130));
    assert!(scratch_files(&scratch).is_empty());
}

#[test]
fn a_directory_that_vanishes_fails_what_needs_it_and_the_others_go_on() {
    let place = Place::new();
    let scratch = place.scratch();
    let doomed = scratch.clone();
    let vanish = std::thread::spawn(move || {
        let started = common::wait_for(|| has_files(&doomed));
        let _ = fs::remove_dir_all(&doomed);
        started
    });
    let mut run = place.plain(&["run", "file.call", "process.calls", "--no-page", "--json"]);
    // The first pass may be through with the files before they vanish.
    let output = visit(run.arg("--dir").arg(&scratch), "pass 2 of ");
    assert!(vanish.join().expect("it does not panic"));
    assert!(is_incomplete(&output), "{output:?}");
    let found = experiments(&output);
    let failures = found[0]["failures"].as_array().expect("a list");
    assert!(!failures.is_empty(), "{}", found[0]);
    let process = found[1]["points"].as_array().expect("a list");
    assert!(!process.is_empty(), "getpid needs no directory");
}
