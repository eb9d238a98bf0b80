//! What a run shows before it is over.

use crate::common::{
    LONG_RUN, Place, end_by, scratch_files, signal, start, text, visit, wait_until,
};
use serde_json::Value;
use std::io::{BufRead, BufReader};
use std::process::Stdio;

#[test]
fn a_run_of_everything_shows_its_glance_before_it_goes_on_and_ends_in_order() {
    let place = Place::new();
    let mut run = place.line("run --dir $scratch --page $page.html");
    let output = visit(&mut run, "machine  ");
    assert_eq!(output.status.code(), Some(130));
    let said = String::from_utf8_lossy(&output.stderr);
    let (before, after) = said.split_once("machine  ").expect("it is there");
    assert!(
        before.contains("pass 1 of 13") && !before.contains("pass 4 of"),
        "{said}"
    );
    assert!(
        !after.contains("machine  ") && after.contains("--resume 1"),
        "{said}"
    );
    assert!(String::from_utf8_lossy(&output.stdout).contains("How far to trust it"));
    assert!(place.read("page.html").trim_end().ends_with("</html>"));
}

#[test]
fn a_watched_page_is_written_before_the_run_is_over_and_replaces_only_itself() {
    let place = Place::new();
    let watched = "run process.calls --profile thorough --dir $scratch --watch --page $page.html";
    let child = start(&mut place.line(watched));
    wait_until("the page", || place.path("page.html").exists());
    let early = place.read("page.html");
    let (output, _, stderr) = end_by("INT", child);
    assert_eq!(output.status.code(), Some(130), "{stderr}");
    let late = place.read("page.html");
    for page in [&early, &late] {
        assert!(page.starts_with("<!DOCTYPE html>") && page.trim_end().ends_with("</html>"));
    }
    assert_eq!(stderr.matches("page: ").count(), 1, "{stderr}");
}

#[test]
fn without_a_command_everything_is_measured_in_the_directory_one_is_in() {
    let place = Place::new();
    let mut command = place.oscope(&[]);
    let command = command.current_dir(place.scratch()).stdout(Stdio::null());
    let running = command.stderr(Stdio::piped()).spawn();
    let mut running = running.expect("the program starts");
    let stderr = BufReader::new(running.stderr.take().expect("a pipe"));
    let mut lines = stderr.lines().map_while(Result::ok);
    let plan = lines.find(|line| line.contains("experiments"));
    assert!(plan.is_some_and(|plan| plan.contains("quick profile")));
    let directory = lines.find(|line| line.contains("scratch files in"));
    let scratch = place.scratch().canonicalize().expect("it is there");
    assert!(directory.is_some_and(|line| line.contains(text(&scratch))));
    signal("INT", running.id());
    // The interrupted run prints more lines before it ends.
    lines.for_each(drop);
    let ended = running.wait().expect("it ends");
    assert_eq!(ended.code(), Some(130));
    assert!(scratch_files(&place.scratch()).is_empty());
}

#[test]
fn a_run_under_way_is_not_deleted_and_goes_on() {
    let place = Place::new();
    let mut running = place.begun(LONG_RUN);
    check!(place => "delete 1 --force | 1 | > | 2> run 1 is under way");
    let before = place.samples();
    wait_until("more samples", || place.samples() > before);
    running.kill().expect("it runs");
    running.wait().expect("it ends");
    // The claim of a killed process is no more.
    check!(place => "delete 1 --force | 0");
    assert_eq!(place.json("history --json"), Value::Array(Vec::new()));
}
