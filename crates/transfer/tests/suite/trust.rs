//! Without a token, processes of one user on one machine send to each other, and nobody else does.

use crate::common::proxy::{Mischief, between};
use crate::common::{
    PLAN, Served, TestDirectories, job, receive_options, say, send_options, send_to,
};
use crate::crowds::{as_another_user, for_everyone, setpriv};
use oscope_transfer::method::{ReceiveMethod, SendMethod};
use oscope_transfer::{Distrust, Error, receiver, sender};
use std::fs;
use std::io::{BufRead, BufReader, Read};
use std::net::SocketAddr;
use std::path::Path;
use std::process::Stdio;
use std::sync::{Arc, Mutex};
use testing::{Command, Process};

/// A user id that is neither this test's nor anybody's.
const ANOTHER: u32 = 54_323;

#[test]
fn without_a_token_nothing_leaves_the_machine() {
    let dirs = TestDirectories::new();
    let jobs = [dirs.file("file", b"secret")];
    // An address for documentation: nobody has it.
    let away: SocketAddr = "192.0.2.1:5735".parse().unwrap();
    let sent = send_to(away, &jobs, PLAN, &send_options(SendMethod::File));
    assert!(sent.outcomes.is_empty());
    let error = sent.error();
    assert!(
        matches!(error, Error::Away(there) if there == away),
        "{error}"
    );
    assert!(error.to_string().contains("--token-file"), "{error}");
}

#[test]
fn a_receiver_of_this_user_is_trusted() {
    let dirs = TestDirectories::new();
    let served = Served::of(&dirs);
    dirs.file("file", b"contents");
    let hosts = ["127.0.0.1", "localhost", "[::ffff:127.0.0.1]"];
    for (host, name) in hosts.iter().zip(["0", "1", "2"]) {
        let jobs = [job(name, &dirs.from("file"))];
        let address = format!("{host}:{}", served.address.port());
        let options = send_options(SendMethod::File);
        let sent = sender::send(&address, &jobs, PLAN, &options, &|_| {});
        let sent = sent.unwrap_or_else(|error| panic!("{host}: {error}"));
        assert_eq!(sent.files, 1, "{host}");
    }
    assert_eq!(dirs.names(), ["0", "1", "2"]);
}

/// Set in the process that listens as another user.
const SQUATS: &str = "OSCOPE_TEST_SQUATS";

/// A receiver of another user, who takes from everyone; killed when dropped.
struct Squatter {
    _child: Process,
    address: SocketAddr,
}

impl Squatter {
    /// `None`, with the reason printed, if this process may not become another user.
    fn start(dirs: &TestDirectories) -> Option<Self> {
        let (program, _) = for_everyone(dirs, b"");
        as_another_user(setpriv(ANOTHER).arg("true"))?;
        let mut child = setpriv(ANOTHER)
            .arg(program)
            .args(["--exact", "trust::squatting", "--nocapture"])
            .env(SQUATS, "1")
            .current_dir("/")
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .expect("the program starts");
        let said = BufReader::new(child.stdout.take().expect("a pipe"));
        let address = said.lines().find_map(|line| {
            let line = line.expect("it is text");
            line.split_once("squats at ")?.1.parse().ok()
        });
        let address = address.expect("it listens");
        Some(Self {
            _child: child,
            address,
        })
    }
}

/// The body of the other user's process.
#[test]
fn squatting() {
    if std::env::var_os(SQUATS).is_none() {
        return;
    }
    let served = Served::start(receiver::Options {
        directory: None,
        insecure: true,
        ..receive_options(Path::new("/"), ReceiveMethod::File)
    });
    println!("squats at {}", served.address);
    let mut ends = Vec::new();
    let _ = std::io::stdin().read_to_end(&mut ends);
}

#[test]
fn another_user_who_squats_the_port_gets_no_file() {
    let dirs = TestDirectories::new();
    let Some(squatter) = Squatter::start(&dirs) else {
        return;
    };
    let jobs = [dirs.file("file", b"secret")];
    let options = send_options(SendMethod::File);
    let sent = send_to(squatter.address, &jobs, PLAN, &options);
    assert!(sent.outcomes.is_empty());
    let error = sent.error();
    let is_named = matches!(error, Error::Distrusted(Distrust::AnotherUser));
    assert!(is_named, "{error}");
    assert!(error.to_string().contains("--token-file"), "{error}");
    let options = sender::Options {
        insecure: true,
        ..options
    };
    send_to(squatter.address, &jobs, PLAN, &options).assert(1, 0);
}

/// All that a sender says to a receiver that keeps nothing. Without a token, the same bytes are
/// right for every receiver.
fn recorded(file: &Path) -> Vec<u8> {
    let nowhere = receive_options(Path::new("/"), ReceiveMethod::File);
    let served = Served::start(receiver::Options {
        directory: None,
        ..nowhere
    });
    let recording = Arc::<Mutex<Vec<u8>>>::default();
    let address = between(served.address, [Mischief::Record(Arc::clone(&recording))]);
    let jobs = [job("planted", file)];
    send_to(address, &jobs, PLAN, &send_options(SendMethod::File)).assert(1, 0);
    recording.lock().expect("nobody panics").clone()
}

#[test]
fn another_user_who_sends_all_and_closes_at_once_leaves_no_file() {
    const ATTEMPTS: usize = 100;
    const CLIENT: &str = r#"
        for attempt in $(seq "$3"); do
            exec 3<>"/dev/tcp/127.0.0.1/$1" && cat "$2" >&3
            exec 3>&-
        done
    "#;
    let dirs = TestDirectories::new();
    dirs.file("planted", b"from another user");
    let said = recorded(&dirs.from("planted"));
    let served = Served::of(&dirs);
    // The same bytes from this user are a transfer.
    let own = say(served.address, &said);
    served.wait_for("ended");
    assert_eq!(dirs.names(), ["planted"]);
    fs::remove_file(dirs.to().join("planted")).unwrap();
    drop(own);
    let (_, said) = for_everyone(&dirs, &said);
    let mut attacker = Command::new("bash");
    attacker
        .args(["-c", CLIENT, "client", &served.address.port().to_string()])
        .arg(&said)
        .arg(ATTEMPTS.to_string());
    let mut all = setpriv(ANOTHER);
    all.arg("bash").args(attacker.get_args());
    if as_another_user(&mut all).is_none() {
        return;
    }
    served.wait_for_ends(1 + ATTEMPTS);
    let log = served.log();
    assert_eq!(log.matches("began").count(), 1, "{log}");
    assert_eq!(dirs.names(), [""; 0], "{log}");
}
