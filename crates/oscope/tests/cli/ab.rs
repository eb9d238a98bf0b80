//! `oscope ab` as a user sees it.

mod launch;
mod refusals;
mod results;

use crate::common::{Place, end_by, ends, json, list, signal, start, wait_until};
use serde_json::{Value, json};
use std::collections::BTreeSet;
use std::fs;
use std::path::Path;
use std::process::Stdio;

/// The output of a comparison with `--json`.
fn compared(place: &Place, line: &str) -> Value {
    place.json(&format!("ab --json {line}"))
}

fn lines(path: &Path) -> usize {
    fs::read_to_string(path).unwrap_or_default().lines().count()
}

#[test]
fn the_slower_of_two_commands_is_reported() {
    check!(Place::new() => "
        ab -- 'sleep 0.01' 'sleep 0.1' | 0 | > 'sleep 0.01' is | >  times as fast as 'sleep 0.1' (
            | > user | > memory | 2> started directly
        ab 'sleep 0.01' 'sleep 0.1' --fail-on slower | 3
        ab 'sleep 0.1' 'sleep 0.01' --fail-on slower | 0
    ");
}

#[test]
fn a_comparison_is_a_run_like_any_other() {
    let place = Place::new();
    let found = compared(&place, "true 'sleep 0.01' -r 4 -n nothing");
    assert_eq!(found["programs"][0]["name"], "nothing");
    assert_eq!(found["programs"][1]["runs"], 4);
    assert_eq!(found["pairs"][0]["verdict"], "undecided");
    assert_eq!(found["ending"], "runs_used");
    let sentence = found["pairs"][0]["sentence"].as_str();
    let shown = place.prints("show");
    let shown: Vec<&str> = shown.split_whitespace().collect();
    assert!(
        sentence.is_some_and(|it| shown.join(" ").starts_with(it)),
        "{shown:?}"
    );
    check!(place => "
        show latest ab | 0 | > nothing | > wall time
        verify | 0
        report --output $page.html | 0
    ");
    assert_eq!(place.json("history --json")[0]["number"], 1);
    let csv = place.prints("export --format csv");
    let walls = csv.lines().filter(|line| line.contains(",wall,"));
    assert_eq!(walls.count(), 8);
}

#[test]
fn a_stored_comparison_has_passes() {
    let place = Place::new();
    // Each block lasts as long as a pass has to.
    compared(&place, "'sleep 0.2' 'sleep 0.3' -r 6");
    let run = place.json("export");
    for point in list(&run["run"]["experiments"][0], "points") {
        let batches = list(point, "batches").iter();
        let passes: Vec<_> = batches.map(|batch| batch["pass"].as_u64()).collect();
        assert_eq!(passes, [0, 1, 2, 3, 4, 5].map(Some));
    }
    let shown = place.json("show --json");
    for point in list(&shown["experiments"][0], "points") {
        for estimate in list(point, "estimates") {
            assert_eq!(estimate["passes"], 6, "{estimate}");
        }
    }
}

#[test]
fn a_redacted_run_names_no_command() {
    let place = Place::new();
    let secret = place.path("kestrel-merger");
    std::os::unix::fs::symlink("/bin/true", &secret).expect("a link");
    compared(&place, "$kestrel-merger true -r 2");
    for command in ["export", "show --json", "export --format csv"] {
        assert!(place.prints(command).contains("kestrel"));
        let redacted = place.prints(&format!("{command} --redact"));
        assert!(!redacted.contains("kestrel"), "{command}");
    }
}

#[test]
fn parameters_fill_the_commands() {
    let place = Place::new();
    let found = compared(&place, "--parameter n=1,2,3 'sleep 0.00{n}' -r 2");
    assert_eq!(found["programs"][2]["command"], "sleep 0.003");
    assert_eq!(found["programs"][2]["parameters"]["n"], "3");
    assert_eq!(list(&found, "pairs").len(), 2);
}

#[test]
fn commands_around_the_runs_come_in_their_places() {
    let place = Place::new();
    let log = place.name("log");
    check!(place => "
        ab true true -r 3 -w 2 --setup 'echo setup >> {log}' --cleanup 'echo cleanup >> {log}'
            --prepare 'echo prepare >> {log}' --conclude 'echo conclude >> {log}'
            | 0 | 2> started directly
    ");
    let log = place.read("log");
    let words: Vec<&str> = log.lines().collect();
    assert_eq!(words[..2], ["setup"; 2]);
    assert_eq!(words[words.len() - 2..], ["cleanup"; 2]);
    // Two commands, two warm-up runs and three timed runs of each.
    let between = &words[2..words.len() - 2];
    assert_eq!(between, ["prepare", "conclude"].repeat(10));
}

#[test]
fn a_command_that_fails_ends_it_with_its_words_and_the_cleanup() {
    let place = Place::new();
    let log = place.path("log");
    let cleanup = format!("echo cleanup >> {}", log.display());
    check!(place => "
        ab true 'echo bad news >&2; exit 4' --cleanup '{cleanup}'
            | 1 | > | 2> exit code 4 | 2> bad news | 2> --ignore-failure
        ab true $nonexistent | 1 | 2> cannot start '/
        ab true true --prepare 'exit 3' | 1 | 2> 'exit 3' failed with exit code 3
    ");
    assert_eq!(lines(&log), 2);
}

#[test]
fn each_run_knows_its_number_and_has_an_environment_of_another_size() {
    let place = Place::new();
    let log = place.name("log");
    let write = "echo $OSCOPE_ITERATION $HYPERFINE_ITERATION ${#OSCOPE_ENVIRONMENT_OFFSET}";
    ends(
        &mut place.oscope(&["ab", "-r3", "-w2", &format!("{write} >> {log}")]),
        "0",
    );
    let log = place.read("log");
    let lines = log.lines().filter_map(|line| line.rsplit_once(' '));
    let (numbers, sizes): (Vec<_>, BTreeSet<_>) = lines.unzip();
    let expected = ["warmup-0", "warmup-1", "0", "1", "2"].map(|it| format!("{it} {it}"));
    assert_eq!(numbers, expected);
    assert!(sizes.len() > 1, "{sizes:?}");
}

#[test]
fn each_command_has_its_directory_and_its_output() {
    let place = Place::new();
    let directories = ["a", "b"].map(|name| place.directory(name));
    check!(place => "
        ab -r 2 pwd pwd --dir $a --dir $b --output $one --output $two | 0
        ab -r 2 true true --dir $nonexistent | 1 | 2> is no directory
    ");
    for (directory, output) in directories.iter().zip(["one", "two"]) {
        assert_eq!(place.read(output).trim_end(), directory);
    }
}

#[test]
fn a_run_over_its_time_limit_has_failed_and_does_not_count() {
    let place = Place::new();
    let count = place.name("count");
    // The third of its runs hangs.
    let hangs = format!("'echo >> {count}; test $(wc -l < {count}) != 3 || sleep 1000'");
    let compare = format!("-r 4 -w 0 true {hangs} --timeout 3s");
    check!(place => "ab {compare} | 1 | 2> run 3: | 2> took longer than the time limit");
    fs::remove_file(place.path("count")).expect("it is there");
    let found = compared(&place, &format!("{compare} --ignore-failure"));
    let program = &found["programs"][1];
    assert_eq!(
        [
            &program["runs"],
            &program["over_limit"],
            &program["failures"]
        ],
        [4, 1, 0]
    );
    assert!(program["max_ns"].as_f64() < Some(3e9), "{program}");
    check!(place => "
        ab -r 2 -w 0 'sleep 1000' --timeout 10ms --ignore-failure | 1 | 2> 3 times in a row
        ab true --timeout 0s | 2 | 2> above zero
    ");
}

#[test]
fn failures_may_be_ignored() {
    let place = Place::new();
    let found = compared(&place, "true false -r 2 --ignore-failure");
    assert_eq!(found["programs"][1]["failures"], 2);
    check!(place => "
        ab true false -r 2 --ignore-failure=1,2 | 0
        ab true false -r 2 --ignore-failure=2   | 1
        ab -i -r 4 -w 0 'exit $((HYPERFINE_ITERATION % 2))' | 0 | > that of the others
    ");
}

#[test]
fn input_and_output_go_to_the_files_that_are_named() {
    let place = Place::new();
    place.file("input", "some words\n");
    let compare = "ab cat cat -r 2 --input $input --output $output";
    let head = "'head -c 2000000 /dev/zero'";
    check!(place => "{compare} | 0");
    assert_eq!(place.read("output"), "some words\n");
    check!(place => "
        {compare} | 1 | 2> --force
        {compare} --force | 0
        ab cat cat -r 2 --output /dev/null | 0
        ab {head} {head} -r 2 --output pipe | 0
        ab true true --input $nonexistent | 1 | 2> cannot read /
    ");
    assert_eq!(place.read("output"), "some words\n");
}

#[test]
fn exports_are_those_of_hyperfine() {
    let place = Place::new();
    let compare = "ab --parameter n=1,2 'sleep 0.00{n}' -r 3 --export-json $a.json \
                   --export-csv $b.csv --export-markdown $c.md";
    place.prints(compare);
    let exported = json(place.read("a.json").as_bytes());
    let result = &exported["results"][1];
    assert_eq!(result["command"], "sleep 0.002");
    assert_eq!(result["parameters"]["n"], "2");
    assert_eq!(result["exit_codes"], json!([0, 0, 0]));
    let times: Vec<f64> = serde_json::from_value(result["times"].clone()).expect("seconds");
    let mean = times.iter().sum::<f64>() / 3.0;
    assert!((result["mean"].as_f64().expect("seconds") - mean).abs() < 1e-9);
    assert!(times.iter().all(|time| *time >= 0.002));
    let csv = place.read("b.csv");
    let header = "command,mean,stddev,median,user,system,min,max,parameter_n\nsleep 0.001,";
    assert!(csv.starts_with(header), "{csv}");
    let markdown = place.read("c.md");
    assert!(markdown.contains("| `sleep 0.002` |"), "{markdown}");
    ends(&mut place.line(compare), "1 | 2> --force");
    place.prints(&format!("{compare} --force"));
}

#[test]
fn the_seed_decides_the_order() {
    let place = Place::new();
    let [one, other] = ["a", "b"].map(|name| {
        let log = place.name(name);
        let commands = format!("'echo 1 >> {log}' 'echo 2 >> {log}'");
        compared(&place, &format!("{commands} -r 20 --seed 7"));
        place.read(name)
    });
    assert_eq!(one, other);
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
