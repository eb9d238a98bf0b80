//! What `--quiet` silences.

use super::{TOKEN, file};
use crate::common::{Place, end_by, start, wait_until};
use std::fs;
use std::net::TcpListener;
use std::os::unix::fs::PermissionsExt;

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
