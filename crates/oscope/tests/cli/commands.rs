//! The commands as a user sees them.

use crate::common::{
    LARGE_BUDGET, MEASURED, Place, by_shell, ends, json, list, printed, scratch_files, signal,
    text, visit_each_point,
};
use instrument::experiment::Experiment;
use serde_json::Value;
use std::io::{BufRead, BufReader};
use std::process::Stdio;

#[test]
fn a_run_measures_stores_and_cleans_up() {
    let place = Place::new();
    check!(place => "
        run process.calls --at call=getpid --at call=lseek --budget {LARGE_BUDGET} --name first --tag a=b
            --dir $scratch --page $page.html
            | 0 | > process.calls | 2> at most 10 min | 2> page:
        history | 0 | > first
        show first process | 0 | > getpid
        show first memory | 2 | 2> the run has no 'memory'; it has process.calls
        claims first | 0 | > several times faster than a system call
            | > `oscope run memory.bandwidth` does
    ");
    assert!(scratch_files(&place.scratch()).is_empty());
    let page = place.read("page.html");
    assert!(page.contains("process.calls") && page.contains("<svg"));
    assert_eq!(place.json("history --json")[0]["name"], "first");
    // A busy machine may change the ruling, but a measured claim must be judged by its numbers.
    let claims = place.json("claims --json");
    let mut judged = list(&claims, "claims").iter().filter(|claim| {
        let because = claim["because"].as_str().expect("a reason");
        !because.contains("was not measured")
    });
    assert!(judged.any(|claim| claim["experiments"][0] == "process.calls"));
}

#[test]
fn a_run_in_json_holds_estimates_findings_and_the_machine() {
    let place = Place::new();
    let mut run = place.short_run();
    // No progress; a busy machine is warned about.
    let printed = printed(
        run.args(["--json", "--quiet", "--seed", "42"]),
        "0,1 | !2> pass",
    );
    let run = json(printed.as_bytes());
    let text = run.to_string();
    for part in ["process.calls", "interval", "finding", "machine", "seed"] {
        assert!(text.contains(part), "no {part} in {text}");
    }
    let shown = place.json("show --json");
    assert!(shown.to_string().contains("42"), "{shown}");
    let clock = &shown["surroundings"]["clock"];
    assert!(clock["cores"].is_array(), "{shown}");
    assert!(place.prints("show").contains("\nClock "));
}

#[test]
fn colours_are_given_to_whom_they_are_asked_for() {
    let place = Place::with_a_run();
    let shown = |when: &str| place.prints(&format!("show --all --color {when}"));
    let coloured = shown("always");
    assert!(coloured.contains("\u{1b}["), "{coloured}");
    for when in ["auto", "never"] {
        assert!(!shown(when).contains('\u{1b}'), "{when}");
    }
    check!(place => "show --color blue | 2");
}

#[test]
fn an_exported_run_comes_back_as_it_was() {
    let (place, elsewhere) = (Place::with_a_run(), Place::new());
    check!(place => "
        export --output $run.oscope.json | 0
        export --output $run.oscope.json | 1 | 2> --force
    ");
    let file = place.name("run.oscope.json");
    check!(elsewhere => "
        import {file} | 0
        show {file} | 0 | > process.calls
        import {file} | 1 | 2> already
    ");
    assert_eq!(place.json("show --json"), elsewhere.json("show --json"));
    let csv = place.prints("export --format csv");
    let lines = csv.lines().count();
    assert!(lines > 10 && csv.contains("process.calls"), "{csv}");
    let page = place.prints("report");
    assert!(page.starts_with("<!DOCTYPE html>") && page.trim_end().ends_with("</html>"));
    let needs_a_network = page.contains("http://") && !page.contains("http://www.w3.org/");
    assert!(!needs_a_network);
}

#[test]
fn printed_values_name_their_source_and_no_time_or_precision() {
    let place = Place::with_a_report("threads-linux");
    check!(place => "
        show threads-linux | 0 | > as printed in report D | > as printed. Their spread
            | !> 1970 | !> took 0 | !> known to
        report threads-linux -o $page.html | 0
    ");
    let text = place.read("page.html");
    let opening = text.split_once("</header>").expect("it has a header").0;
    assert!(!opening.contains("1970") && opening.contains("as printed in report D"));
}

#[test]
fn lists_and_explanations_name_every_experiment() {
    let place = Place::new();
    let all = place.prints("list");
    for id in experiments::all().map(Experiment::id) {
        assert!(all.contains(id), "{all}");
        check!(place => "explain {id} | 0 | > {id}");
    }
    let ids = |list: &Value| -> Vec<Value> {
        let list = list.as_array().expect("a list").iter();
        list.map(|it| it["id"].clone()).collect()
    };
    check!(place => "explain process.calls | 0 | > ; getpid; ");
    assert_eq!(ids(&place.json("list --json"))[0], "memory.bandwidth");
    let known = experiments::all().map(Experiment::id);
    let known: Vec<_> = known.filter(|id| id.starts_with("memory.")).collect();
    assert_eq!(ids(&place.json("list memory --json")), known);
    check!(place => "list memry | 2 | 2> Did you mean 'memory'?");
}

#[test]
fn completions_and_manual_pages_are_made_of_the_same_definition() {
    let place = Place::new();
    check!(place => "
        completions bash | 0 | > --budget
        man | 0 | > .TH oscope
        man --dir $share/man1 | 0
    ");
    assert!(place.path("share/man1/oscope-run.1").exists());
}

#[test]
fn the_doctor_examines_this_machine() {
    let place = Place::new();
    let checks = place.json("doctor --json --quiet");
    let mut checks = checks.as_array().expect("a list").iter();
    assert!(checks.clone().any(|check| check["subject"] == "rights"));
    assert!(checks.any(|check| check["subject"] == "clock"));
    check!(place => "doctor | 0 | > rights");
}

#[test]
fn an_empty_store_is_no_error_to_list_and_a_clear_one_to_show() {
    let place = Place::with_a_report("pentium4-2003-linux");
    check!(place => "
        delete 1 --force | 0
        show | 2 | 2> the store is empty
    ");
    assert_eq!(place.prints("history"), "No run has been stored yet.\n");
}

#[test]
fn an_experiment_in_place_of_a_run_is_that_of_the_newest_run() {
    let place = Place::with_a_report("pentium4-2003-linux");
    let named = place.prints("show latest process.calls");
    // A newer run without this experiment does not hide the one that has it.
    for newer in [false, true] {
        if newer {
            check!(place => "ab --runs 1 true true | 0");
        }
        assert_eq!(place.prints("show process.calls"), named);
        check!(place => "show process | 0 | > process.calls | > process.calls_reported");
    }
    check!(place => "
        show transfer | 2 | 2> the run has no 'transfer'; it has
        show process.cals | 2 | 2> there is no run 'process.cals'
    ");
    // A run of that name goes first.
    ends(place.short_run().args(["--name", "file"]), MEASURED);
    let shown = place.prints("show file");
    let names_it = |line: &str| line.split_whitespace().take(2).eq(["run", "file,"]);
    assert!(shown.lines().any(names_it), "{shown}");
}

#[test]
fn the_charts_to_choose_from_have_a_line_each() {
    let place = Place::with_a_report("pentium4-2003-linux");
    let charts = "  memory.levels_reported.throughput\n  memory.page_cost_reported.wall\n";
    let refused = ends(&mut place.line("plot memory"), "2 | >").stderr;
    let expected = format!("oscope: memory has several charts; name one\n{charts}");
    assert_eq!(String::from_utf8_lossy(&refused), expected);
    check!(place => "
        plot threads | 2 | > | 2> oscope: the run has no chart 'threads'; it has
            | 2> memory.levels_reported.throughput
        plot process.calls | 0 | > <svg
    ");
}

#[cfg(target_os = "linux")]
#[test]
fn a_small_stack_is_enough() {
    let place = Place::new();
    let limited = |arguments: &[&str], expected: &str| {
        let mut command = by_shell("ulimit -s 64 && exec \"$0\" \"$@\"", arguments);
        command.arg("--store").arg(&place.store);
        ends(command.current_dir(place.scratch()), expected);
    };
    let run = ["run", "process.calls", "--budget", "4s"];
    limited(&run, "0,1 | > process.calls");
    limited(&["show", "--all"], "0 | > process.calls");
    limited(&["report"], "0 | > </html>");
}

#[test]
fn wrong_words_get_a_suggestion() {
    check!(Place::new() => "
        run memory.bandwith    | 2 | 2> Did you mean 'memory.bandwidth'?
        exprot                 | 2 | 2> export
        run --budget ten       | 2 | 2> number
        run --budget 10        | 2 | 2> unit
        run --profile fast     | 2 | 2> quick
        run --tag novalue      | 2 | 2> KEY=VALUE
        run memory --remote /  | 2 | 2> oscope run file.remote --remote
        show no-such-run       | 1
    ");
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
fn advice_goes_to_people_and_programs_and_to_the_file_where_programs_look() {
    let place = Place::with_a_run();
    check!(place => "
        advise       | 0 | > What to set here | !> export
        advise --env | 2
    ");
    assert_eq!(place.json("advise --json")["format"], 1);
    let data = place.path("data");
    let mut save = place.line("advise --save");
    ends(save.env("XDG_DATA_HOME", &data), "0 | > advice.json");
    advice::load_from(&data.join("oscope/advice.json")).expect("what was kept is read again");
}

#[test]
fn the_group_threads_is_measured_and_drawn() {
    let place = Place::new();
    let mut run = place.line("run threads --json --dir $scratch --page $page.html");
    let run = json(&visit_each_point(&mut run).stdout);
    let experiments = list(&run, "experiments");
    assert_eq!(experiments.len(), 9);
    let page = place.read("page.html");
    // After one visit few points have an estimate.
    let is_sound = |point: &Value| {
        let mut estimates = list(point, "estimates").iter();
        estimates.all(|estimate| estimate["verdict"] == "sound")
    };
    let is_drawn = |experiment: &Value| {
        let mut points = list(experiment, "points").iter();
        experiment["id"] == "threads.inversion"
            && points.any(|of| of["levels"]["protocol"] == "inheritance" && is_sound(of))
    };
    if experiments.iter().any(is_drawn) {
        assert!(page.contains("With priority inheritance"), "a timeline");
    }
    if cfg!(any(target_arch = "x86_64", target_arch = "aarch64")) {
        for experiment in experiments {
            assert!(!list(experiment, "points").is_empty(), "{experiment}");
        }
    }
}
