//! Commands that `oscope ab` starts: their memory, signals, the terminal, and what they leave behind.

use crate::common::{Place, program, wait_for};
use crate::{json, lines};
use predicates::prelude::*;
use predicates::str::contains;
use serde_json::Value;
use std::fs;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};

const MIB: u64 = 1 << 20;

/// A script that writes its process id to a file and sleeps.
fn sleeper(ids: &Path) -> String {
    format!("echo $$ >> {}; exec sleep 60", ids.display())
}

fn ids(path: &Path) -> Vec<String> {
    let text = fs::read_to_string(path).unwrap_or_default();
    text.lines().map(str::to_owned).collect()
}

/// The state of a process, as `T` for one that is stopped; `None` if it has exited.
fn state(process: &str) -> Option<char> {
    let stat = fs::read_to_string(format!("/proc/{process}/stat")).ok()?;
    let state = stat.rsplit_once(") ")?.1.chars().next();
    state.filter(|state| *state != 'Z')
}

fn send(signal: &str, process: u32) {
    let kill = Command::new("kill")
        .args([&format!("-{signal}"), &process.to_string()])
        .status();
    assert!(kill.expect("kill(1) is there").success());
}

/// Starts the program in a process group of its own: the kernel does not stop a group that no shell
/// could continue.
fn start(command: &mut Command) -> Child {
    let command = command.stdout(Stdio::piped()).stderr(Stdio::piped());
    command
        .process_group(0)
        .spawn()
        .expect("the program starts")
}

/// Waits for the end of the program.
fn end_of(mut child: Child) -> Output {
    let has_ended = wait_for(|| child.try_wait().expect("it was started here").is_some());
    if !has_ended {
        // The assertion below is the one to report.
        let _ = child.kill();
    }
    let output = child.wait_with_output().expect("it was started here");
    assert!(has_ended, "{}", String::from_utf8_lossy(&output.stderr));
    output
}

fn exported(place: &Place, arguments: &[&str]) -> Value {
    let file = place.path("export.json");
    let mut command = place.oscope(&["ab", "--force", "--export-json"]);
    command.arg(&file).args(arguments);
    command.assert().success();
    json(&fs::read(&file).expect("a file"))
}

fn peaks(result: &Value) -> Vec<u64> {
    serde_json::from_value(result["memory_usage_byte"].clone()).expect("bytes")
}

#[test]
fn the_memory_of_a_command_is_its_own() {
    let place = Place::new();
    let large = "head -c 60000000 /dev/zero | tail -c 60000000";
    let exported = exported(
        &place,
        &[
            "-r",
            "10",
            "--shell",
            "none",
            "--",
            "true",
            &format!("sh -c '{large}'"),
        ],
    );
    let [small, large] = [0, 1].map(|index| peaks(&exported["results"][index]));
    assert_eq!(small.len(), 10);
    assert!(large.iter().all(|peak| *peak > 40 * MIB), "{large:?}");
    // That of oscope itself is larger than 10 MiB.
    assert!(small.iter().all(|peak| *peak < 4 * MIB), "{small:?}");
    if let Some(usual) = peak_by_time() {
        let most = *small.iter().max().expect("ten of them");
        assert!(most.abs_diff(usual) < MIB / 2, "{most} {usual}");
    } else {
        eprintln!("skipped in part: there is no GNU time");
    }
    let shown = place.oscope(&["ab", "-r", "2", "true", "true"]).output();
    let shown = String::from_utf8(shown.expect("it starts").stdout).expect("text");
    assert!(!shown.contains("< "), "{shown}");
}

/// Peak memory of `true` by GNU time.
fn peak_by_time() -> Option<u64> {
    let peak = || {
        let time = Command::new("/usr/bin/time")
            .args(["-f", "%M", "true"])
            .output()
            .ok()?;
        let kib: u64 = String::from_utf8(time.stderr).ok()?.trim().parse().ok()?;
        Some(kib << 10)
    };
    (0..10).map(|_| peak()).max().flatten()
}

#[test]
fn a_signal_ends_the_command_that_runs() {
    const PLACES: [&str; 4] = ["", "--setup", "--prepare", "--conclude"];
    let signals = [("INT", 130), ("QUIT", 131), ("TERM", 143), ("HUP", 129)];
    for (place_of_command, (signal, code)) in PLACES
        .into_iter()
        .flat_map(|it| signals.map(|signal| (it, signal)))
    {
        let place = Place::new();
        let log = place.path("ids");
        let script = sleeper(&log);
        let mut command = match place_of_command {
            "" => place.plain(&["ab", &script, "true"]),
            option => place.plain(&["ab", option, &script, "true", "true"]),
        };
        let child = start(&mut command);
        assert!(wait_for(|| ids(&log).len() == 1), "it never began");
        send(signal, child.id());
        let output = end_of(child);
        let words = String::from_utf8_lossy(&output.stderr);
        assert_eq!(
            output.status.code(),
            Some(code),
            "{place_of_command} {signal}: {words}"
        );
        assert_eq!(state(&ids(&log)[0]), None, "{place_of_command} {signal}");
    }
}

#[test]
fn a_command_ends_when_oscope_is_killed() {
    let place = Place::new();
    let log = place.path("ids");
    let child = start(&mut place.plain(&["ab", &sleeper(&log), "true"]));
    assert!(wait_for(|| ids(&log).len() == 1), "it never began");
    send("KILL", child.id());
    end_of(child);
    assert!(wait_for(|| state(&ids(&log)[0]).is_none()));
}

#[test]
fn a_run_across_a_pause_is_done_again() {
    let place = Place::new();
    let [log, end, results] = ["ids", "end", "results"].map(|name| place.path(name));
    let script = format!(
        "echo $$ >> {}; while ! test -e {}; do :; done",
        log.display(),
        end.display()
    );
    let child = start(
        place
            .plain(&["ab", "-r", "2", "-w", "0", &script, "true", "--export-json"])
            .arg(&results),
    );
    let own = child.id().to_string();
    assert!(wait_for(|| ids(&log).len() == 1), "it never began");
    send("TSTP", child.id());
    assert!(wait_for(
        || state(&own) == Some('T') && state(&ids(&log)[0]) == Some('T')
    ));
    send("CONT", child.id());
    fs::write(&end, "").expect("a file");
    let output = end_of(child);
    assert!(
        output.status.success(),
        "{}",
        String::from_utf8_lossy(&output.stderr)
    );
    let results = json(&fs::read(results).expect("a file"));
    assert_eq!(
        results["results"][0]["times"].as_array().map(Vec::len),
        Some(2)
    );
    assert_eq!(lines(&log), 3);
}

#[test]
fn a_measurement_and_its_worker_stop_and_continue() {
    let place = Place::new();
    let mut command = place.plain(&[
        "run",
        "process.calls",
        "--profile",
        "thorough",
        "--no-page",
        "--dir",
    ]);
    let child = start(command.arg(place.scratch()));
    assert!(wait_for(|| place.samples() > 0), "it never measured");
    let own = child.id().to_string();
    let children = PathBuf::from(format!("/proc/{own}/task/{own}/children"));
    let all_are = |wanted: fn(Option<char>) -> bool| {
        let children = fs::read_to_string(&children).unwrap_or_default();
        wanted(state(&own))
            && children
                .split_whitespace()
                .all(|child| wanted(state(child)))
    };
    send("TSTP", child.id());
    assert!(wait_for(|| all_are(|state| matches!(
        state,
        None | Some('T')
    ))));
    let before = place.samples();
    send("CONT", child.id());
    assert!(wait_for(|| place.samples() > before), "it did not go on");
    send("INT", child.id());
    let output = end_of(child);
    assert_eq!(output.status.code(), Some(130));
}

#[test]
fn what_commands_leave_behind_is_ended_and_reported() {
    let place = Place::new();
    let [kept, left] = ["kept", "left"].map(|name| place.path(name));
    let leave = |log: &Path| format!("sleep 60 & echo $! >> {}", log.display());
    // A command around the runs may start what they need.
    let needs_it = format!(
        "kill -0 $(head -1 {}); {}; setsid {}",
        kept.display(),
        leave(&left),
        leave(&left)
    );
    place
        .oscope(&[
            "ab",
            "-r",
            "3",
            "-w",
            "0",
            "--setup",
            &leave(&kept),
            &needs_it,
            "true",
        ])
        .assert()
        .success()
        .stdout(contains("left 6 of their processes behind"))
        .stderr(contains(
            "ended 2 processes that commands around the runs left behind",
        ));
    let all = [ids(&kept), ids(&left)].concat();
    assert_eq!(all.len(), 8);
    for id in all {
        assert_eq!(state(&id), None);
    }
    place
        .oscope(&["ab", "-r", "2", "true", "true"])
        .assert()
        .success()
        .stdout(contains("behind").not())
        .stderr(contains("behind").not());
}

#[test]
fn commands_may_use_the_terminal() {
    let place = Place::new();
    let script = |arguments: &[&str]| {
        let words: Vec<String> = arguments
            .iter()
            .map(|it| format!("'{}'", it.replace('\'', "'\\''")))
            .collect();
        let store = place.store.display();
        let command = format!(
            "'{}' --store '{store}' ab {}",
            program().display(),
            words.join(" ")
        );
        let mut script = Command::new("timeout");
        script.args([
            "--kill-after=1",
            "100",
            "script",
            "-qec",
            &command,
            "/dev/null",
        ]);
        script.stdin(Stdio::null()).output()
    };
    let uses = "stty sane </dev/tty";
    for arguments in [
        &["-r", "2", "--", "bash -i -c exit", "bash -c exit"][..],
        &["-r", "2", "--", uses, "true"],
        &[
            "-r",
            "2",
            "--setup",
            uses,
            "--prepare",
            uses,
            "--conclude",
            uses,
            "--cleanup",
            uses,
            "--",
            "true",
            "true",
        ],
    ] {
        let Ok(output) = script(arguments) else {
            eprintln!("skipped: script(1) is not there");
            return;
        };
        let text = String::from_utf8_lossy(&output.stdout);
        assert!(
            output.status.success() && text.contains("Stopped at"),
            "{arguments:?}: {text}"
        );
    }
}
