//! The commands as a user sees them.

mod common;

use common::{LARGE_BUDGET, Place, scratch_files, visit_each_point};
use predicates::prelude::*;
use predicates::str::contains;
use serde_json::Value;
use std::fs;
use std::io::{BufRead, BufReader};
use std::process::Stdio;

fn json(stdout: &[u8]) -> Value {
    serde_json::from_slice(stdout).expect("what --json prints is JSON")
}

#[test]
fn a_run_measures_stores_and_cleans_up() {
    let place = Place::new();
    let page = place.path("page.html");
    let scratch = place.scratch();
    place
        .oscope(&[
            "run",
            "process.calls",
            "--at",
            "call=getpid",
            "--at",
            "call=lseek",
            "--budget",
            LARGE_BUDGET,
            "--name",
            "first",
            "--tag",
            "a=b",
        ])
        .arg("--dir")
        .arg(&scratch)
        .arg("--page")
        .arg(&page)
        .assert()
        .success()
        .stdout(contains("process.calls"))
        .stderr(contains("at most 10 min").and(contains("page:")));
    assert!(scratch_files(&scratch).is_empty());
    let page = fs::read_to_string(page).expect("the page was written");
    assert!(page.contains("process.calls") && page.contains("<svg"));

    let runs = place.oscope(&["history", "--json"]).assert().success();
    let runs = json(&runs.get_output().stdout);
    assert_eq!(runs[0]["name"], "first");
    place
        .oscope(&["history"])
        .assert()
        .success()
        .stdout(contains("first"));
    place
        .oscope(&["show", "first", "process"])
        .assert()
        .success()
        .stdout(contains("getpid"));
    place
        .oscope(&["claims", "first"])
        .assert()
        .success()
        .stdout(contains("several times faster than a system call"))
        .stdout(contains("`oscope run memory.bandwidth` does"));
    let claims = place.oscope(&["claims", "--json"]).assert().success();
    let claims = json(&claims.get_output().stdout);
    let claims = claims["claims"].as_array().expect("a list").iter();
    // A busy machine may change the ruling, but a measured claim must be judged by its numbers.
    let mut judged = claims.filter(|claim| {
        let because = claim["because"].as_str().expect("a reason");
        !because.contains("was not measured")
    });
    assert!(judged.any(|claim| claim["experiments"][0] == "process.calls"));
    place
        .oscope(&["show", "first", "memory"])
        .assert()
        .code(2)
        .stderr(contains("the run has no 'memory'; it has process.calls"));
}

#[test]
fn a_run_in_json_holds_estimates_findings_and_the_machine() {
    let place = Place::new();
    let run = place
        .short_run()
        .args(["--json", "--quiet"])
        .assert()
        .success()
        .stderr("");
    let run = json(&run.get_output().stdout);
    let text = run.to_string();
    for part in ["process.calls", "interval", "finding", "machine", "seed"] {
        assert!(text.contains(part), "no {part} in {text}");
    }
}

#[test]
fn colours_are_given_to_whom_they_are_asked_for() {
    let place = Place::new();
    place.short_run().assert().success();
    let shown = |when: &str| {
        let shown = place
            .oscope(&["show", "--all", "--color", when])
            .env("NO_COLOR", "1")
            .assert()
            .success();
        String::from_utf8_lossy(&shown.get_output().stdout).into_owned()
    };
    let coloured = shown("always");
    assert!(coloured.contains("\u{1b}["), "{coloured}");
    for when in ["auto", "never"] {
        assert!(!shown(when).contains('\u{1b}'), "{when}");
    }
    place.oscope(&["show", "--color", "blue"]).assert().code(2);
}

#[test]
fn the_same_seed_is_kept() {
    let place = Place::new();
    place.short_run().args(["--seed", "42"]).assert().success();
    place
        .oscope(&["show", "--json"])
        .assert()
        .success()
        .stdout(contains("42"));
}

#[test]
fn an_exported_run_comes_back_as_it_was() {
    let place = Place::new();
    let elsewhere = Place::new();
    let file = place.path("run.oscope.json");
    place.short_run().assert().success();
    place
        .oscope(&["export", "--output"])
        .arg(&file)
        .assert()
        .success();
    place
        .oscope(&["export", "--output"])
        .arg(&file)
        .assert()
        .code(1)
        .stderr(contains("--force"));

    elsewhere.oscope(&["import"]).arg(&file).assert().success();
    let here = place.oscope(&["show", "--json"]).assert().success();
    let there = elsewhere.oscope(&["show", "--json"]).assert().success();
    assert_eq!(
        json(&here.get_output().stdout),
        json(&there.get_output().stdout)
    );
    elsewhere
        .oscope(&["show"])
        .arg(&file)
        .assert()
        .success()
        .stdout(contains("process.calls"));
    elsewhere
        .oscope(&["import"])
        .arg(&file)
        .assert()
        .code(1)
        .stderr(contains("already"));

    let csv = place
        .oscope(&["export", "--format", "csv"])
        .assert()
        .success();
    let csv = String::from_utf8_lossy(&csv.get_output().stdout).into_owned();
    assert!(
        csv.lines().count() > 10 && csv.contains("process.calls"),
        "{csv}"
    );
}

#[test]
fn the_page_of_a_stored_run_can_be_made_again() {
    let place = Place::new();
    place.short_run().assert().success();
    let page = place.oscope(&["report"]).assert().success();
    let page = String::from_utf8_lossy(&page.get_output().stdout).into_owned();
    assert!(page.starts_with("<!DOCTYPE html>") && page.trim_end().ends_with("</html>"));
    assert!(
        !page.contains("http://") || page.contains("http://www.w3.org/"),
        "it needs a network"
    );
}

#[test]
fn printed_values_name_their_source_and_no_time_or_precision() {
    let place = Place::new();
    let (file, page) = (place.path("printed.json"), place.path("page.html"));
    let name = "threads-linux";
    let mut export = place.oscope(&["export", &format!("reference:{name}"), "-o"]);
    export.arg(&file).assert().success();
    place.oscope(&["import"]).arg(&file).assert().success();
    let is_true = contains("as printed in report D").and(contains("as printed. Their spread"));
    let is_false = contains("1970")
        .or(contains("took 0"))
        .or(contains("known to"));
    let is_printed = is_true.and(is_false.not());
    let shown = place.oscope(&["show", name]).assert().success();
    shown.stdout(is_printed);
    let mut report = place.oscope(&["report", name, "-o"]);
    report.arg(&page).assert().success();
    let text = fs::read_to_string(page).expect("it was written");
    let opening = text.split_once("</header>").expect("it has a header").0;
    assert!(!opening.contains("1970") && opening.contains("as printed in report D"));
}

#[test]
fn lists_and_explanations_name_every_experiment() {
    let place = Place::new();
    let list = place.oscope(&["list"]).assert().success();
    let list = String::from_utf8_lossy(&list.get_output().stdout).into_owned();
    for experiment in experiments::all() {
        assert!(list.contains(experiment.id()), "{list}");
        place
            .oscope(&["explain", experiment.id()])
            .assert()
            .success()
            .stdout(contains(experiment.id()));
    }
    let list = place.oscope(&["list", "--json"]).assert().success();
    assert_eq!(json(&list.get_output().stdout)[0]["id"], "memory.bandwidth");
}

#[test]
fn completions_and_manual_pages_are_made_of_the_same_definition() {
    let place = Place::new();
    place
        .oscope(&["completions", "bash"])
        .assert()
        .success()
        .stdout(contains("--budget"));
    place
        .oscope(&["man"])
        .assert()
        .success()
        .stdout(contains(".TH oscope"));
    let pages = place.path("share").join("man1");
    place
        .oscope(&["man", "--dir"])
        .arg(&pages)
        .assert()
        .success();
    assert!(pages.join("oscope-run.1").exists());
}

#[test]
fn the_doctor_examines_this_machine() {
    let place = Place::new();
    let checks = place
        .oscope(&["doctor", "--json", "--quiet"])
        .assert()
        .success();
    let checks = json(&checks.get_output().stdout);
    let subjects: Vec<_> = checks
        .as_array()
        .expect("a list")
        .iter()
        .map(|check| &check["subject"])
        .collect();
    assert!(
        subjects.iter().any(|&subject| subject == "rights"),
        "{subjects:?}"
    );
    place
        .oscope(&["doctor"])
        .assert()
        .success()
        .stdout(contains("rights"));
}

#[test]
fn an_empty_store_is_no_error_to_list_and_a_clear_one_to_show() {
    let place = Place::new();
    place.oscope(&["history"]).assert().success();
    place
        .oscope(&["show"])
        .assert()
        .code(2)
        .stderr(contains("oscope run"));
    assert!(!place.path("oscope.db").exists(), "reading made a store");
}

#[test]
fn what_is_misspelt_gets_a_suggestion() {
    let place = Place::new();
    place
        .oscope(&["run", "memory.bandwith"])
        .assert()
        .code(2)
        .stderr(contains("Did you mean 'memory.bandwidth'?"));
    place
        .oscope(&["exprot"])
        .assert()
        .code(2)
        .stderr(contains("export"));
    place
        .oscope(&["run", "--budget", "ten"])
        .assert()
        .code(2)
        .stderr(contains("number"));
    place
        .oscope(&["run", "--budget", "10"])
        .assert()
        .code(2)
        .stderr(contains("unit"));
    place
        .oscope(&["run", "--profile", "fast"])
        .assert()
        .code(2)
        .stderr(contains("quick"));
    place
        .oscope(&["run", "--tag", "novalue"])
        .assert()
        .code(2)
        .stderr(contains("KEY=VALUE"));
    place.oscope(&["show", "no-such-run"]).assert().code(2);
}

#[test]
fn a_directory_that_nothing_measured_would_use_is_wrong_use() {
    let place = Place::new();
    place
        .oscope(&["run", "memory", "--remote", "/"])
        .assert()
        .code(2)
        .stderr(contains("oscope run file.remote --remote"));
}

#[test]
fn a_reader_that_has_seen_enough_ends_the_program_quietly() {
    let place = Place::new();
    let mut child = place
        .plain(&["explain", "memory", "file", "process"])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("the program starts");
    drop(child.stdout.take());
    let output = child.wait_with_output().expect("it ends");
    assert_eq!(String::from_utf8_lossy(&output.stderr), "");
}

#[test]
fn without_a_command_everything_is_measured_in_the_directory_one_is_in() {
    let place = Place::new();
    let mut running = place
        .plain(&[])
        .current_dir(place.scratch())
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .spawn()
        .expect("the program starts");
    let stderr = BufReader::new(running.stderr.take().expect("a pipe"));
    let mut lines = stderr.lines().map_while(Result::ok);
    let plan = lines.find(|line| line.contains("experiments"));
    assert!(plan.is_some_and(|plan| plan.contains("quick profile")));
    let told = lines.find(|line| line.contains("scratch files in"));
    let scratch = place.scratch().canonicalize().expect("it is there");
    assert!(told.is_some_and(|told| told.contains(scratch.to_str().expect("a plain path"))));
    let interrupt = testing::Command::new("kill")
        .args(["-INT", &running.id().to_string()])
        .status();
    assert!(interrupt.expect("kill is there").success());
    // The interrupted run prints more lines before it ends.
    lines.for_each(drop);
    let ended = running.wait().expect("it ends");
    assert_eq!(ended.code(), Some(130));
    assert!(scratch_files(&place.scratch()).is_empty());
}

#[test]
fn advice_is_told_to_people_and_programs_and_kept_where_programs_look() {
    let place = Place::new();
    place.short_run().assert().success();
    place
        .oscope(&["advise"])
        .assert()
        .success()
        .stdout(contains("What to set here"));
    let advice = place.oscope(&["advise", "--json"]).assert().success();
    assert_eq!(json(&advice.get_output().stdout)["format"], 1);
    place
        .oscope(&["advise", "--header", "c"])
        .assert()
        .success()
        .stdout(contains("#ifndef OSCOPE_ADVICE_H"));
    place
        .oscope(&["advise", "--env"])
        .assert()
        .success()
        .stdout(contains("OSCOPE_MEASURED=20"));
    let data = place.path("data");
    place
        .oscope(&["advise", "--save"])
        .env("XDG_DATA_HOME", &data)
        .assert()
        .success()
        .stdout(contains("advice.json"));
    advice::load_from(&data.join("oscope/advice.json")).expect("what was kept is read again");
}

#[test]
fn the_group_threads_is_measured_and_drawn() {
    let place = Place::new();
    let page = place.path("page.html");
    let mut run = place.plain(&["run", "threads", "--json"]);
    run.arg("--dir")
        .arg(place.scratch())
        .arg("--page")
        .arg(&page);
    let output = visit_each_point(&mut run);
    let run = json(&output.stdout);
    let experiments = run["experiments"].as_array().expect("a list");
    assert_eq!(experiments.len(), 9);
    let page = fs::read_to_string(page).expect("the page was written");
    // After one visit few points have an estimate.
    let is_sound = |point: &Value| {
        let mut estimates = point["estimates"].as_array().into_iter().flatten();
        estimates.all(|estimate| estimate["verdict"] == "sound")
    };
    let is_drawn = |experiment: &&Value| {
        let mut points = experiment["points"].as_array().into_iter().flatten();
        experiment["id"] == "threads.inversion"
            && points.any(|of| of["levels"]["protocol"] == "inheritance" && is_sound(of))
    };
    if experiments.iter().any(|experiment| is_drawn(&experiment)) {
        assert!(page.contains("With priority inheritance"), "a timeline");
    }
    if cfg!(any(target_arch = "x86_64", target_arch = "aarch64")) {
        for experiment in experiments {
            let points = experiment["points"].as_array().expect("a list");
            assert!(!points.is_empty(), "{experiment}");
        }
    }
}
