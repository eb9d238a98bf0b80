//! `oscope run transfer --to`, with an `oscope receive --measure` in its own process.

use crate::common::receiver::Receiver;
use crate::common::{
    LARGE_BUDGET, Place, end, is_vague, json, list, printed, scratch_files, signal,
    visit_each_point,
};
use serde_json::Value;
use std::fs;
use std::io::{Read, Write};
use std::net::TcpListener;
use std::time::Duration;
use testing::{Mounted, Process, joined};

const TOKEN: &str = "a token that nobody should see";

/// Reasons why points could not be measured.
fn failures(experiment: &Value) -> String {
    let reasons = list(experiment, "failures").iter().map(Value::to_string);
    reasons.collect::<Vec<_>>().join("\n")
}

#[test]
fn files_go_to_a_receiver_elsewhere_and_the_record_says_where() {
    let place = Place::new();
    let token = place.file("token", TOKEN);
    let there = place.path("there");
    let receiver = Receiver::start(&there, &["--measure", "--token-file", &token]);
    let to = &receiver.address;
    let run = "run transfer.file --json --page $page.html --dir $scratch";
    let output = visit_each_point(&mut place.line(&format!("{run} --to {to} --token-file $token")));
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(said.contains("a round trip takes"), "{said}");
    let run = json(&output.stdout);
    let experiment = &run["experiments"][0];
    assert_eq!(failures(experiment), "");
    let points = list(experiment, "points");
    assert!(points.len() >= 20, "{}", points.len());
    for point in points {
        assert_eq!(point["levels"]["to"], to.as_str());
        let remarks = point["remarks"].to_string();
        assert!(remarks.contains("a round trip took"), "{remarks}");
        assert!(remarks.contains("sealed by"), "{remarks}");
        let metrics = point["estimates"].to_string();
        for metric in ["\"time\"", "\"received_time\"", "\"receiver_time\""] {
            assert!(metrics.contains(metric), "{metrics}");
        }
    }
    let findings = list(&run, "findings").iter();
    let of_transfer = findings.filter(|it| it["experiment"] == "transfer.file");
    let sentences = of_transfer.map(|finding| finding["sentence"].to_string());
    let sentences: Vec<_> = sentences.collect();
    // Of numbers that a busy machine leaves vague, nothing is said.
    let are_vague = |point: &Value| list(point, "estimates").iter().any(is_vague);
    let is_explained = !sentences.is_empty() || points.iter().any(are_vague);
    assert!(is_explained, "{run}");
    let first = format!("To {to}, ");
    for sentence in sentences {
        assert!(
            sentence.trim_start_matches('"').starts_with(&first),
            "{sentence}"
        );
    }
    let page = place.read("page.html");
    assert!(page.contains(to));
    let all = [&output.stdout[..], &output.stderr[..], page.as_bytes()].concat();
    assert!(!String::from_utf8_lossy(&all).contains(TOKEN));
    let files = scratch_files(&there).into_iter().flat_map(fs::read_dir);
    let files: Vec<_> = files.flatten().collect();
    assert_eq!(files.len(), 1, "only its lock: {files:?}");
}

#[test]
fn a_receiver_that_measures_leaves_nothing_and_keeps_nothing() {
    let place = Place::new();
    let there = place.directory("there");
    let there = there.as_ref();
    place.file("there/precious", "precious");
    let receiver = Receiver::start(there, &["--measure"]);
    assert_eq!(scratch_files(there).len(), 1);
    let to = &receiver.address;
    check!(place => "send --to {to} $there/precious | 1 | 2> only measures");
    // Dropping kills the receiver; the next one removes its leftovers.
    drop(receiver);
    assert_eq!(scratch_files(there).len(), 1);
    let receiver = Receiver::start(there, &["--measure"]);
    assert_eq!(scratch_files(there).len(), 1);
    signal("TERM", receiver.id());
    receiver.end();
    assert_eq!(place.names("there"), ["precious"]);
    assert_eq!(place.read("there/precious"), "precious");
}

#[test]
fn a_receiver_of_another_version_is_named_as_such() {
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
    let run = "run transfer --budget 4s --json --no-page --dir $scratch --to";
    let mut run = place.line(&format!("{run} {address}"));
    let run = json(printed(&mut run, "1 | 2> another version").as_bytes());
    let skipped = run["experiments"][0]["skipped"].to_string();
    assert!(skipped.contains("another version"), "{skipped}");
    joined("the old receiver", old);
}

/// A run over the link that has started to measure.
fn measuring(place: &Place, receiver: &Receiver) -> Process {
    let to = &receiver.address;
    let run = "run transfer --at size=64KiB --json --no-page --dir $scratch";
    place.begun(&format!("{run} --budget {LARGE_BUDGET} --to {to}"))
}

#[test]
fn a_receiver_that_dies_ends_the_points_that_are_left() {
    let place = Place::new();
    let receiver = Receiver::start(&place.path("there"), &["--measure"]);
    let run = measuring(&place, &receiver);
    drop(receiver);
    let (output, ..) = end(run);
    assert_eq!(output.status.code(), Some(1));
    let failures = failures(&json(&output.stdout)["experiments"][0]);
    let is_gone = failures.contains("cannot connect to") || failures.contains("the peer is gone");
    assert!(is_gone, "{failures}");
    assert!(scratch_files(&place.scratch()).is_empty());
}

#[test]
fn files_are_no_larger_than_the_receiver_accepts() {
    let place = Place::new();
    let options = ["--measure", "--max-size", "100KiB"];
    let receiver = Receiver::start(&place.path("there"), &options);
    let run = "run transfer --json --no-page --dir $scratch --to";
    let output = visit_each_point(&mut place.line(&format!("{run} {}", receiver.address)));
    let experiment = &json(&output.stdout)["experiments"][0];
    assert_eq!(failures(experiment), "");
    let points = list(experiment, "points").iter();
    let sizes = points.filter_map(|point| point["levels"]["size"].as_u64());
    assert_eq!(sizes.max(), Some(64 << 10));
}

#[test]
fn a_disk_that_fills_up_there_is_reported() {
    let place = Place::new();
    let there = place.path("there");
    let arguments = ["-t", "tmpfs", "-o", "size=8m", "tmpfs"];
    let Some(_disk) = Mounted::new(&arguments, &there) else {
        return;
    };
    let receiver = Receiver::start(&there, &["--measure"]);
    let run = measuring(&place, &receiver);
    // The receiver had room when it was asked; now there is none, and removed files free none
    // either.
    let filler = fs::File::create(place.path("there/filler"));
    let mut filler = filler.expect("a name needs no room");
    for _ in 0..40 {
        while filler.write(&[1; 4096]).is_ok() {}
        std::thread::sleep(Duration::from_millis(50));
    }
    let (output, ..) = end(run);
    drop(receiver);
    assert_eq!(output.status.code(), Some(1));
    let failures = failures(&json(&output.stdout)["experiments"][0]);
    let is_full = failures.contains("has room for a file of") || failures.contains("No space left");
    assert!(is_full, "{failures}");
}
