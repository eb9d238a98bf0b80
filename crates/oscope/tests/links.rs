//! `oscope run transfer --to`, with an `oscope receive --measure` in its own process.

mod common;

use common::receiver::Receiver;
use common::{LARGE_BUDGET, Place, is_vague, may, scratch_files, visit_each_point, wait_for};
use predicates::prelude::*;
use predicates::str::contains;
use serde_json::Value;
use std::fs;
use std::io::{Read, Write};
use std::net::TcpListener;
use std::path::Path;
use std::process::{Output, Stdio};
use std::time::Duration;
use testing::{Command, Process, joined};

const TOKEN: &str = "a token that nobody should see";

fn text(path: &Path) -> &str {
    path.to_str().expect("a plain path")
}

/// `oscope run transfer --to`, short and with JSON output.
fn measure(place: &Place, address: &str, arguments: &[&str]) -> assert_cmd::Command {
    let mut command = place.oscope(&["run", "transfer", "--budget", "4s", "--json", "--no-page"]);
    command
        .args(["--to", address, "--dir"])
        .arg(place.scratch())
        .args(arguments);
    command
}

/// The results of `transfer.file`.
fn found(output: &Output) -> Value {
    let run: Value = serde_json::from_slice(&output.stdout).expect("JSON");
    run["experiments"][0].clone()
}

/// Reasons why points could not be measured.
fn failures(experiment: &Value) -> String {
    let failures = experiment["failures"].as_array().expect("a list");
    let reasons = failures.iter().map(Value::to_string);
    reasons.collect::<Vec<_>>().join("\n")
}

#[test]
fn files_go_to_a_receiver_elsewhere_and_the_record_says_where() {
    let place = Place::new();
    let (there, token) = (place.path("there"), place.path("token"));
    fs::write(&token, TOKEN).expect("a file");
    let receiver = Receiver::start(&there, &["--measure", "--token-file", text(&token)]);
    let page = place.path("page.html");
    let mut command = place.plain(&["run", "transfer.file", "--json", "--page"]);
    command
        .arg(&page)
        .args(["--to", &receiver.address, "--token-file", text(&token)])
        .arg("--dir")
        .arg(place.scratch());
    let output = visit_each_point(&mut command);
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(said.contains("a round trip takes"), "{said}");
    let experiment = found(&output);
    assert_eq!(failures(&experiment), "");
    let points = experiment["points"].as_array().expect("a list");
    assert!(points.len() >= 20, "{}", points.len());
    for point in points {
        assert_eq!(point["levels"]["to"], receiver.address.as_str());
        let remarks = point["remarks"].to_string();
        assert!(remarks.contains("a round trip took"), "{remarks}");
        assert!(remarks.contains("sealed by"), "{remarks}");
        let metrics = point["estimates"].to_string();
        for metric in ["\"time\"", "\"received_time\"", "\"receiver_time\""] {
            assert!(metrics.contains(metric), "{metrics}");
        }
    }
    let run: Value = serde_json::from_slice(&output.stdout).expect("JSON");
    let start = format!("To {}, ", receiver.address);
    let findings = run["findings"].as_array().expect("a list");
    let of_transfer = findings
        .iter()
        .filter(|finding| finding["experiment"] == "transfer.file");
    let sentences: Vec<_> = of_transfer
        .map(|finding| finding["sentence"].to_string())
        .collect();
    // Of numbers that a busy machine leaves vague, nothing is said.
    let are_vague = |point: &Value| {
        point["estimates"]
            .as_array()
            .is_some_and(|it| it.iter().any(is_vague))
    };
    assert!(
        !sentences.is_empty() || points.iter().any(are_vague),
        "{run}"
    );
    for sentence in sentences {
        assert!(
            sentence.trim_start_matches('"').starts_with(&start),
            "{sentence}"
        );
    }
    let page = fs::read_to_string(page).expect("it was written");
    assert!(page.contains(&receiver.address));
    let all = [&output.stdout[..], &output.stderr[..], page.as_bytes()].concat();
    assert!(!String::from_utf8_lossy(&all).contains(TOKEN));
    let files: Vec<_> = scratch_files(&there)
        .iter()
        .flat_map(fs::read_dir)
        .flatten()
        .collect();
    assert_eq!(files.len(), 1, "only its lock: {files:?}");
}

#[test]
fn a_receiver_that_measures_leaves_nothing_and_keeps_nothing() {
    let place = Place::new();
    let there = place.path("there");
    fs::create_dir(&there).expect("a directory");
    fs::write(there.join("precious"), "precious").expect("a file");
    let receiver = Receiver::start(&there, &["--measure"]);
    assert_eq!(scratch_files(&there).len(), 1);
    place
        .oscope(&["send", "--to", &receiver.address])
        .arg(there.join("precious"))
        .assert()
        .code(1)
        .stderr(contains("only measures"));
    // Dropping kills the receiver; the next one removes its leftovers.
    drop(receiver);
    assert_eq!(scratch_files(&there).len(), 1);
    let receiver = Receiver::start(&there, &["--measure"]);
    assert_eq!(scratch_files(&there).len(), 1);
    let id = receiver.id().to_string();
    let kill = Command::new("kill").args(["-TERM", &id]).status();
    assert!(kill.expect("kill(1) is there").success());
    receiver.end();
    let left = fs::read_dir(&there).expect("it is there");
    assert_eq!(left.count(), 1);
    assert_eq!(
        fs::read(there.join("precious")).expect("it is there"),
        b"precious"
    );
}

/// Checks that nothing was measured, and that `reason` is recorded and printed.
fn assert_skipped(place: &Place, address: &str, arguments: &[&str], reason: &str) {
    let assert = measure(place, address, arguments).assert();
    let assert = assert
        .code(1)
        .stderr(contains("cannot be measured here").and(contains(reason)));
    let skipped = found(assert.get_output())["skipped"].to_string();
    assert!(skipped.contains(reason), "{skipped}");
    place
        .oscope(&["show"])
        .assert()
        .success()
        .stdout(contains(reason));
}

#[test]
fn who_is_not_there_or_does_not_measure_is_on_the_record() {
    let place = Place::new();
    let address = {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a free port");
        listener.local_addr().expect("it listens").to_string()
    };
    assert_skipped(&place, &address, &[], "cannot connect to");
    assert_skipped(
        &place,
        "no-such-host.invalid:5735",
        &[],
        "cannot connect to",
    );

    let (there, token, wrong) = (
        place.path("there"),
        place.path("token"),
        place.path("wrong"),
    );
    fs::write(&token, TOKEN).expect("a file");
    fs::write(&wrong, "another token, as long as it").expect("a file");
    let receiver = Receiver::start(&there, &["--measure", "--token-file", text(&token)]);
    let to = &receiver.address;
    assert_skipped(&place, to, &[], "wants a token");
    assert_skipped(
        &place,
        to,
        &["--token-file", text(&wrong)],
        "does not know the token",
    );
    let nowhere = place.path("nowhere");
    assert_skipped(&place, to, &["--token-file", text(&nowhere)], "/nowhere");
    let keeper = Receiver::start(&there, &[]);
    assert_skipped(&place, &keeper.address, &[], "--measure");
}

#[test]
fn a_receiver_of_another_version_is_told_as_such() {
    let place = Place::new();
    let listener = TcpListener::bind("127.0.0.1:0").expect("a free port");
    let address = listener.local_addr().expect("it listens").to_string();
    let old = std::thread::spawn(move || {
        let (mut socket, _) = listener.accept().expect("somebody comes");
        let mut greeting = [0; 64];
        socket.read_exact(&mut greeting).expect("it greets");
        let mut answer = [0; 64];
        answer[..8].copy_from_slice(&greeting[..8]);
        (answer[8], answer[10]) = (1, 1);
        socket.write_all(&answer).expect("it listens");
    });
    assert_skipped(&place, &address, &[], "another version");
    joined("the old receiver", old);
}

/// A run over the link that has started to measure.
fn measuring(place: &Place, receiver: &Receiver) -> Process {
    let mut command = place.plain(&[
        "run",
        "transfer",
        "--at",
        "size=64KiB",
        "--json",
        "--no-page",
    ]);
    command
        .args(["--budget", LARGE_BUDGET])
        .args(["--to", &receiver.address, "--dir"])
        .arg(place.scratch())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    let run = command.spawn().expect("the program starts");
    assert!(wait_for(|| place.samples() > 0), "it never measured");
    run
}

#[test]
fn a_receiver_that_dies_ends_the_points_that_are_left() {
    let place = Place::new();
    let receiver = Receiver::start(&place.path("there"), &["--measure"]);
    let run = measuring(&place, &receiver);
    drop(receiver);
    let output = run.wait_with_output().expect("it ends");
    assert_eq!(output.status.code(), Some(1));
    let failures = failures(&found(&output));
    assert!(
        failures.contains("cannot connect to") || failures.contains("the peer is gone"),
        "{failures}"
    );
    assert!(scratch_files(&place.scratch()).is_empty());
}

#[test]
fn files_are_no_larger_than_the_receiver_takes() {
    let place = Place::new();
    let receiver = Receiver::start(&place.path("there"), &["--measure", "--max-size", "100KiB"]);
    let mut command = place.plain(&["run", "transfer", "--json", "--no-page"]);
    command
        .args(["--to", &receiver.address, "--dir"])
        .arg(place.scratch());
    let experiment = found(&visit_each_point(&mut command));
    assert_eq!(failures(&experiment), "");
    let points = experiment["points"].as_array().expect("a list");
    let sizes = points
        .iter()
        .filter_map(|point| point["levels"]["size"].as_u64());
    assert_eq!(sizes.max(), Some(64 << 10));
}

#[test]
fn a_disk_that_fills_up_there_is_told() {
    if !may("mounting") {
        return;
    }
    let place = Place::new();
    let there = place.path("there");
    fs::create_dir(&there).expect("a directory");
    let mount = Command::new("mount")
        .args(["-t", "tmpfs", "-o", "size=8m", "tmpfs"])
        .arg(&there)
        .status();
    if !mount.is_ok_and(|status| status.success()) {
        eprintln!("skipped: this system lets nobody mount a tmpfs");
        return;
    }
    let receiver = Receiver::start(&there, &["--measure"]);
    let run = measuring(&place, &receiver);
    // The receiver had room when it was asked; now there is none, and removed files free none
    // either.
    let mut filler = fs::File::create(there.join("filler")).expect("a name takes no room");
    for _ in 0..40 {
        while filler.write(&[1; 4096]).is_ok() {}
        std::thread::sleep(Duration::from_millis(50));
    }
    let output = run.wait_with_output().expect("it ends");
    drop(receiver);
    let unmounted = Command::new("umount").arg("-l").arg(&there).status();
    assert!(unmounted.is_ok());
    assert_eq!(output.status.code(), Some(1));
    let failures = failures(&found(&output));
    assert!(
        failures.contains("has room for a file of") || failures.contains("No space left"),
        "{failures}"
    );
}

#[test]
fn a_receiver_is_named_for_nothing_only_by_mistake() {
    let place = Place::new();
    place
        .oscope(&["run", "memory", "--to", "there:5735"])
        .assert()
        .code(2)
        .stderr(contains("oscope run transfer --to"));
    place
        .oscope(&["run", "transfer", "--token-file", "token"])
        .assert()
        .code(2)
        .stderr(contains("--to"));
    place
        .oscope(&["receive", "--measure", "--force"])
        .assert()
        .code(2)
        .stderr(contains("--measure"));
}
