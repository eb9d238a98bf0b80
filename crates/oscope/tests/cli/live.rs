//! What a run shows before it is over.

use crate::common::{LARGE_BUDGET, Place, end_by, ends, start, visit, wait_until};
use std::fs::{self, Permissions};
use std::os::unix::fs::PermissionsExt;

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
fn a_run_of_chosen_points_measures_and_shows_those_alone() {
    let place = Place::new();
    let chosen = format!("run --at call=getpid --at optimisation=3 --budget {LARGE_BUDGET}");
    let named = format!("run process.calls --at call=getpid --budget {LARGE_BUDGET}");
    for line in [chosen, named] {
        let mut run = place.line(&format!("{line} --no-page --dir $scratch"));
        ends(&mut run, "0 | 2> pass 10 of 10 | !2> machine  ");
    }
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
    check!(place => "
        run --watch --page $page.html | 1 | 2> page.html is there already
        run --watch --page -          | 2 | 2> need a page in a file
        run --watch --no-page         | 2 | 2> cannot be used with
        run --open --no-page          | 2 | 2> cannot be used with");
}

#[test]
fn a_page_is_opened_by_the_first_program_that_can() {
    let place = Place::new();
    let opened = |code: i32| {
        let script = format!(
            "#!/bin/sh\necho \"$1\" >'{}'\nexit {code}\n",
            place.name("opened")
        );
        let path = place.file("xdg-open", script);
        fs::set_permissions(path, Permissions::from_mode(0o700)).expect("it is ours");
        let mut run = place.line(
            "run process.calls --at call=getpid --open --page $page.html --force --dir $scratch",
        );
        run.args(["--budget", LARGE_BUDGET])
            .env("PATH", format!("{}:/usr/bin:/bin", place.name("")));
        run
    };
    ends(&mut opened(0), "0 | !2> no browser");
    assert_eq!(place.read("opened").trim(), place.name("page.html"));
    let refused = "1 | 2> no browser was opened | 2> xdg-open: exit status: 3 | 2> wslview: ";
    ends(
        &mut opened(3),
        &format!("{refused} | 2> {}", place.name("page.html")),
    );
}
