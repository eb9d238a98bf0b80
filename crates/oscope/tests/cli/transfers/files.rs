//! Files and streams that are sent, and what both sides print about them.

use super::{assert_arrived, file};
use crate::common::receiver::Receiver;
use crate::common::{Place, ends, json, list, printed, program, visit_each_point};
use std::fs::{self, File};
use std::path::Path;
use testing::Command;

#[test]
fn files_are_sent_and_both_sides_report_the_same() {
    let place = Place::new();
    file(&place, "one", 3_000_000);
    file(&place, "other", 0);
    let options = ["--once", "--json", "--method", "mmap"];
    let receiver = Receiver::start(&place.path("to"), &options);
    let line = format!("send $one $other --json --quiet --to {}", receiver.address);
    let printed = printed(&mut place.line(&line), "0 | 2>");
    let sent = json(printed.as_bytes());
    let output = receiver.end();
    assert!(output.status.success());
    let there = json(&output.stdout);
    for total in [&sent["total"], &there["total"]] {
        assert_eq!(total["files"], 2);
        assert_eq!(total["size_bytes"], 3_000_000);
        assert!(total["receiver_cpu_ns"].as_u64() > Some(0));
    }
    let stored_ns = &there["files"][0]["stored_ns"];
    assert_eq!(&sent["files"][0]["stored_ns"], stored_ns);
    assert_arrived(&place, "to", "one");
    assert_arrived(&place, "to", "other");
}

#[test]
fn standard_input_gets_a_name_and_people_get_sentences() {
    let place = Place::new();
    let greeting = place.file("greeting", "hello world");
    let receiver = Receiver::start(&place.path("to"), &["--once", "--fsync"]);
    let mut send = place.line(&format!("send - --name greeting --to {}", receiver.address));
    let input = File::open(greeting).expect("it is there");
    ends(
        send.stdin(input),
        "0 | > greeting: 11 B in | > to the last byte stored",
    );
    let output = receiver.end();
    let stdout = String::from_utf8_lossy(&output.stdout);
    assert!(stdout.contains("1 file, 11 B"), "{output:?}");
    assert_arrived(&place, "to", "greeting");
}

#[test]
fn a_file_that_is_there_stays_and_the_exit_code_says_so() {
    let place = Place::new();
    let receiver = Receiver::start(&place.path("to"), &["--once"]);
    place.file("to/one", "precious");
    file(&place, "one", 5);
    file(&place, "other", 6);
    let to = &receiver.address;
    check!(place => "
        send $one $other --to {to} | 1 | > 1 file, 6 B | 2> one: failed | 2> --force
    ");
    assert_eq!(receiver.end().status.code(), Some(1));
    assert_eq!(place.read("to/one"), "precious");
}

#[test]
fn hidden_files_are_taken_only_where_somebody_named_the_place() {
    let place = Place::new();
    file(&place, ".profile", 10);
    place.directory("here");
    let mut bare = Command::new(program());
    bare.current_dir(place.path("here"));
    let receiver = Receiver::with(bare, &["--once"]);
    let to = &receiver.address;
    check!(place => "send $.profile --to {to} | 1 | 2> --allow-hidden");
    receiver.end();
    let receiver = Receiver::start(&place.path("here"), &["--once"]);
    let to = &receiver.address;
    check!(place => "send $.profile --to {to} | 0");
    assert_arrived(&place, "here", ".profile");
}

#[test]
fn wrong_use_is_refused() {
    let place = Place::new();
    let receiver = Receiver::start(&place.path("to"), &[]);
    let taken = &receiver.address;
    check!(place => "
        receive --listen 0.0.0.0:0         | 1 | 2> --token-file
        receive $nonexistent               | 1 | 2> /nonexistent
        receive --listen {taken}           | 1 | 2> in use | 2> {taken}
        send --to 127.0.0.1:1              | 2
        send a b --name c --to 127.0.0.1:1 | 2
        send - - --to 127.0.0.1:1          | 2
        send a --to 127.0.0.1:1 --timeout 5 | 2
    ");
}

#[test]
fn the_experiment_is_measured_and_judged() {
    let place = Place::new();
    let run = "run transfer --json --page $page.html --dir $scratch";
    let run = json(&visit_each_point(&mut place.line(run)).stdout);
    let points = list(&run["experiments"][0], "points");
    assert!(!points.is_empty(), "nothing was measured");
    let claims = list(&run, "claims").iter();
    let judged = claims.filter(|claim| claim["experiments"][0] == "transfer.file");
    assert_eq!(judged.count(), 6);
    assert!(place.read("page.html").contains("Transfer of a file"));
    assert!(place.names("scratch").is_empty());
}

#[cfg(unix)]
#[test]
fn a_directory_is_sent_with_all_that_lies_in_it() {
    let place = Place::new();
    place.directory("tree/a/b");
    place.directory("tree/empty");
    place.file("tree/a/b/file", "contents");
    std::os::unix::fs::symlink("a/b/file", place.path("tree/link")).expect("a link");
    let receiver = Receiver::start(&place.path("to"), &[]);
    let to = &receiver.address;
    let report = place.json(&format!("send $tree --json --to {to}"));
    assert_eq!(report["total"]["files"], 2);
    assert_eq!(report["files"][0]["name"], "tree/link");
    assert_eq!(report["files"][1]["name"], "tree/a/b/file");
    check!(place => "
        send $tree --to {to} | 1
        send $tree --resume --to {to} | 0 | > 2 files, 8 B
        send / --to {to} | 1 | 2> --name
    ");
    // `.` has its name elsewhere, and --name gives another one.
    for (line, directory) in [("send . --name other", "tree"), ("send .", "tree/a/b")] {
        let mut send = place.line(&format!("{line} --to {to}"));
        ends(send.current_dir(place.path(directory)), "0");
    }
    for name in ["tree", "other"] {
        assert_eq!(place.read(&format!("to/{name}/a/b/file")), "contents");
        let arrived = place.path("to").join(name);
        assert!(arrived.join("empty").is_dir());
        let link = fs::read_link(arrived.join("link")).expect("a link");
        assert_eq!(link, Path::new("a/b/file"));
    }
    assert_eq!(place.read("to/b/file"), "contents");
    place.pipe("tree/pipe");
    check!(place => "
        send $tree --resume --to {to} | 1 | 2> tree/pipe: failed
            | 2> only files, directories and links
    ");
}
