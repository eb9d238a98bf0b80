//! The commands as a user sees them.

mod common;

use common::{LARGE_BUDGET, Place, scratch_files, visit_each_point, without_reader};
use instrument::experiment::Experiment;
use predicates::prelude::*;
use predicates::str::contains;
use serde_json::Value;
use std::fs;
use std::io::{BufRead, BufReader};
use std::process::Stdio;

/// The exit codes of a short run: a busy machine measures less than all in its time.
const MEASURED: &[i32] = &[0, 1];

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
        .code(MEASURED)
        // No progress; a busy machine is warned about.
        .stderr(contains("pass").not());
    let run = json(&run.get_output().stdout);
    let text = run.to_string();
    for part in ["process.calls", "interval", "finding", "machine", "seed"] {
        assert!(text.contains(part), "no {part} in {text}");
    }
}

#[test]
fn colours_are_given_to_whom_they_are_asked_for() {
    let place = Place::new();
    place.short_run().assert().code(MEASURED);
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
    place
        .short_run()
        .args(["--seed", "42"])
        .assert()
        .code(MEASURED);
    place
        .oscope(&["show", "--json"])
        .assert()
        .success()
        .stdout(contains("42"));
}

#[test]
fn a_run_shows_its_clock() {
    let place = Place::new();
    place.short_run().assert().code(MEASURED);
    let shown = place.oscope(&["show"]).assert().success();
    shown.stdout(contains("\nClock "));
    let shown = place.oscope(&["show", "--json"]).assert().success();
    let shown = json(&shown.get_output().stdout);
    assert!(
        shown["surroundings"]["clock"]["cores"].is_array(),
        "{shown}"
    );
}

#[test]
fn an_exported_run_comes_back_as_it_was() {
    let place = Place::new();
    let elsewhere = Place::new();
    let file = place.path("run.oscope.json");
    place.short_run().assert().code(MEASURED);
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
    place.short_run().assert().code(MEASURED);
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
    for expected in ["rights", "clock"] {
        let is_there = subjects.iter().any(|&subject| subject == expected);
        assert!(is_there, "{subjects:?}");
    }
    place
        .oscope(&["doctor"])
        .assert()
        .success()
        .stdout(contains("rights"));
}

#[test]
fn an_empty_store_is_no_error_to_list_and_a_clear_one_to_show() {
    let place = with_a_report("pentium4-2003-linux");
    let delete = ["delete", "1", "--force"];
    place.oscope(&delete).assert().success();
    let listed = place.oscope(&["history"]).assert().success();
    listed.stdout("No run has been stored yet.\n");
    let shown = place.oscope(&["show"]).assert().code(2);
    shown.stderr(contains("the store is empty"));
}

/// An environment whose store has the numbers of a published report as a run.
fn with_a_report(name: &str) -> Place {
    let place = Place::new();
    let file = place.path("printed.json");
    let mut export = place.oscope(&["export", &format!("reference:{name}"), "-o"]);
    export.arg(&file).assert().success();
    place.oscope(&["import"]).arg(&file).assert().success();
    place
}

#[test]
fn an_experiment_in_place_of_a_run_is_that_of_the_newest_run() {
    let place = with_a_report("pentium4-2003-linux");
    let named = place.oscope(&["show", "latest", "process.calls"]).output();
    let named = named.expect("it starts").stdout;
    // A newer run without this experiment does not hide the one that has it.
    for newer in [None, Some(["ab", "--runs", "1", "true", "true"])] {
        if let Some(newer) = newer {
            place.oscope(&newer).assert().success();
        }
        for what in ["process.calls", "process"] {
            let shown = place.oscope(&["show", what]).assert().success();
            assert_eq!(shown.get_output().stdout, named, "{what}");
        }
    }
    let others = place.oscope(&["show", "transfer"]).assert().code(2);
    others.stderr(contains("the run has no 'transfer'; it has "));
    let unknown = place.oscope(&["show", "process.cals"]).assert().code(2);
    unknown.stderr(contains("there is no run 'process.cals'"));
    // A run of that name goes first.
    let mut named = place.short_run();
    named.args(["--name", "file"]).assert().code(MEASURED);
    let shown = place.oscope(&["show", "file"]).assert().success();
    let names_it = |line: &str| line.split_whitespace().take(2).eq(["run", "file,"]);
    let is_named = |text: &str| text.lines().any(names_it);
    shown.stdout(predicate::function(is_named));
}

#[test]
fn a_list_can_be_of_one_group() {
    let place = Place::new();
    let listed = place
        .oscope(&["list", "memory", "--json"])
        .assert()
        .success();
    let listed = json(&listed.get_output().stdout);
    let listed = listed.as_array().expect("a list").iter();
    let ids: Vec<_> = listed.map(|it| it["id"].as_str().expect("an id")).collect();
    let known = experiments::all().map(Experiment::id);
    let known: Vec<_> = known.filter(|id| id.starts_with("memory.")).collect();
    assert_eq!(ids, known);
    let unknown = place.oscope(&["list", "memry"]).assert().code(2);
    unknown.stderr(contains("Did you mean 'memory'?"));
}

#[test]
fn an_explanation_names_the_levels_of_each_axis() {
    let place = Place::new();
    let explained = |what| {
        let explained = place.oscope(&["explain", what]).assert().success();
        let explained = &explained.get_output().stdout;
        // Long lines are wrapped.
        let words = String::from_utf8_lossy(explained);
        words.split_whitespace().collect::<Vec<_>>().join(" ")
    };
    let calls = explained("process.calls");
    assert!(calls.contains("call, named choices: "), "{calls}");
    assert!(
        calls.contains("; getpid; ") && calls.contains("; lseek; "),
        "{calls}"
    );
    let sizes = explained("memory.bandwidth");
    assert!(
        sizes.contains("block size, bytes: multiples of 1 KiB from "),
        "{sizes}"
    );
}

#[test]
fn the_charts_to_choose_from_have_a_line_each() {
    let place = with_a_report("pentium4-2003-linux");
    let charts = "  memory.levels_reported.throughput\n  memory.page_cost_reported.wall\n";
    let refused = place
        .oscope(&["plot", "memory"])
        .assert()
        .code(2)
        .stdout("");
    refused.stderr(format!(
        "oscope: memory has several charts; name one\n{charts}"
    ));
    let refused = place
        .oscope(&["plot", "threads"])
        .assert()
        .code(2)
        .stdout("");
    refused.stderr(
        contains("oscope: the run has no chart 'threads'; it has\n")
            .and(contains(charts.lines().next().expect("a line"))),
    );
    let only = place.oscope(&["plot", "process"]).assert().success();
    only.stdout(contains("<svg"));
}

#[cfg(target_os = "linux")]
#[test]
fn a_small_stack_is_enough() {
    let place = Place::new();
    let limited = |arguments: &[&str]| {
        let mut shell = assert_cmd::Command::new("sh");
        shell.args(["-c", "ulimit -s 64 && exec \"$0\" \"$@\""]);
        shell
            .arg(common::program())
            .arg("--store")
            .arg(&place.store);
        shell.args(arguments).current_dir(place.scratch());
        shell.timeout(std::time::Duration::from_mins(2));
        shell.assert().code(MEASURED)
    };
    limited(&["run", "process.calls", "--budget", "4s"]).stdout(contains("process.calls"));
    limited(&["show", "--all"]).stdout(contains("process.calls"));
    limited(&["report"]).stdout(contains("</html>"));
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
    place.oscope(&["show", "no-such-run"]).assert().code(1);
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
    let child = place
        .plain(&["explain", "memory", "file", "process"])
        .stdout(without_reader())
        .stderr(Stdio::piped())
        .spawn()
        .expect("the program starts");
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
    place.short_run().assert().code(MEASURED);
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
