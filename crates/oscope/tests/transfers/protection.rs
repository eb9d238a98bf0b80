//! Tokens and sealed contents.

use crate::common::Place;
use crate::common::receiver::Receiver;
use crate::{TOKEN, file, send, text};
use predicates::str::contains;
use serde_json::Value;
use std::fs;

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
