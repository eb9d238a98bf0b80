//! Results of a comparison: their places and contents.

use crate::common::Place;
use crate::{json, told};
use predicates::prelude::*;
use predicates::str::contains;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Stdio;

#[test]
fn a_failure_on_the_way_keeps_what_was_measured() {
    let place = Place::new();
    let (count, export) = (place.path("count"), place.path("times.json"));
    let fails_late = format!("echo >> {0}; test $(wc -l < {0}) -lt 6", count.display());
    let run = |json: &[&str]| {
        fs::remove_file(&count).ok();
        let words = [&["ab", "-r", "9"], json, &["--force", "true", &fails_late]].concat();
        let mut command = place.oscope(&words);
        command.arg("--export-json").arg(&export);
        // The warm-up is the first of the six.
        let failed = command.assert().code(1);
        let failed = failed.stderr(contains(format!(
            "run 5: '{fails_late}' failed with exit code 1"
        )));
        String::from_utf8_lossy(&failed.get_output().stdout).into_owned()
    };
    let shown = run(&[]);
    let row = shown.lines().find(|line| line.starts_with("true "));
    assert!(row.is_some_and(|row| row.ends_with("  4")), "{shown}");
    assert!(
        shown.contains("Stopped by an error, after 4 blocks"),
        "{shown}"
    );
    let exported = json(&fs::read(&export).expect("a file"));
    assert_eq!(
        exported["results"][1]["exit_codes"],
        serde_json::json!([0, 0, 0, 0])
    );
    let document = json(run(&["--json"]).as_bytes());
    assert_eq!(document["ending"], "failed");
    let failure = document["failure"].as_str();
    assert!(
        failure.is_some_and(|failure| failure.starts_with("run 5: ")),
        "{document}"
    );
    place
        .oscope(&["show"])
        .assert()
        .success()
        .stdout(contains("ab.programs"));
    assert!(place.samples() > 0);
}

#[test]
fn a_place_that_fails_keeps_no_result_from_the_others() {
    let place = Place::new();
    let gone = place.path("gone");
    let files = ["a.json", "b.csv", "c.md"].map(|name| place.path(name));
    let compare = |json: &Path| {
        let words = ["ab", "-r", "2", "--force", "true", "true", "--conclude"];
        let mut command = place.plain(&words);
        command
            .arg(format!("rm -rf {}", gone.display()))
            .args(["--export-json".as_ref(), json.as_os_str()])
            .args(["--export-csv".as_ref(), files[1].as_os_str()])
            .args(["--export-markdown".as_ref(), files[2].as_os_str()]);
        command
    };
    let are_written = |files: &[PathBuf]| {
        for file in files {
            let bytes = fs::metadata(file).map_or(0, |metadata| metadata.len());
            assert!(bytes > 0, "{}", file.display());
            fs::remove_file(file).expect("it is ours");
        }
    };
    // Standard output is closed, or full.
    let mut closed = testing::Command::new("sh");
    let plain = compare(&files[0]);
    closed.args(["-c", "exec \"$0\" \"$@\" >&-"]);
    closed.arg(plain.get_program()).args(plain.get_args());
    let full = fs::File::options().write(true).open("/dev/full");
    let full = full.ok().map(|full| {
        let mut command = compare(&files[0]);
        command.stdout(full);
        command
    });
    for mut command in std::iter::once(closed).chain(full) {
        let output = command.stderr(Stdio::piped()).output().expect("it starts");
        let said = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(1), "{said}");
        assert!(said.contains("cannot write to standard output"), "{said}");
        are_written(&files);
    }
    // The directory of an export is gone.
    fs::create_dir(&gone).expect("a directory");
    let output = compare(&gone.join("a.json")).output().expect("it starts");
    let said = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(1), "{said}");
    assert!(said.contains("cannot write"), "{said}");
    assert!(String::from_utf8_lossy(&output.stdout).contains("2 blocks"));
    are_written(&files[1..]);
}

#[test]
fn a_signal_is_a_failure_like_others() {
    let place = Place::new();
    let export = place.path("times.json");
    let killed = "kill -9 $$";
    for ignored in ["--ignore-failure", "--ignore-failure=1,137"] {
        let words = [killed, "true", "-r", "2", "--force", ignored];
        let told = told(
            &place,
            &[
                &words[..],
                &["--export-json", export.to_str().expect("text")],
            ]
            .concat(),
        );
        assert_eq!(told["programs"][0]["failures"], 2);
        let remarks = told["remarks"].to_string();
        assert!(
            remarks.contains("in 2 of 2 runs, with signal 9 (SIGKILL)"),
            "{remarks}"
        );
        let exported = json(&fs::read(&export).expect("a file"));
        assert_eq!(
            exported["results"][0]["exit_codes"],
            serde_json::json!([137, 137])
        );
    }
    for refused in [&[][..], &["--ignore-failure=1"]] {
        let words = [&["ab", killed, "true", "-r", "2"], refused].concat();
        place
            .oscope(&words)
            .assert()
            .code(1)
            .stderr(contains("'kill -9 $$' failed with signal 9 (SIGKILL)"));
    }
}

#[test]
fn data_on_standard_output_stays_pure() {
    let place = Place::new();
    for (words, said) in [
        (&["--json", "--output", "inherit"][..], "words"),
        (&["--json", "--output", "-"], "words"),
        (&["--export-json", "-"], "2 blocks"),
        (
            &["--export-json", "/dev/stdout", "--output", "inherit"],
            "words",
        ),
    ] {
        let words = [&["ab", "-r", "2", "echo words", "true"], words].concat();
        let done = place
            .oscope(&words)
            .assert()
            .success()
            .stderr(contains(said));
        json(&done.get_output().stdout);
    }
    // Without data, the report stays where it was.
    place
        .oscope(&["ab", "-r", "2", "echo words", "true", "--output", "-"])
        .assert()
        .success()
        .stdout(contains("words").and(contains("2 blocks")));
}

#[test]
fn a_name_of_several_lines_is_shown_on_one() {
    let place = Place::new();
    let [csv, markdown] = ["a.csv", "a.md"].map(|name| place.path(name));
    let words = [
        "ab",
        "-r",
        "2",
        "echo a\necho `id`",
        "true | cat",
        "--export-csv",
    ];
    let done = place
        .oscope(&words)
        .arg(&csv)
        .arg("--export-markdown")
        .arg(&markdown)
        .assert()
        .success()
        .stdout(contains("\necho a echo `id`  ").and(contains("'echo a echo `id`'")));
    let shown = String::from_utf8_lossy(&done.get_output().stdout).into_owned();
    assert!(!shown.contains("echo a\necho"), "{shown}");
    let csv = fs::read_to_string(&csv).expect("a file");
    assert!(csv.contains("\"echo a\necho `id`\","), "{csv}");
    let markdown = fs::read_to_string(&markdown).expect("a file");
    assert!(
        markdown.contains("\n| <code>echo a echo &#96;id&#96;</code> | "),
        "{markdown}"
    );
    assert!(
        markdown.contains("\n| <code>true &#124; cat</code> | "),
        "{markdown}"
    );
    assert_eq!(markdown.lines().count(), 4);
}
