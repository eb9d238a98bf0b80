//! Files and streams that are sent, and what both sides say of them.

use crate::common::receiver::Receiver;
use crate::common::{Place, visit_each_point};
use crate::{file, send, text};
use predicates::prelude::*;
use predicates::str::contains;
use serde_json::Value;
use std::fs;
use std::path::Path;

#[test]
fn files_are_sent_and_both_sides_tell_the_same() {
    let place = Place::new();
    let to = place.path("to");
    let receiver = Receiver::start(&to, &["--once", "--json", "--method", "mmap"]);
    let (one, other) = (file(&place, "one", 3_000_000), file(&place, "other", 0));
    let sent = send(&receiver, &[text(&one), text(&other), "--json", "--quiet"])
        .assert()
        .success()
        .stderr("");
    let sent: Value = serde_json::from_slice(&sent.get_output().stdout).expect("JSON");
    let output = receiver.end();
    assert!(output.status.success());
    let there: Value = serde_json::from_slice(&output.stdout).expect("JSON");
    for told in [&sent, &there] {
        assert_eq!(told["total"]["files"], 2);
        assert_eq!(told["total"]["size_bytes"], 3_000_000);
        assert!(told["total"]["receiver_cpu_ns"].as_u64().expect("a number") > 0);
    }
    assert_eq!(
        sent["files"][0]["stored_ns"],
        there["files"][0]["stored_ns"]
    );
    assert!(fs::read(to.join("one")).expect("it arrived") == fs::read(one).expect("it is there"));
    assert_eq!(fs::read(to.join("other")).expect("it arrived"), b"");
}

#[test]
fn standard_input_gets_a_name_and_people_get_sentences() {
    let place = Place::new();
    let to = place.path("to");
    let receiver = Receiver::start(&to, &["--once", "--fsync"]);
    send(&receiver, &["-", "--name", "greeting"])
        .write_stdin("hello world")
        .assert()
        .success()
        .stdout(contains("greeting: 11 B in").and(contains("to the last byte stored")));
    let output = receiver.end();
    assert!(
        String::from_utf8_lossy(&output.stdout).contains("1 file, 11 B"),
        "{output:?}"
    );
    assert_eq!(
        fs::read(to.join("greeting")).expect("it arrived"),
        b"hello world"
    );
}

#[test]
fn what_is_there_stays_and_the_exit_code_tells() {
    let place = Place::new();
    let to = place.path("to");
    let receiver = Receiver::start(&to, &["--once"]);
    fs::write(to.join("one"), "precious").expect("a file");
    let (one, other) = (file(&place, "one", 5), file(&place, "other", 6));
    send(&receiver, &[text(&one), text(&other)])
        .assert()
        .code(1)
        .stderr(contains("one: failed").and(contains("--force")))
        .stdout(contains("1 file, 6 B"));
    assert_eq!(receiver.end().status.code(), Some(1));
    assert_eq!(fs::read(to.join("one")).expect("still there"), b"precious");
}

#[test]
fn wrong_use_is_told() {
    let place = Place::new();
    let oscope = |arguments: &[&str]| place.oscope(arguments).assert();
    oscope(&["receive", "--listen", "0.0.0.0:0"])
        .code(1)
        .stderr(contains("--token-file"));
    oscope(&["receive", text(&place.path("nonexistent"))])
        .code(1)
        .stderr(contains("/nonexistent"));
    oscope(&["send", "--to", "127.0.0.1:1"]).code(2);
    oscope(&["send", "a", "b", "--name", "c", "--to", "127.0.0.1:1"]).code(2);
    oscope(&["send", "-", "-", "--to", "127.0.0.1:1"]).code(2);
    oscope(&["send", "a", "--to", "127.0.0.1:1", "--timeout", "5"]).code(2);
    let receiver = Receiver::start(&place.path("to"), &[]);
    oscope(&["receive", "--listen", &receiver.address])
        .code(1)
        .stderr(contains("in use").and(contains(receiver.address.as_str())));
}

#[test]
fn the_experiment_is_measured_and_judged() {
    let place = Place::new();
    let page = place.path("page.html");
    let mut run = place.plain(&["run", "transfer", "--json", "--page"]);
    let output = visit_each_point(run.arg(&page).arg("--dir").arg(place.scratch()));
    let run: Value = serde_json::from_slice(&output.stdout).expect("JSON");
    let points = run["experiments"][0]["points"].as_array().expect("a list");
    assert!(!points.is_empty(), "nothing was measured");
    let claims = run["claims"].as_array().expect("a list");
    let judged = claims
        .iter()
        .filter(|claim| claim["experiments"][0] == "transfer.file");
    assert_eq!(judged.count(), 8);
    let page = fs::read_to_string(page).expect("the page was written");
    assert!(page.contains("Transfer of a file"));
    assert!(!scratch_left(&place.scratch()), "something was left behind");
}

/// True if a run left something in its scratch directory.
fn scratch_left(scratch: &Path) -> bool {
    fs::read_dir(scratch).is_ok_and(|mut entries| entries.next().is_some())
}

#[cfg(unix)]
#[test]
fn a_directory_is_sent_with_all_that_lies_in_it() {
    let place = Place::new();
    let (to, tree) = (place.path("to"), place.path("tree"));
    fs::create_dir_all(tree.join("a/b")).expect("a directory");
    fs::create_dir(tree.join("empty")).expect("a directory");
    fs::write(tree.join("a/b/file"), "contents").expect("a file");
    std::os::unix::fs::symlink("a/b/file", tree.join("link")).expect("a link");
    let receiver = Receiver::start(&to, &[]);
    let sent = send(&receiver, &[text(&tree), "--json"]).assert().success();
    let sent: Value = serde_json::from_slice(&sent.get_output().stdout).expect("JSON");
    assert_eq!(sent["total"]["files"], 2);
    assert_eq!(sent["files"][0]["name"], "tree/link");
    assert_eq!(sent["files"][1]["name"], "tree/a/b/file");
    send(&receiver, &[text(&tree)]).assert().code(1);
    send(&receiver, &[text(&tree), "--resume"])
        .assert()
        .success()
        .stdout(contains("2 files, 8 B"));
    // `.` has its name elsewhere, and --name gives another one.
    send(&receiver, &[".", "--name", "other"])
        .current_dir(&tree)
        .assert()
        .success();
    send(&receiver, &["."])
        .current_dir(tree.join("a/b"))
        .assert()
        .success();
    for name in ["tree", "other"] {
        let arrived = to.join(name);
        assert_eq!(
            fs::read(arrived.join("a/b/file")).expect("it arrived"),
            b"contents"
        );
        assert!(arrived.join("empty").is_dir());
        let link = fs::read_link(arrived.join("link")).expect("a link");
        assert_eq!(link, Path::new("a/b/file"));
    }
    assert_eq!(
        fs::read(to.join("b/file")).expect("it arrived"),
        b"contents"
    );
    let pipe = testing::Command::new("mkfifo")
        .arg(tree.join("pipe"))
        .status();
    assert!(pipe.is_ok_and(|status| status.success()));
    send(&receiver, &[text(&tree), "--resume"])
        .assert()
        .code(1)
        .stderr(contains("tree/pipe: failed").and(contains("only files, directories and links")));
    send(&receiver, &["/"])
        .assert()
        .code(1)
        .stderr(contains("--name"));
}

#[cfg(target_os = "linux")]
#[test]
fn files_that_the_kernel_generates_are_sent_whole() {
    let place = Place::new();
    let to = place.path("to");
    let receiver = Receiver::start(&to, &["--once"]);
    send(&receiver, &["/proc/version"]).assert().success();
    assert!(receiver.end().status.success());
    let there = fs::read("/proc/version").expect("it is there");
    assert_eq!(fs::read(to.join("version")).expect("it arrived"), there);
}
