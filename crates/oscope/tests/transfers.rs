//! `oscope send` and `oscope receive` as a user sees them.

mod common;

use common::receiver::Receiver;
use common::{Place, is_root, program};
use predicates::prelude::*;
use predicates::str::contains;
use serde_json::Value;
use std::fs;
use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::Duration;

const TOKEN: &str = "a token of some length\n";

fn signal(name: &str, process: u32) {
    let kill = Command::new("kill")
        .arg(format!("-{name}"))
        .arg(process.to_string())
        .status();
    assert!(kill.expect("kill(1) is there").success());
}

/// A file of `len` bytes without a pattern.
fn file(place: &Place, name: &str, len: usize) -> PathBuf {
    let path = place.path(name);
    let mut state = len as u64 | 1;
    let mut next = || {
        state = state
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695);
        (state >> 33) as u8
    };
    let bytes: Vec<u8> = (0..len).map(|_| next()).collect();
    fs::write(&path, bytes).expect("there is room");
    path
}

fn send(receiver: &Receiver, arguments: &[&str]) -> assert_cmd::Command {
    let mut command = assert_cmd::Command::new(program());
    command
        .args(["send", "--to", &receiver.address])
        .args(arguments)
        .timeout(Duration::from_mins(1));
    command
}

fn text(path: &Path) -> &str {
    path.to_str().expect("a plain path")
}

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
fn both_sides_need_the_same_token() {
    let place = Place::new();
    let (token, wrong) = (place.path("token"), place.path("wrong"));
    fs::write(&token, TOKEN).expect("a file");
    fs::write(&wrong, "another token, as long").expect("a file");
    let to = place.path("to");
    let receiver = Receiver::start(&to, &["--token-file", text(&token)]);
    let one = file(&place, "one", 100_000);
    send(&receiver, &[text(&one)])
        .assert()
        .code(1)
        .stderr(contains("wants a token"));
    send(&receiver, &[text(&one), "--token-file", text(&wrong)])
        .assert()
        .code(1)
        .stderr(contains("does not know the token"));
    assert!(!to.join("one").exists());
    send(
        &receiver,
        &[text(&one), "--token-file", text(&token), "--streams", "2"],
    )
    .assert()
    .success();
    assert!(to.join("one").exists());
    fs::write(&wrong, "short").expect("a file");
    send(&receiver, &[text(&one), "--token-file", text(&wrong)])
        .assert()
        .code(1)
        .stderr(contains("fewer than 16 bytes"));
}

#[test]
fn a_token_is_made_once_and_for_its_owner_alone() {
    let place = Place::new();
    let path = place.path("secret");
    let make = || place.oscope(&["token", "--output"]).arg(&path).assert();
    make().success().stdout("");
    let mode = fs::metadata(&path).expect("it is there").permissions();
    assert_eq!(
        std::os::unix::fs::PermissionsExt::mode(&mode) & 0o777,
        0o600
    );
    let token = fs::read_to_string(&path).expect("it is text");
    make().code(1).stderr(contains("exists"));
    assert_eq!(fs::read_to_string(&path).expect("still there"), token);
    let shown = place.oscope(&["token"]).assert().success();
    assert_eq!(shown.get_output().stdout.len(), token.len());
    assert_ne!(shown.get_output().stdout, token.as_bytes());
}

#[test]
fn contents_go_unsealed_only_if_both_sides_say_so_and_both_report_it() {
    let place = Place::new();
    let token = place.path("token");
    fs::write(&token, TOKEN).expect("a file");
    let (to, one) = (place.path("to"), file(&place, "one", 1_000_000));
    let with = ["--token-file", text(&token), "--json"];
    let sealed = Receiver::start(&to, &with);
    let unsealed = [&[text(&one), "--unsealed"], &with[..]].concat();
    send(&sealed, &unsealed)
        .assert()
        .code(1)
        .stderr(contains("--unsealed there"));
    send(
        &sealed,
        &[&[text(&one), "--method", "sendfile"], &with[..]].concat(),
    )
    .assert()
    .code(1)
    .stderr(contains("--unsealed"));
    send(
        &sealed,
        &[&[text(&one), "--no-checksum"], &with[..]].concat(),
    )
    .assert()
    .code(2)
    .stderr(contains("--unsealed"));
    drop(sealed);
    let open = Receiver::start(
        &to,
        &[&["--unsealed", "--once", "--method", "splice"], &with[..]].concat(),
    );
    let kernel = [&unsealed[..], &["--method", "sendfile"]].concat();
    let sent = send(&open, &kernel)
        .assert()
        .success()
        .stderr(contains("not sealed"));
    let sent: Value = serde_json::from_slice(&sent.get_output().stdout).expect("JSON");
    let output = open.end();
    let there: Value = serde_json::from_slice(&output.stdout).expect("JSON");
    assert!(String::from_utf8_lossy(&output.stderr).contains("not sealed"));
    for told in [sent, there] {
        assert_eq!(told["total"]["contents"], "summed");
    }
    assert!(fs::read(to.join("one")).expect("it arrived") == fs::read(&one).expect("there"));
}

#[test]
fn hidden_files_are_taken_only_where_somebody_named_the_place() {
    let place = Place::new();
    let here = place.path("here");
    fs::create_dir(&here).expect("a directory");
    let hidden = file(&place, ".profile", 10);
    let mut bare = Command::new(program());
    bare.current_dir(&here);
    let receiver = Receiver::with(bare, &["--once"]);
    send(&receiver, &[text(&hidden)])
        .assert()
        .code(1)
        .stderr(contains("--allow-hidden"));
    receiver.end();
    let receiver = Receiver::start(&here, &["--once"]);
    send(&receiver, &[text(&hidden)]).assert().success();
    assert!(here.join(".profile").exists());
}

/// Starts to send an endless stream, and waits until some of it has arrived.
fn endless(receiver: &Receiver, to: &Path, name: &str) -> (Child, std::process::ChildStdin) {
    let mut sender = Command::new(program())
        .args(["send", "-", "--name", name, "--to", &receiver.address])
        .stdin(Stdio::piped())
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .spawn()
        .expect("the program starts");
    let mut input = sender.stdin.take().expect("a pipe");
    input.write_all(&vec![7; 4 << 20]).expect("it reads");
    let partial = || {
        let entries = fs::read_dir(to).expect("it is there").flatten();
        entries
            .filter_map(|entry| entry.metadata().ok())
            .any(|metadata| metadata.len() > 0)
    };
    assert!(common::wait_for(partial), "nothing arrived");
    (sender, input)
}

#[test]
fn ctrl_c_and_kill_on_either_side_leave_no_file_under_its_name() {
    for (name, code) in [("INT", Some(130)), ("KILL", None)] {
        let place = Place::new();
        let to = place.path("to");
        let receiver = Receiver::start(&to, &[]);
        let (sender, input) = endless(&receiver, &to, "file");
        signal(name, sender.id());
        // Only the interrupted sender needs its input closed; a kill ends it at once.
        if code.is_some() {
            drop(input);
        }
        let output = sender.wait_with_output().expect("it ends");
        assert_eq!(output.status.code(), code, "{output:?}");
        assert!(!to.join("file").exists());

        let (sender, input) = endless(&receiver, &to, "other");
        signal(name, receiver.id());
        let ended = receiver.end();
        // Closed only now: earlier, the file might be complete before the receiver ends.
        drop(input);
        assert_eq!(ended.status.code(), code, "{ended:?}");
        let output = sender.wait_with_output().expect("it ends");
        assert_eq!(output.status.code(), Some(1), "{output:?}");
        let stderr = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(stderr.contains("the peer is gone"), "{stderr}");
        assert!(!to.join("other").exists());
    }
}

#[test]
fn a_killed_receiver_is_started_again_and_resumed() {
    let place = Place::new();
    let to = place.path("to");
    let one = file(&place, "one", 60_000_000);
    let receiver = Receiver::start(&to, &[]);
    let sender = Command::new(program())
        .args(["send", text(&one), "--to", &receiver.address])
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .expect("the program starts");
    let partial = || fs::read_dir(&to).expect("it is there").count() > 0;
    assert!(common::wait_for(partial), "nothing arrived");
    drop(receiver);
    let output = sender.wait_with_output().expect("it ends");
    if to.join("one").exists() {
        // The transfer was faster than the kill.
        assert!(fs::read(to.join("one")).expect("whole") == fs::read(&one).expect("there"));
        return;
    }
    assert_eq!(output.status.code(), Some(1));
    let receiver = Receiver::start(&to, &[]);
    send(&receiver, &[text(&one), "--resume"])
        .assert()
        .success();
    assert!(fs::read(to.join("one")).expect("whole") == fs::read(&one).expect("there"));
    assert_eq!(fs::read_dir(&to).expect("it is there").count(), 1);
}

#[test]
fn wrong_use_is_told() {
    let place = Place::new();
    let oscope = |arguments: &[&str]| place.oscope(arguments).assert();
    oscope(&["receive", "--listen", "0.0.0.0:0"])
        .code(1)
        .stderr(contains("--token-file"));
    oscope(&["receive", "/nonexistent"])
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

/// A world-readable directory, and a copy of the program in it.
fn for_everyone(place: &Place) -> (PathBuf, PathBuf) {
    let everyone = place.path("everyone");
    fs::create_dir(&everyone).expect("a directory");
    let copy = everyone.join("oscope");
    fs::copy(program(), &copy).expect("a copy that others may run");
    for path in [everyone.parent().expect("it has one"), &everyone] {
        let status = Command::new("chmod").arg("755").arg(path).status();
        assert!(status.expect("chmod(1) is there").success());
    }
    (everyone, copy)
}

#[test]
fn a_directory_that_may_not_be_written_to_is_an_error_of_the_file() {
    if !is_root() {
        eprintln!("skipped: it takes root to become somebody else");
        return;
    }
    let place = Place::new();
    let (everyone, copy) = for_everyone(&place);
    let mut nobody = Command::new("setpriv");
    nobody
        .args(["--reuid", "65534", "--regid", "65534", "--clear-groups"])
        .arg(&copy);
    let token = everyone.join("token");
    fs::write(&token, TOKEN).expect("a file");
    let one = file(&place, "one", 100);
    let again = || {
        let mut command = Command::new(nobody.get_program());
        command.args(nobody.get_args());
        command
    };
    // Without a token the receiver refuses other users.
    let receiver = Receiver::by(again(), &everyone, &[]);
    send(&receiver, &[text(&one)])
        .assert()
        .code(1)
        .stderr(contains("its own user only"));
    drop(receiver);
    let arguments = ["--once", "--token-file", text(&token)];
    let receiver = Receiver::by(again(), &everyone, &arguments);
    send(&receiver, &[text(&one), "--token-file", text(&token)])
        .assert()
        .code(1)
        .stderr(contains("Permission denied"));
    assert_eq!(receiver.end().status.code(), Some(1));
}

/// A command as another user, limited to one thread.
fn one_thread(program: &Path) -> Command {
    let mut command = Command::new("prlimit");
    command
        .args([
            "--nproc=1:100",
            "setpriv",
            "--reuid",
            "61234",
            "--regid",
            "61234",
        ])
        .arg("--clear-groups")
        .arg(program);
    command
}

#[test]
fn where_no_thread_can_be_started_both_sides_say_so_and_the_receiver_lives() {
    if !is_root() {
        eprintln!("skipped: it takes root to become somebody else");
        return;
    }
    let place = Place::new();
    let (everyone, copy) = for_everyone(&place);
    let token = everyone.join("token");
    fs::write(&token, TOKEN).expect("a file");
    let one = file(&place, "one", 100_000);
    let to = everyone.join("to");
    fs::create_dir(&to).expect("a directory");
    let status = Command::new("chown").arg("61234").arg(&to).status();
    assert!(status.expect("chown(1) is there").success());
    let receiver = Receiver::by(one_thread(&copy), &to, &["--token-file", text(&token)]);
    let sending = || send(&receiver, &[text(&one), "--token-file", text(&token)]).assert();
    sending()
        .code(1)
        .stderr(contains("as many connections as it can have"));
    // The limit counts all threads of the user, so the sender has none either.
    let mut sender = one_thread(&copy);
    let sender = sender
        .args(["send", "--to", &receiver.address, text(&one)])
        .args(["--token-file", text(&token)])
        .output()
        .expect("the program starts");
    assert!(!sender.status.success(), "{sender:?}");
    let pid = receiver.id().to_string();
    // Root may lack the right to raise the limit of other users.
    let raised = Command::new("setpriv")
        .args(["--reuid", "61234", "--regid", "61234", "--clear-groups"])
        .args(["prlimit", "--pid", &pid, "--nproc=100:100"])
        .status();
    assert!(raised.expect("prlimit(1) is there").success());
    sending().success();
    assert!(to.join("one").exists());
}

#[test]
fn every_method_is_known_by_name_and_the_usual_one_needs_no_right() {
    let place = Place::new();
    let one = file(&place, "one", 1_000_000);
    for (sender, receiver) in [("auto", "file"), ("uring", "uring"), ("sendfile", "mmap")] {
        let to = place.path(sender);
        if sender == "uring"
            && let Err(error) = platform::stream_ring::StreamRing::new(1, Duration::ZERO)
        {
            eprintln!("skipped: {error}");
            continue;
        }
        let receiver = Receiver::start(&to, &["--once", "--method", receiver]);
        send(&receiver, &[text(&one), "--method", sender])
            .assert()
            .success();
        assert!(receiver.end().status.success());
        assert!(fs::read(to.join("one")).expect("whole") == fs::read(&one).expect("there"));
    }
}

#[test]
fn the_usual_method_depends_on_the_directory() {
    let rings = platform::stream_ring::StreamRing::new(1, Duration::ZERO);
    let disk = tempfile::tempdir_in("/var/tmp").expect("a directory");
    let Ok(memory) = tempfile::tempdir_in("/dev/shm") else {
        return eprintln!("skipped: there is no /dev/shm");
    };
    for to in [disk.path(), memory.path()] {
        let directory = platform::directory::Directory::open(to).expect("it is there");
        let receiver = Receiver::start(to, &["--once"]);
        let mut sender = Command::new(program())
            .args(["send", "-", "--name", "file", "--to", &receiver.address])
            .stdin(Stdio::piped())
            .stdout(Stdio::null())
            .spawn()
            .expect("the program starts");
        let mut input = sender.stdin.take().expect("a pipe");
        input.write_all(&vec![7; 4 << 20]).expect("it reads");
        // The file is not complete, so its connection is at work.
        while !has_bytes(&to.join(".oscope-partial")) {
            std::thread::sleep(Duration::from_millis(5));
        }
        let is_through_ring = has_ring(receiver.id());
        drop(input);
        assert!(sender.wait().expect("it ends").success());
        assert!(receiver.end().status.success());
        assert!(fs::read(to.join("file")).expect("it arrived") == vec![7; 4 << 20]);
        assert_eq!(
            is_through_ring,
            directory.is_in_memory() && rings.is_ok(),
            "{}",
            to.display()
        );
    }
}

/// True if a file in the directory is not empty.
fn has_bytes(directory: &Path) -> bool {
    let entries = fs::read_dir(directory).into_iter().flatten().flatten();
    entries
        .filter_map(|entry| entry.metadata().ok())
        .any(|metadata| metadata.len() > 0)
}

/// True if a process has an `io_uring`.
fn has_ring(process: u32) -> bool {
    let entries = fs::read_dir(format!("/proc/{process}/fd")).expect("it runs");
    entries
        .flatten()
        .filter_map(|entry| fs::read_link(entry.path()).ok())
        .any(|link| link == Path::new("anon_inode:[io_uring]"))
}

#[test]
fn the_experiment_is_measured_and_judged_in_a_tiny_budget() {
    let place = Place::new();
    let page = place.path("page.html");
    let output = place
        .oscope(&["run", "transfer", "--budget", "6s", "--json", "--page"])
        .arg(&page)
        .arg("--dir")
        .arg(place.scratch())
        .assert();
    let output = output.get_output();
    // A busy machine may not reach every point in this time.
    assert!(matches!(output.status.code(), Some(0 | 1)), "{output:?}");
    let run: Value = serde_json::from_slice(&output.stdout).expect("JSON");
    let points = run["experiments"][0]["points"].as_array().expect("a list");
    assert!(!points.is_empty(), "nothing was measured");
    let claims = run["claims"].as_array().expect("a list");
    let judged = claims
        .iter()
        .filter(|claim| claim["experiments"][0] == "transfer.file");
    assert_eq!(judged.count(), 6);
    let page = fs::read_to_string(page).expect("the page was written");
    assert!(page.contains("Transfer of a file"));
    assert!(!scratch_left(&place.scratch()), "something was left behind");
}

/// True if a run left something in its scratch directory.
fn scratch_left(scratch: &Path) -> bool {
    fs::read_dir(scratch).is_ok_and(|mut entries| entries.next().is_some())
}

/// Two hosts: network namespaces joined by a virtual cable that can be pulled.
struct Hosts {
    names: [String; 2],
}

impl Hosts {
    fn join() -> Option<Self> {
        let id = std::process::id();
        let hosts = Self {
            names: [format!("oscope-a{id}"), format!("oscope-b{id}")],
        };
        let [a, b] = &hosts.names;
        let steps = [
            format!("netns add {a}"),
            format!("netns add {b}"),
            format!("-n {a} link add cable type veth peer name cable netns {b}"),
            format!("-n {a} addr add 10.77.0.1/24 dev cable"),
            format!("-n {b} addr add 10.77.0.2/24 dev cable"),
            format!("-n {a} link set cable up"),
            format!("-n {b} link set cable up"),
        ];
        let all = steps.iter().all(|step| Self::ip(step));
        if !all {
            eprintln!("skipped: it takes root and ip(8) to make network namespaces");
        }
        all.then_some(hosts)
    }

    fn ip(arguments: &str) -> bool {
        let ip = Command::new("ip")
            .args(arguments.split(' '))
            .stderr(Stdio::null())
            .status();
        ip.is_ok_and(|status| status.success())
    }

    fn on(&self, host: usize) -> Command {
        let mut command = Command::new("ip");
        command
            .args(["netns", "exec", &self.names[host]])
            .arg(program());
        command
    }
}

impl Drop for Hosts {
    fn drop(&mut self) {
        for name in &self.names {
            Self::ip(&format!("netns del {name}"));
        }
    }
}

#[test]
fn a_cable_that_is_pulled_for_a_while_only_delays() {
    let Some(hosts) = Hosts::join() else { return };
    let place = Place::new();
    let (to, token) = (place.path("to"), place.path("token"));
    fs::create_dir(&to).expect("a directory");
    fs::write(&token, TOKEN).expect("a file");
    let mut receiver = hosts
        .on(1)
        .args([
            "receive",
            "--once",
            "--listen",
            "10.77.0.2:5735",
            "--token-file",
        ])
        .arg(&token)
        .arg(&to)
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .spawn()
        .expect("the program starts");
    let mut said = BufReader::new(receiver.stderr.take().expect("a pipe"));
    said.read_line(&mut String::new())
        .expect("it says where it listens");
    let mut sender = hosts
        .on(0)
        .args([
            "send",
            "-",
            "--name",
            "file",
            "--to",
            "10.77.0.2:5735",
            "--token-file",
        ])
        .arg(&token)
        .stdin(Stdio::piped())
        .stdout(Stdio::null())
        .spawn()
        .expect("the program starts");
    let mut input = sender.stdin.take().expect("a pipe");
    input.write_all(&vec![1; 2 << 20]).expect("it reads");
    let [_, b] = &hosts.names;
    assert!(Hosts::ip(&format!("-n {b} link set cable down")));
    input.write_all(&vec![2; 1 << 20]).expect("it reads");
    std::thread::sleep(Duration::from_secs(1));
    assert!(Hosts::ip(&format!("-n {b} link set cable up")));
    input.write_all(&vec![3; 1 << 20]).expect("it reads");
    drop(input);
    assert!(sender.wait().expect("it ends").success());
    assert!(receiver.wait().expect("it ends").success());
    let arrived = fs::read(to.join("file")).expect("it arrived");
    let written = [vec![1; 2 << 20], vec![2; 1 << 20], vec![3; 1 << 20]].concat();
    assert!(arrived == written, "{} bytes", arrived.len());
}
