//! Commands that `oscope ab` starts: their memory, and signals.

use crate::common::{LONG_RUN, Place, end, end_by, ends, json, signal, start, wait_until};
use std::fs;
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::Stdio;
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

fn lines(path: &Path) -> usize {
    fs::read_to_string(path).unwrap_or_default().lines().count()
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
fn ctrl_c_ends_it_with_the_results_so_far() {
    let place = Place::new();
    let log = place.path("log");
    let cleanup = format!("--cleanup 'echo cleanup >> {}'", log.display());
    let compare = "ab 'sleep 0.01' 'sleep 0.011' --min-runs 100000 --budget 10min";
    let child = start(&mut place.line(&format!("{compare} {cleanup}")));
    wait_until("40 samples", || place.samples() > 40);
    let (output, stdout, _) = end_by("INT", child);
    assert_eq!(output.status.code(), Some(130), "{stdout}");
    assert!(stdout.contains("Stopped by a signal"), "{stdout}");
    assert_eq!(lines(&log), 2);
    check!(place => "verify | 0");
}

#[test]
fn ctrl_c_does_not_wait_for_a_long_command() {
    let place = Place::new();
    let log = place.path("log");
    let prepare = format!("--prepare 'echo started >> {}'", log.display());
    let compare = format!("ab 'sleep 1000000' 'sleep 1000001' {prepare}");
    let mut command = place.line(&compare);
    let command = command.stdout(Stdio::null()).stderr(Stdio::null());
    let mut child = command.spawn().expect("the program starts");
    wait_until("its begin", || lines(&log) > 0);
    signal("INT", child.id());
    assert_eq!(child.wait().expect("it ends").code(), Some(130));
}
