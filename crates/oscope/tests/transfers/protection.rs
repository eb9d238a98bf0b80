//! Tokens and sealed contents.

use crate::common::receiver::Receiver;
use crate::common::{self, Place, program};
use crate::{TOKEN, file, send, signal, text};
use predicates::prelude::*;
use predicates::str::contains;
use serde_json::Value;
use std::fs;
use std::net::TcpListener;
use std::os::unix::fs::PermissionsExt;
use std::process::{Command, Stdio};

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
    assert_eq!(mode.mode() & 0o777, 0o600);
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
fn who_does_without_a_token_says_so_and_both_sides_warn() {
    let place = Place::new();
    let (to, one) = (place.path("to"), file(&place, "one", 1000));
    let away = ["--to", "192.0.2.1:5735"];
    place
        .oscope(&["send", text(&one)])
        .args(away)
        .assert()
        .code(1)
        .stderr(contains("not on this machine").and(contains("--token-file")));
    let token = ["--insecure", "--token-file", "token"];
    for command in [&["send", text(&one), away[0], away[1]][..], &["receive"]] {
        let both = place.oscope(command).args(token).assert();
        both.code(2).stderr(contains("--insecure"));
    }
    let receiver = Receiver::start(&to, &["--insecure", "--once"]);
    send(&receiver, &["--insecure", "--quiet", text(&one)])
        .assert()
        .success()
        .stderr(contains("insecure: the receiver is not checked"));
    let output = receiver.end();
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(said.contains("insecure: everyone"), "{said}");
    assert!(to.join("one").exists());
}

#[test]
fn quiet_silences_progress_but_no_error_and_no_warning() {
    let place = Place::new();
    let (to, token) = (place.path("to"), place.path("token"));
    fs::create_dir(&to).expect("a directory");
    fs::write(&token, TOKEN).expect("a file");
    fs::set_permissions(&token, PermissionsExt::from_mode(0o644)).expect("it is ours");
    let one = file(&place, "one", 1000);
    // A quiet receiver does not say its port.
    let port = TcpListener::bind("127.0.0.1:0").expect("a free port");
    let address = port.local_addr().expect("it listens").to_string();
    drop(port);
    let with = ["--quiet", "--unsealed", "--token-file", text(&token)];
    let receiver = Command::new(program())
        .args(["receive", text(&to), "--listen", &address])
        .args(with)
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .spawn()
        .expect("the program starts");
    let send = |name: &str| {
        let mut sent = None;
        let arrived = common::wait_for(|| {
            let mut sender = Command::new(program());
            sender
                .args(["send", name, text(&one), "--to", &address])
                .args(with);
            let output = sender.output().expect("the program starts");
            let said = String::from_utf8_lossy(&output.stderr).into_owned();
            let is_over = !said.contains("cannot connect");
            sent = Some((output.status.code(), said));
            is_over
        });
        assert!(arrived, "{sent:?}");
        sent.expect("it was sent")
    };
    let (code, said) = send(text(&place.path("nonexistent")));
    assert_eq!(code, Some(1), "{said}");
    for part in ["nonexistent: failed:", "not sealed", "rights to the token"] {
        assert!(said.contains(part), "{part}: {said}");
    }
    assert_eq!(said.lines().count(), 3, "{said}");
    let (code, said) = send(text(&one));
    assert_eq!(code, Some(1), "{said}");
    assert!(said.contains("a file of this name is there"), "{said}");
    signal("TERM", receiver.id());
    let output = receiver.wait_with_output().expect("it ends");
    let said = String::from_utf8_lossy(&output.stderr);
    for part in [
        "a file of this name is there",
        "not sealed",
        "rights to the token",
    ] {
        assert!(said.contains(part), "{part}: {said}");
    }
    assert!(!said.contains("listening"), "{said}");
}

#[test]
fn a_token_that_others_can_read_is_warned_of() {
    let place = Place::new();
    let (token, one) = (place.path("token"), file(&place, "one", 10));
    fs::write(&token, TOKEN).expect("a file");
    for (mode, is_open) in [(0o600, false), (0o400, false), (0o640, true), (0o604, true)] {
        fs::set_permissions(&token, PermissionsExt::from_mode(mode)).expect("it is ours");
        let warning = contains("rights to the token");
        let unreached = [
            "--to",
            "127.0.0.1:1",
            "--token-file",
            text(&token),
            "--quiet",
        ];
        let sent = place.oscope(&["send", text(&one)]).args(unreached).assert();
        let sent = sent.code(1).stderr(contains("cannot connect"));
        let said = String::from_utf8_lossy(&sent.get_output().stderr).into_owned();
        assert_eq!(warning.eval(&said), is_open, "{mode:o}: {said}");
    }
}
