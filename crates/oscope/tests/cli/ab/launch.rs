//! Commands that `oscope ab` starts: their memory, signals, the terminal, and what they leave behind.

use super::lines;
use crate::common::{LONG_RUN, Place, end, end_by, ends, json, program, signal, start, wait_until};
use std::fs;
use std::os::unix::process::CommandExt;
use std::path::Path;
use testing::{Command, Process};

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

/// Starts the program in a process group of its own: the kernel does not stop a group that no shell
/// could continue.
fn start_group(mut command: Command) -> Process {
    command.process_group(0);
    start(&mut command)
}

#[test]
fn the_memory_of_a_command_is_its_own() {
    let place = Place::new();
    let large = "head -c 60000000 /dev/zero | tail -c 60000000";
    let large = format!("sh -c '{large}'");
    let export = place.name("export.json");
    let options = ["ab", "-r", "10", "--shell", "none", "--export-json"];
    let mut compare = place.oscope(&[&options[..], &[&export, "--", "true", &large]].concat());
    ends(&mut compare, "0");
    let exported = json(place.read("export.json").as_bytes());
    let peaks = |index: usize| -> Vec<u64> {
        let peaks = &exported["results"][index]["memory_usage_byte"];
        serde_json::from_value(peaks.clone()).expect("bytes")
    };
    let [small, large] = [peaks(0), peaks(1)];
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
    check!(place => "ab -r 2 true true | 0 | !> < ");
}

/// Peak memory of `true` by GNU time.
fn peak_by_time() -> Option<u64> {
    let peak = || {
        let mut time = Command::new("/usr/bin/time");
        let time = time.args(["-f", "%M", "true"]).output().ok()?;
        let kib: u64 = String::from_utf8(time.stderr).ok()?.trim().parse().ok()?;
        Some(kib << 10)
    };
    (0..10).map(|_| peak()).max().flatten()
}

#[test]
fn a_signal_ends_the_command_that_runs() {
    for option in [None, Some("--setup"), Some("--prepare"), Some("--conclude")] {
        for (name, code) in [("INT", 130), ("QUIT", 131), ("TERM", 143), ("HUP", 129)] {
            let place = Place::new();
            let log = place.path("ids");
            let script = sleeper(&log);
            let command = match option {
                None => place.oscope(&["ab", &script, "true"]),
                Some(option) => place.oscope(&["ab", option, &script, "true", "true"]),
            };
            let child = start_group(command);
            wait_until("its begin", || ids(&log).len() == 1);
            let (output, _, stderr) = end_by(name, child);
            assert_eq!(output.status.code(), Some(code), "{option:?}: {stderr}");
            assert_eq!(state(&ids(&log)[0]), None, "{option:?} {name}");
        }
    }
}

#[test]
fn a_command_ends_when_oscope_is_killed() {
    let place = Place::new();
    let log = place.path("ids");
    let child = start_group(place.oscope(&["ab", &sleeper(&log), "true"]));
    wait_until("its begin", || ids(&log).len() == 1);
    end_by("KILL", child);
    wait_until("its end", || state(&ids(&log)[0]).is_none());
}

#[test]
fn a_run_across_a_pause_is_done_again() {
    let place = Place::new();
    let log = place.path("ids");
    let loops = format!(
        "echo $$ >> {}; while ! test -e {}; do :; done",
        log.display(),
        place.name("end")
    );
    let compare = "ab -r 2 -w 0 true --export-json $results";
    let child = start_group(place.line(&format!("{compare} '{loops}'")));
    let own = child.id().to_string();
    wait_until("its begin", || ids(&log).len() == 1);
    let is_stopped = |process: &str| state(process) == Some('T');
    signal("TSTP", child.id());
    wait_until("a stop", || is_stopped(&own) && is_stopped(&ids(&log)[0]));
    signal("CONT", child.id());
    place.file("end", "");
    let (output, _, stderr) = end(child);
    assert!(output.status.success(), "{stderr}");
    let results = json(place.read("results").as_bytes());
    let times = results["results"][1]["times"].as_array();
    assert_eq!(times.map(Vec::len), Some(2));
    assert_eq!(lines(&log), 3);
}

#[test]
fn a_measurement_and_its_worker_stop_and_continue() {
    let place = Place::new();
    let child = start_group(place.line(LONG_RUN));
    wait_until("its first sample", || place.samples() > 0);
    let own = child.id().to_string();
    let all_are_stopped = || {
        let children = fs::read_to_string(format!("/proc/{own}/task/{own}/children"));
        let children = children.unwrap_or_default();
        let mut all = children.split_whitespace().chain([&*own]);
        all.all(|process| matches!(state(process), None | Some('T')))
    };
    signal("TSTP", child.id());
    wait_until("a stop", all_are_stopped);
    let before = place.samples();
    signal("CONT", child.id());
    wait_until("more samples", || place.samples() > before);
    assert_eq!(end_by("INT", child).0.status.code(), Some(130));
}

#[test]
fn processes_that_commands_leave_behind_are_ended_and_reported() {
    let place = Place::new();
    let [kept, left] = ["kept", "left"].map(|name| place.path(name));
    let leave = |log: &Path| format!("sleep 60 & echo $! >> {}", log.display());
    // A command around the runs may start what they need.
    let (setup, leave) = (leave(&kept), leave(&left));
    let needs_it = format!(
        "kill -0 $(head -1 {}); {leave}; setsid {leave}",
        kept.display()
    );
    check!(place => "
        ab -r 3 -w 0 --setup '{setup}' '{needs_it}' true | 0
            | > left 6 of their processes behind
            | 2> ended 2 processes that commands around the runs left behind
    ");
    let all = [ids(&kept), ids(&left)].concat();
    assert_eq!(all.len(), 8);
    for id in all {
        assert_eq!(state(&id), None);
    }
    check!(place => "ab -r 2 true true | 0 | !> behind | !2> behind");
}

#[test]
fn commands_may_use_the_terminal() {
    let place = Place::new();
    let uses = "'stty sane </dev/tty'";
    for arguments in [
        "-r 2 -- 'bash -i -c exit' 'bash -c exit'",
        &format!("-r 2 -- {uses} true"),
        &format!(
            "-r 2 --setup {uses} --prepare {uses} --conclude {uses} --cleanup {uses} -- true true"
        ),
    ] {
        let (program, store) = (program().display(), place.store.display());
        let command = format!("'{program}' --store '{store}' ab {arguments}");
        let mut script = Command::new("timeout");
        script.args(["--kill-after=1", "100", "script"]);
        let output = script.args(["-qec", &command, "/dev/null"]).output();
        let Ok(output) = output else {
            return eprintln!("skipped: script(1) is not there");
        };
        let text = String::from_utf8_lossy(&output.stdout);
        let is_done = output.status.success() && text.contains("Stopped at");
        assert!(is_done, "{arguments}: {text}");
    }
}
