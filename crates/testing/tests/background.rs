//! Tests that a shell starts in the background start programs that heed Ctrl-C.
#![cfg(unix)]

use oscope_testing::{Command, wait_until};
use std::os::unix::process::ExitStatusExt;
use std::path::Path;
use std::process::Stdio;

/// Set in the process in which signals were ignored when it began.
const IN_BACKGROUND: &str = "OSCOPE_TESTS_IN_BACKGROUND";

#[test]
fn programs_start_with_default_signals_in_the_background_too() {
    if std::env::var_os(IN_BACKGROUND).is_none() {
        // A shell leaves these ignored for what it starts.
        let script = "trap '' HUP INT QUIT TERM CHLD; exec \"$0\" \"$@\"";
        let this = std::env::current_exe().expect("it has a path");
        let again = Command::new("sh")
            .args(["-c", script])
            .arg(this)
            .args([
                "programs_start_with_default_signals_in_the_background_too",
                "--exact",
                "--nocapture",
            ])
            .env(IN_BACKGROUND, "1")
            .output()
            .expect("there is a shell");
        let said = String::from_utf8_lossy(&[again.stdout, again.stderr].concat()).into_owned();
        assert!(
            again.status.success() && said.contains("1 passed"),
            "{said}"
        );
        return;
    }
    // This process was prepared before `main`, for code under test that starts programs itself.
    if let Ok(status) = std::fs::read_to_string("/proc/self/status") {
        let ignored = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
        let ignored = u64::from_str_radix(ignored.expect("a mask").trim(), 16);
        let ours = [1, 2, 3, 15, 17].map(|number| 1 << (number - 1));
        assert_eq!(ignored.expect("a mask") & ours.iter().sum::<u64>(), 0);
    }
    for (signal, number) in [
        ("HUP", 1),
        ("INT", 2),
        ("QUIT", 3),
        ("PIPE", 13),
        ("TERM", 15),
    ] {
        let mut sleeper = Command::new("sleep").arg("1000").spawn().expect("sleep(1)");
        let kill = format!("kill -{signal} {}", sleeper.id());
        let killed = Command::new("sh").args(["-c", &kill]).status();
        assert!(killed.expect("there is a shell").success());
        let status = sleeper.wait().expect("it is ours");
        assert_eq!(status.signal(), Some(number));
    }
}

#[test]
fn a_program_ends_with_the_test_that_panics() {
    let id = std::sync::Mutex::new(0);
    let panicked = std::thread::scope(|scope| {
        let test = scope.spawn(|| {
            let sleeper = Command::new("sleep").arg("1000").spawn().expect("sleep(1)");
            *id.lock().expect("nobody else") = sleeper.id();
            drop(id.lock().expect("nobody else"));
            std::panic::panic_any("as a failed assertion does");
        });
        test.join().is_err()
    });
    assert!(panicked);
    let process = format!("/proc/{}", id.lock().expect("nobody else"));
    if Path::new("/proc/self").exists() {
        assert!(!Path::new(&process).exists());
    }
}

#[test]
fn output_is_read_while_a_program_runs() {
    let script = "cat; head -c 200000 /dev/zero; head -c 300000 /dev/zero >&2; exit 3";
    let output = Command::new("sh")
        .args(["-c", script])
        .output()
        .expect("there is a shell");
    assert_eq!(output.status.code(), Some(3));
    assert_eq!(
        (output.stdout.len(), output.stderr.len()),
        (200_000, 300_000)
    );
    let mut reader = Command::new("cat")
        .stdin(Stdio::piped())
        .stdout(Stdio::null())
        .spawn()
        .expect("cat(1)");
    assert_eq!(reader.try_wait().expect("it is ours"), None);
    // Its input ends with the wait.
    assert!(reader.wait().expect("it is ours").success());
    wait_until("it has ended", || {
        reader.try_wait().is_ok_and(|it| it.is_some())
    });
}
