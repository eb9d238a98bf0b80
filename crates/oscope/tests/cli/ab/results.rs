//! Results of a comparison: their places and contents.

use super::compared;
use crate::common::{Place, ends, json, printed, under};
use serde_json::{Value, json};
use std::fs::{self, File};

#[test]
fn a_failure_on_the_way_keeps_the_results_before_it() {
    let place = Place::new();
    let count = place.name("count");
    let fails_late = format!("echo >> {count}; test $(wc -l < {count}) -lt 6");
    let run = |flags: &[&str]| {
        fs::remove_file(&count).ok();
        let export = place.name("times.json");
        let words = ["ab", "-r", "9", "--force", "true", &fails_late];
        let mut command = place.oscope(&words);
        command.args(flags).args(["--export-json", &export]);
        // The warm-up is the first of the six.
        let failure = format!("1 | 2> run 5: '{fails_late}' failed with exit code 1");
        printed(&mut command, &failure)
    };
    let shown = run(&[]);
    let is_row = |line: &str| line.starts_with(" true ") && line.trim_end().ends_with(" 4");
    assert!(shown.lines().any(is_row), "{shown}");
    assert!(
        shown.contains("Stopped by an error, after 4 blocks"),
        "{shown}"
    );
    let exported = json(place.read("times.json").as_bytes());
    assert_eq!(exported["results"][1]["exit_codes"], json!([0, 0, 0, 0]));
    let document = json(run(&["--json"]).as_bytes());
    assert_eq!(document["ending"], "failed");
    let failure = document["failure"].as_str();
    assert!(failure.is_some_and(|it| it.starts_with("run 5: ")));
    check!(place => "show | 0 | > ab.programs");
    assert!(place.samples() > 0);
}

#[test]
fn a_place_that_fails_keeps_no_result_from_the_others() {
    let place = Place::new();
    let gone = place.name("gone");
    let compare = |first: &str| {
        place.line(&format!(
            "ab -r 2 --force true true --conclude 'rm -rf {gone}' --export-json ${first} \
             --export-csv $b.csv --export-markdown $c.md"
        ))
    };
    let are_written = |files: &[&str]| {
        for file in files {
            assert!(!place.read(file).is_empty(), "{file}");
            fs::remove_file(place.path(file)).expect("it is ours");
        }
    };
    let closed = under(&["sh", "-c", "exec \"$0\" \"$@\" >&-"], &compare("a.json"));
    let full = File::options().write(true).open("/dev/full");
    let full = full.ok().map(|full| {
        let mut command = compare("a.json");
        command.stdout(full);
        command
    });
    for mut command in std::iter::once(closed).chain(full) {
        ends(&mut command, "1 | 2> cannot write to standard output");
        are_written(&["a.json", "b.csv", "c.md"]);
    }
    // The directory of an export is gone.
    place.directory("gone");
    ends(
        &mut compare("gone/a.json"),
        "1 | > 2 blocks | 2> cannot write",
    );
    are_written(&["b.csv", "c.md"]);
}

#[test]
fn a_signal_is_a_failure_like_others() {
    let place = Place::new();
    for ignored in ["--ignore-failure", "--ignore-failure=1,137"] {
        let compare = "'kill -9 $$' true -r 2 --force --export-json $times.json";
        let found = compared(&place, &format!("{compare} {ignored}"));
        assert_eq!(found["programs"][0]["failures"], 2);
        let remarks = found["remarks"].to_string();
        let signal = "in 2 of 2 runs, with signal 9 (SIGKILL)";
        assert!(remarks.contains(signal), "{remarks}");
        let exported = json(place.read("times.json").as_bytes());
        assert_eq!(exported["results"][0]["exit_codes"], json!([137, 137]));
    }
    let failed = "'kill -9 $$' failed with signal 9 (SIGKILL)";
    check!(place => "
        ab 'kill -9 $$' true -r 2                    | 1 | 2> {failed}
        ab 'kill -9 $$' true -r 2 --ignore-failure=1 | 1 | 2> {failed}
    ");
}

#[test]
fn data_on_standard_output_stays_pure() {
    let place = Place::new();
    let compare = "ab -r 2 'echo words' true";
    for (options, other) in [
        ("--json --output inherit", "words"),
        ("--json --output -", "words"),
        ("--export-json -", "2 blocks"),
        ("--export-json /dev/stdout --output inherit", "words"),
    ] {
        let mut command = place.line(&format!("{compare} {options}"));
        let data = printed(&mut command, &format!("0 | 2> {other}"));
        json(data.as_bytes());
    }
    // Without data, the report stays where it was.
    check!(place => "{compare} --output - | 0 | > words | > 2 blocks");
}

#[test]
fn a_name_of_several_lines_is_shown_on_one() {
    let place = Place::new();
    let [csv, markdown] = ["a.csv", "a.md"].map(|name| place.name(name));
    let shown = printed(
        place
            .oscope(&["ab", "-r", "2", "echo a\necho `id`", "true | cat"])
            .args(["--export-csv", &csv, "--export-markdown", &markdown]),
        "0 | > \n echo a echo `id` | > 'echo a echo `id`'",
    );
    assert!(!shown.contains("echo a\necho"), "{shown}");
    let csv = place.read("a.csv");
    assert!(csv.contains("\"echo a\necho `id`\","), "{csv}");
    let markdown = place.read("a.md");
    for row in ["\n| echo a echo \\`id\\` | ", "\n| true \\| cat | "] {
        assert!(markdown.contains(row), "{markdown}");
    }
    assert_eq!(markdown.lines().count(), 4);
}

#[test]
fn a_single_command_is_timed() {
    let place = Place::new();
    let exports = "--export-asciidoc $a.adoc --export-orgmode $b.org";
    check!(place => "
        ab -r 3 'sleep 0.01' {exports} | 0 | > sleep 0.01: 3 runs | > 95 % below | > context switches
        time -r 2 true | 0 | > median | > in turn with them
        ab -r 2 'echo printed' --show-output | 0 | > printed
        ab -r 2 -N -L name a,b 'echo {{name}}' | 0 | > echo a | > echo b
        ab -r 2 -P n 0.5 1 -D 0.5 'echo {{n}}' | 0 | > echo 0.5 | > echo 1.0
        ab -r 2 -P n 2 1 'echo {{n}}' | 2 | 2> from the smaller number to the larger
        ab -r 2 -P n 1 2 -D 1 -D 2 'echo {{n}}' | 2 | 2> more steps
        ab -r 2 true -D 2 | 2 | 2> --parameter-scan");
    assert!(place.read("a.adoc").contains("| `sleep 0.01`\n| 1"));
    assert!(place.read("b.org").contains("| =sleep 0.01= | 1"));
    let document = place.json("ab -r 4 true --json");
    assert_eq!(document["pairs"], json!([]));
    assert_eq!(document["programs"][0]["runs"], 4);
    assert!(
        document["programs"][0]["minor_faults"]
            .as_f64()
            .is_some_and(|count| count > 0.0)
    );
}

#[test]
fn what_else_differs_is_named() {
    let place = Place::new();
    let more = "'sh -c \"sleep 0.002; sleep 0.002\"'";
    let found = compared(&place, &format!("-r 24 true {more}"));
    let faults = &found["pairs"][0]["others"]["faults"];
    assert_eq!(faults["verdict"], "slower", "{faults}");
    assert!(faults["low"].as_f64() > Some(1.5), "{faults}");
    check!(place => "ab -r 24 true {more} | 0 | > What else differs, | > page faults");
}

#[test]
fn the_report_has_the_unit_and_style_that_are_asked_for_and_no_store_if_none_is_wanted() {
    let place = Place::new();
    check!(place => "
        ab -r 2 true true --no-store -u microsecond | 0 | > µs | 2> 2 programs | !2> run 1
        ab -r 2 true --no-store -u second --export-markdown - --style none | 0 | > 0.00 | 2>
        ab -r 2 true true --no-store --style none | 0 | > | 2>
        ab -r 2 true true --no-store --style color | 0 | > \u{1b}[
        ab -r 2 -S sh --subtract-shell true --no-store | 0 | > is taken off
    ");
    assert_eq!(compared(&place, "-r 2 true --no-store")["run"], Value::Null);
    assert!(!place.store.exists());
}

#[test]
fn few_runs_have_an_estimate() {
    let place = Place::new();
    check!(place => "
        ab -r 3 'sleep 0.01' 'sleep 0.3' | 0 | > so far | > about 9 more");
}
