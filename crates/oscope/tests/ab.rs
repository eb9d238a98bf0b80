//! `oscope ab` as a user sees it.

mod common;
#[path = "ab/launch.rs"]
mod launch;
#[path = "ab/refusals.rs"]
mod refusals;
#[path = "ab/results.rs"]
mod results;

use common::{Place, wait_for};
use predicates::prelude::*;
use predicates::str::contains;
use serde_json::Value;
use std::fs;
use std::path::Path;
use std::process::Stdio;

fn json(text: &[u8]) -> Value {
    serde_json::from_slice(text).expect("it is JSON")
}

/// What `--json` prints for a comparison.
fn told(place: &Place, arguments: &[&str]) -> Value {
    let output = place
        .oscope(&[&["ab", "--json"], arguments].concat())
        .output()
        .expect("the program starts");
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{arguments:?}: {said}");
    json(&output.stdout)
}

fn lines(path: &Path) -> usize {
    fs::read_to_string(path).unwrap_or_default().lines().count()
}

#[test]
fn the_slower_of_two_commands_is_told() {
    let place = Place::new();
    place
        .oscope(&["ab", "--", "sleep 0.01", "sleep 0.1"])
        .assert()
        .success()
        .stdout(contains("'sleep 0.01' is ").and(contains(" times as fast as 'sleep 0.1' (")))
        .stdout(contains("user").and(contains("memory")))
        .stderr(contains("started directly"));
    let slower = ["ab", "sleep 0.01", "sleep 0.1", "--fail-on", "slower"];
    place.oscope(&slower).assert().code(3);
    let faster = ["ab", "sleep 0.1", "sleep 0.01", "--fail-on", "slower"];
    place.oscope(&faster).assert().success();
}

#[test]
fn a_comparison_is_a_run_like_any_other() {
    let place = Place::new();
    let told = told(&place, &["true", "sleep 0.01", "-r", "4", "-n", "nothing"]);
    assert_eq!(told["programs"][0]["name"], "nothing");
    assert_eq!(told["programs"][1]["runs"], 4);
    assert_eq!(told["pairs"][0]["verdict"], "untold");
    assert_eq!(told["ending"], "runs_used");
    place
        .oscope(&["show", "latest", "ab"])
        .assert()
        .success()
        .stdout(contains("nothing").and(contains("wall time")));
    place.oscope(&["verify"]).assert().success();
    let runs = place.oscope(&["history", "--json"]).output();
    assert_eq!(json(&runs.expect("it starts").stdout)[0]["number"], 1);
    let csv = place.oscope(&["export", "--format", "csv"]).output();
    let csv = String::from_utf8(csv.expect("it starts").stdout).expect("text");
    let walls = csv.lines().filter(|line| line.contains(",wall,"));
    assert_eq!(walls.count(), 8);
    let page = place.path("page.html");
    place
        .oscope(&["report", "--output"])
        .arg(&page)
        .assert()
        .success();
}

#[test]
fn what_is_stored_has_passes() {
    let place = Place::new();
    // Each block lasts as long as a pass has to.
    told(&place, &["sleep 0.2", "sleep 0.3", "-r", "6"]);
    let exported = place.oscope(&["export"]).output().expect("it starts");
    let run = json(&exported.stdout);
    let points = run["run"]["experiments"][0]["points"].as_array();
    for point in points.expect("a list") {
        let batches = point["batches"].as_array().expect("a list");
        let passes: Vec<_> = batches.iter().map(|batch| batch["pass"].as_u64()).collect();
        assert_eq!(passes, [0, 1, 2, 3, 4, 5].map(Some));
    }
    let shown = place.oscope(&["show", "--json"]).output();
    let shown = json(&shown.expect("it starts").stdout);
    let points = shown["experiments"][0]["points"].as_array();
    for point in points.expect("a list") {
        for estimate in point["estimates"].as_array().expect("a list") {
            assert_eq!(estimate["passes"], 6, "{estimate}");
        }
    }
}

#[test]
fn a_redacted_run_names_no_command() {
    let place = Place::new();
    let secret = place.path("kestrel-merger");
    std::os::unix::fs::symlink("/bin/true", &secret).expect("a link");
    let secret = secret.to_str().expect("text");
    told(&place, &[secret, "true", "-r", "2"]);
    for command in [
        &["export"][..],
        &["show", "--json"],
        &["export", "--format", "csv"],
    ] {
        let whole = place.oscope(command).output().expect("it starts").stdout;
        assert!(String::from_utf8_lossy(&whole).contains("kestrel"));
        let redacted = place.oscope(&[command, &["--redact"]].concat()).output();
        let redacted = redacted.expect("it starts").stdout;
        assert!(
            !String::from_utf8_lossy(&redacted).contains("kestrel"),
            "{command:?}"
        );
    }
}

#[test]
fn parameters_fill_the_commands() {
    let place = Place::new();
    let arguments = ["--parameter", "n=1,2,3", "sleep 0.00{n}", "-r", "2"];
    let told = told(&place, &arguments);
    assert_eq!(told["programs"][2]["command"], "sleep 0.003");
    assert_eq!(told["programs"][2]["parameters"]["n"], "3");
    assert_eq!(told["pairs"].as_array().map(Vec::len), Some(2));
}

#[test]
fn commands_around_the_runs_come_in_their_places() {
    let place = Place::new();
    let log = place.path("log");
    let write = |word: &str| format!("echo {word} >> {}", log.display());
    place
        .oscope(&["ab", "true", "true", "-r", "3", "-w", "2"])
        .args(["--setup", &write("setup"), "--cleanup", &write("cleanup")])
        .args([
            "--prepare",
            &write("prepare"),
            "--conclude",
            &write("conclude"),
        ])
        .assert()
        .success()
        .stderr(contains("started directly"));
    let log = fs::read_to_string(log).expect("it was written");
    let words: Vec<&str> = log.lines().collect();
    assert_eq!(words[..2], ["setup"; 2]);
    assert_eq!(words[words.len() - 2..], ["cleanup"; 2]);
    // Two commands, two warm-up runs and three timed runs of each.
    assert_eq!(
        words[2..words.len() - 2],
        ["prepare", "conclude"].repeat(10)
    );
}

#[test]
fn a_command_that_fails_ends_it_with_its_words_and_the_cleanup() {
    let place = Place::new();
    let log = place.path("log");
    let cleanup = format!("echo cleanup >> {}", log.display());
    place
        .oscope(&[
            "ab",
            "true",
            "echo bad news >&2; exit 4",
            "--cleanup",
            &cleanup,
        ])
        .assert()
        .code(1)
        .stderr(
            contains("exit code 4")
                .and(contains("bad news"))
                .and(contains("--ignore-failure")),
        )
        .stdout("");
    assert_eq!(lines(&log), 2);
    let nowhere = place.path("nonexistent").display().to_string();
    place
        .oscope(&["ab", "true", &nowhere])
        .assert()
        .code(1)
        .stderr(contains(format!("cannot start '{nowhere}'")));
    place
        .oscope(&["ab", "true", "true", "--prepare", "exit 3"])
        .assert()
        .code(1)
        .stderr(contains("'exit 3' failed with exit code 3"));
}

#[test]
fn failures_may_be_ignored() {
    let place = Place::new();
    let all = ["true", "false", "-r", "2", "--ignore-failure"];
    assert_eq!(told(&place, &all)["programs"][1]["failures"], 2);
    told(
        &place,
        &["true", "false", "-r", "2", "--ignore-failure=1,2"],
    );
    place
        .oscope(&["ab", "true", "false", "-r", "2", "--ignore-failure=2"])
        .assert()
        .code(1);
}

#[test]
fn input_and_output_go_where_they_are_told() {
    let place = Place::new();
    let (input, output) = (place.path("input"), place.path("output"));
    fs::write(&input, "some words\n").expect("a file");
    let compare = |extra: &[&str]| {
        let mut command = place.oscope(&["ab", "cat", "cat", "-r", "2", "--input"]);
        command.arg(&input).arg("--output").arg(&output).args(extra);
        command.assert()
    };
    compare(&[]).success();
    assert_eq!(fs::read_to_string(&output).expect("a file"), "some words\n");
    compare(&[]).code(1).stderr(contains("--force"));
    compare(&["--force"]).success();
    assert_eq!(fs::read_to_string(&output).expect("a file"), "some words\n");
    told(&place, &["cat", "cat", "-r", "2", "--output", "/dev/null"]);
    let head = "head -c 2000000 /dev/zero";
    told(&place, &[head, head, "-r", "2", "--output", "pipe"]);
    let nowhere = place.path("nonexistent").display().to_string();
    place
        .oscope(&["ab", "true", "true", "--input", &nowhere])
        .assert()
        .code(1)
        .stderr(contains(format!("cannot read {nowhere}")));
}

#[test]
fn exports_are_those_of_hyperfine() {
    let place = Place::new();
    let [one, two, three] = ["a.json", "b.csv", "c.md"].map(|name| place.path(name));
    let compare = || {
        let mut command = place.oscope(&["ab", "--parameter", "n=1,2", "sleep 0.00{n}", "-r", "3"]);
        command
            .args(["--export-json".as_ref(), one.as_os_str()])
            .args(["--export-csv".as_ref(), two.as_os_str()])
            .args(["--export-markdown".as_ref(), three.as_os_str()]);
        command
    };
    compare().assert().success();
    let exported = json(&fs::read(&one).expect("a file"));
    let result = &exported["results"][1];
    assert_eq!(result["command"], "sleep 0.002");
    assert_eq!(result["parameters"]["n"], "2");
    assert_eq!(result["exit_codes"], serde_json::json!([0, 0, 0]));
    let times: Vec<f64> = serde_json::from_value(result["times"].clone()).expect("seconds");
    let mean = times.iter().sum::<f64>() / 3.0;
    assert!((result["mean"].as_f64().expect("seconds") - mean).abs() < 1e-9);
    assert!(times.iter().all(|time| *time >= 0.002));
    let csv = fs::read_to_string(&two).expect("a file");
    let header = "command,mean,stddev,median,user,system,min,max,parameter_n\nsleep 0.001,";
    assert!(csv.starts_with(header), "{csv}");
    let markdown = fs::read_to_string(&three).expect("a file");
    assert!(markdown.contains("| `sleep 0.002` |"), "{markdown}");
    compare().assert().code(1).stderr(contains("--force"));
    compare().arg("--force").assert().success();
}

#[test]
fn a_shell_is_used_where_one_is_needed_and_said() {
    let place = Place::new();
    let told_of = |arguments: &[&str]| told(&place, &[arguments, &["-r", "2"]].concat());
    assert_eq!(
        told_of(&["true", "true | true"])["shell"],
        serde_json::json!(["sh"])
    );
    assert_eq!(told_of(&["true", "true"])["shell"], Value::Null);
    // Without a shell the bar is an argument.
    assert_eq!(
        told_of(&["-N", "true", "true | false"])["shell"],
        Value::Null
    );
}

#[test]
fn wrong_use_is_told() {
    let place = Place::new();
    let refused = |arguments: &[&str], words: &str| {
        let all = [&["ab"], arguments].concat();
        place.oscope(&all).assert().code(2).stderr(contains(words));
    };
    refused(&["true"], "two commands or more");
    refused(&["true", "'true", "-N"], "a quote is open");
    refused(&["true", "true", "-n", "a", "-n", "b", "-n", "c"], "--name");
    refused(&["a", "b", "c", "-p", "1", "-p", "2"], "--prepare");
    refused(&["true", "true", "--budget", "0.1s"], "less than 1 s");
    refused(&["true", "true", "--runs", "0"], "0");
    assert!(!place.store.exists());
}

#[test]
fn the_seed_decides_the_order() {
    let place = Place::new();
    let orders: Vec<String> = ["a", "b"]
        .into_iter()
        .map(|name| {
            let log = place.path(name);
            let write = |word: &str| format!("echo {word} >> {}", log.display());
            let (one, two) = (write("1"), write("2"));
            told(&place, &[&one, &two, "-r", "20", "--seed", "7"]);
            fs::read_to_string(log).expect("a log")
        })
        .collect();
    assert_eq!(orders[0], orders[1]);
}

#[test]
fn ctrl_c_ends_it_with_what_is_known() {
    let place = Place::new();
    let log = place.path("log");
    let cleanup = format!("echo cleanup >> {}", log.display());
    let child = place
        .plain(&["ab", "sleep 0.01", "sleep 0.011", "--min-runs", "100000"])
        .args(["--budget", "10min", "--cleanup", &cleanup])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("the program starts");
    assert!(wait_for(|| place.samples() > 40), "it never measured");
    interrupt(child.id());
    let output = child.wait_with_output().expect("it ends");
    let text = String::from_utf8_lossy(&output.stdout);
    assert_eq!(output.status.code(), Some(130), "{text}");
    assert!(text.contains("Stopped by a signal"), "{text}");
    assert_eq!(lines(&log), 2);
    place.oscope(&["verify"]).assert().success();
}

#[test]
fn ctrl_c_does_not_wait_for_a_long_command() {
    let place = Place::new();
    let log = place.path("log");
    let prepare = format!("echo started >> {}", log.display());
    let mut child = place
        .plain(&[
            "ab",
            "sleep 1000000",
            "sleep 1000001",
            "--prepare",
            &prepare,
        ])
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .expect("the program starts");
    assert!(wait_for(|| lines(&log) > 0), "it never began");
    interrupt(child.id());
    assert_eq!(child.wait().expect("it ends").code(), Some(130));
}

fn interrupt(id: u32) {
    let kill = testing::Command::new("kill")
        .args(["-INT", &id.to_string()])
        .status();
    assert!(kill.expect("kill(1) is there").success());
}
