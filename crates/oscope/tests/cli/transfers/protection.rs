//! Tokens and sealed contents.

use super::{TOKEN, assert_arrived, file};
use crate::common::receiver::Receiver;
use crate::common::{Place, end_by, ends, json, printed, start, wait_until};
use std::fs;
use std::net::TcpListener;
use std::os::unix::fs::PermissionsExt;

#[test]
fn both_sides_need_the_same_token() {
    let place = Place::new();
    let token = place.file("token", TOKEN);
    place.file("wrong", "another token, as long");
    place.file("short", "short");
    file(&place, "one", 100_000);
    let receiver = Receiver::start(&place.path("to"), &["--token-file", &token]);
    let to = &receiver.address;
    check!(place => "
        send $one --to {to}                     | 1 | 2> wants a token
        send $one --to {to} --token-file $wrong | 1 | 2> does not know the token
        send $one --to {to} --token-file $short | 1 | 2> fewer than 16 bytes
    ");
    assert!(place.names("to").is_empty());
    check!(place => "send $one --to {to} --token-file $token --streams 2 | 0");
    assert_arrived(&place, "to", "one");
}

#[test]
fn a_token_is_made_once_and_for_its_owner_alone() {
    let place = Place::new();
    check!(place => "token --output $secret | 0 | >");
    let mode = fs::metadata(place.path("secret")).expect("it is there");
    assert_eq!(mode.permissions().mode() & 0o777, 0o600);
    let token = place.read("secret");
    check!(place => "token --output $secret | 1 | 2> exists");
    assert_eq!(place.read("secret"), token);
    let other = place.prints("token");
    assert_eq!(other.len(), token.len());
    assert_ne!(other, token);
}

#[test]
fn contents_go_unsealed_only_if_both_sides_say_so_and_both_report_it() {
    let place = Place::new();
    let token = place.file("token", TOKEN);
    file(&place, "one", 1_000_000);
    let with = ["--token-file", &token, "--json"];
    let to = place.path("to");
    let sealed = Receiver::start(&to, &with);
    let address = &sealed.address;
    let send = format!("send $one --token-file {token} --json --to");
    check!(place => "
        {send} {address} --unsealed        | 1 | 2> --unsealed there
        {send} {address} --method sendfile | 1 | 2> --unsealed
        {send} {address} --no-checksum     | 2 | 2> --unsealed
    ");
    drop(sealed);
    let options = ["--unsealed", "--once", "--method", "splice"];
    let open = Receiver::start(&to, &[&options[..], &with].concat());
    let line = format!("{send} {} --unsealed --method sendfile", open.address);
    let printed = printed(&mut place.line(&line), "0 | 2> not sealed");
    let output = open.end();
    assert!(String::from_utf8_lossy(&output.stderr).contains("not sealed"));
    for found in [json(printed.as_bytes()), json(&output.stdout)] {
        assert_eq!(found["total"]["contents"], "summed");
    }
    assert_arrived(&place, "to", "one");
}

#[test]
fn both_sides_warn_where_there_is_no_token() {
    let place = Place::new();
    file(&place, "one", 1000);
    let token = "--insecure --token-file token";
    check!(place => "
        send $one --to 192.0.2.1:5735 | 1 | 2> not on this machine | 2> --token-file
        send $one --to 192.0.2.1:5735 {token} | 2 | 2> --insecure
        receive {token}               | 2 | 2> --insecure
    ");
    let receiver = Receiver::start(&place.path("to"), &["--insecure", "--once"]);
    let to = &receiver.address;
    check!(place => "
        send --insecure --quiet $one --to {to}
            | 0 | 2> insecure: the receiver is not checked
    ");
    let output = receiver.end();
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(said.contains("insecure: everyone"), "{said}");
    assert_arrived(&place, "to", "one");
}

#[test]
fn quiet_silences_progress_but_no_error_and_no_warning() {
    let place = Place::new();
    place.directory("to");
    let token = place.file("token", TOKEN);
    fs::set_permissions(&token, PermissionsExt::from_mode(0o644)).expect("it is ours");
    file(&place, "one", 1000);
    // A quiet receiver does not print its port.
    let port = TcpListener::bind("127.0.0.1:0").expect("a free port");
    let address = port.local_addr().expect("it listens").to_string();
    drop(port);
    let with = "--quiet --unsealed --token-file $token";
    let receiver = format!("receive $to --listen {address} {with}");
    let receiver = start(&mut place.line(&receiver));
    let mut sender = place.line(&format!("send $nonexistent $one --to {address} {with}"));
    let mut stderr = String::new();
    wait_until("the receiver", || {
        let output = sender.output().expect("the program starts");
        stderr = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!(output.status.code(), Some(1), "{stderr}");
        !stderr.contains("cannot connect")
    });
    let warnings = ["not sealed", "rights to the token"];
    for part in warnings.into_iter().chain(["nonexistent: failed:"]) {
        assert!(stderr.contains(part), "{part}: {stderr}");
    }
    assert_eq!(stderr.lines().count(), 3, "{stderr}");
    check!(place => "send $one --to {address} {with} | 1 | 2> a file of this name is there");
    let (.., stderr) = end_by("TERM", receiver);
    for part in warnings.into_iter().chain(["a file of this name is there"]) {
        assert!(stderr.contains(part), "{part}: {stderr}");
    }
    assert!(!stderr.contains("listening"), "{stderr}");
}

#[test]
fn a_token_that_others_can_read_is_warned_of() {
    let place = Place::new();
    let token = place.file("token", TOKEN);
    file(&place, "one", 10);
    for (mode, is_open) in [(0o600, "!"), (0o400, "!"), (0o640, ""), (0o604, "")] {
        fs::set_permissions(&token, PermissionsExt::from_mode(mode)).expect("it is ours");
        ends(
            &mut place.line("send $one --to 127.0.0.1:1 --token-file $token --quiet"),
            &format!("1 | 2> cannot connect | {is_open}2> rights to the token"),
        );
    }
}
