//! `oscope run transfer --to`, with an `oscope receive --measure` in its own process.

use crate::common::receiver::Receiver;
use crate::common::{
    Place, is_vague, json, list, printed, program, scratch_files, visit_each_point,
};
use serde_json::Value;
use std::fs;
use std::io::{Read, Write};
use std::net::TcpListener;
use testing::{Command, joined};

const TOKEN: &str = "a token that nobody should see";

#[test]
fn files_go_to_a_receiver_elsewhere_and_the_record_says_where() {
    let place = Place::new();
    let token = place.file("token", TOKEN);
    let there = place.directory("there");
    let options = ["--measure", "--token-file", &token, &there];
    let receiver = Receiver::start(Command::new(program()), &options);
    let to = &receiver.address;
    let run = "run transfer.file --json --page $page.html --dir $scratch";
    let output = visit_each_point(&mut place.line(&format!("{run} --to {to} --token-file $token")));
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(said.contains("a round trip takes"), "{said}");
    let run = json(&output.stdout);
    let experiment = &run["experiments"][0];
    assert_eq!(list(experiment, "failures"), [] as [Value; 0]);
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
    let files = scratch_files(there.as_ref())
        .into_iter()
        .flat_map(fs::read_dir);
    let files: Vec<_> = files.flatten().collect();
    assert_eq!(files.len(), 1, "only its lock: {files:?}");
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
