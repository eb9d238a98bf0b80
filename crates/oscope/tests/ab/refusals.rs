//! Refusals, before which nothing runs.

use crate::common::Place;
use crate::lines;
use predicates::str::contains;
use std::fs;
use std::os::unix::fs::symlink;
use std::process::Command;

#[test]
fn what_cannot_work_is_refused_before_a_command_runs() {
    let mut place = Place::new();
    let [file, link, pipe, log] = ["file", "link", "pipe", "log"].map(|name| place.path(name));
    fs::write(&file, "mine").expect("a file");
    symlink(&file, &link).expect("a link");
    let made = Command::new("mkfifo").arg(&pipe).status();
    assert!(made.expect("mkfifo(1) is there").success());
    let [file, link, pipe] =
        [&file, &link, &pipe].map(|path| path.to_str().expect("text").to_owned());
    let other = format!("{}/./file", place.path("").display());
    let setup = format!("echo >> {}", log.display());
    let refused = |place: &Place, words: &[&str], code: i32, said: &str| {
        let all = [&["ab", "-r", "2", "--setup", &setup], words].concat();
        place
            .oscope(&all)
            .assert()
            .code(code)
            .stderr(contains(said));
        assert!(!log.exists(), "{words:?}");
    };
    let cat = ["cat", "cat"];
    let with = |options: &[&'static str]| [options, &cat].concat();
    refused(
        &place,
        &with(&["--input", "/nonexistent"]),
        1,
        "cannot read /nonexistent",
    );
    refused(
        &place,
        &with(&["--input", "-"]),
        2,
        "standard input cannot be read by each run",
    );
    refused(
        &place,
        &with(&["--input", "/"]),
        2,
        "cannot be read by each run",
    );
    refused(
        &place,
        &with(&["--json", "--export-csv", "-"]),
        2,
        "`--json` writes to standard",
    );
    refused(
        &place,
        &with(&["--export-json", "-", "--export-csv", "/dev/stdout"]),
        2,
        "same file",
    );
    refused(
        &place,
        &with(&["--export-csv", "/nonexistent/x"]),
        1,
        "cannot write",
    );
    for (words, code, said) in [
        (&["--input", &pipe][..], 2, "cannot be read by each run"),
        (&["--output", &file], 1, "--force"),
        (&["--export-json", &file], 1, "--force"),
        (
            &["--force", "--input", &file, "--output", &other],
            2,
            "same file",
        ),
        (
            &["--force", "--export-json", &file, "--export-csv", &other],
            2,
            "same file",
        ),
        (
            &["--force", "--export-json", &file, "--export-csv", &link],
            2,
            "same file",
        ),
    ] {
        refused(&place, &[words, &cat].concat(), code, said);
    }
    refused(&place, &["true", ""], 2, "command 2 is empty");
    refused(&place, &["-N", "true", "'true"], 2, "a quote is open");
    let parameters = |words: &[&str], said: &str| refused(&place, words, 2, said);
    parameters(
        &["--parameter", "a=1", "--parameter", "a=3", "echo {a}"],
        "given twice",
    );
    parameters(
        &["--parameter", "a=1,2", "echo {b}"],
        "no command uses the parameter 'a'",
    );
    assert!(!place.store.exists());
    let pipe = [&["--output", &pipe], &cat[..]].concat();
    refused(&place, &pipe, 1, "no program reads the pipe");
    place.store = place.path("nowhere/oscope.db");
    refused(&place, &cat, 1, "nowhere");
    assert_eq!(fs::read_to_string(&file).expect("still there"), "mine");
}

#[test]
fn nothing_begins_for_which_there_is_no_time() {
    let place = Place::new();
    let log = place.path("log");
    let prepare = format!("echo >> {}", log.display());
    let compare = |words: &[&str]| {
        fs::remove_file(&log).ok();
        let common = ["ab", "--budget", "1s", "--prepare", &prepare];
        place.oscope(&[&common, words].concat()).assert()
    };
    // The first warm-up, or the first run, shows that one run of each takes longer.
    for warmup in ["1", "0"] {
        compare(&["-w", warmup, "sleep 1.2", "sleep 1.2"])
            .code(2)
            .stderr(contains("the time is too short"))
            .stdout("");
        assert_eq!(lines(&log), 1);
    }
    compare(&["-r", "1000", "sleep 0.1", "sleep 0.1"])
        .success()
        .stderr(contains("since there is no time for 1000"))
        .stdout(contains(
            "of 1000 runs of each command; a longer `--budget`",
        ));
}
