//! Runs that stop before their end, and go on with `oscope run --resume`.

use crate::common::{LARGE_BUDGET, Place, end_by, ends, json, list, start, wait_until};
use serde_json::Value;
use testing::Process;

/// A run of ten passes, after its first measurement.
fn begun(place: &Place) -> Process {
    begun_with(place, "process.calls --at call=getpid")
}

fn begun_with(place: &Place, words: &str) -> Process {
    place.begun(&format!(
        "run {words} --no-page --budget {LARGE_BUDGET} --dir $scratch"
    ))
}

/// The first run, as it is stored.
fn stored(place: &Place) -> Value {
    check!(place => "export 1 --force -o $exported.json | 0");
    json(place.read("exported.json").as_bytes())
}

/// The batches of each point, by its experiment and levels.
fn batches(run: &Value) -> Vec<(String, Vec<Value>)> {
    let mut found = Vec::new();
    for experiment in list(&run["run"], "experiments") {
        for point in list(experiment, "points") {
            let name = format!("{} {}", experiment["definition"]["id"], point["point"]);
            found.push((name, list(point, "batches").to_vec()));
        }
    }
    assert!(!found.is_empty(), "the format of exported runs has changed");
    found
}

fn count(run: &Value) -> usize {
    batches(run).iter().map(|(_, batches)| batches.len()).sum()
}

fn budget(run: &Value) -> f64 {
    let budget = &run["run"]["header"]["budget_ns"];
    budget.as_f64().expect("a time")
}

/// Goes on with run 1, and checks that all that was stored before is still there.
fn resume(place: &Place) -> Value {
    let before = stored(place);
    check!(place => "run --resume 1 --no-page | 0 | > process.calls | 2> at most ");
    let after = stored(place);
    for ((name, old), (same, new)) in batches(&before).iter().zip(batches(&after)) {
        assert_eq!(*name, same);
        assert_eq!(old[..], new[..old.len()], "{name}");
    }
    assert!(count(&after) > count(&before));
    let only_the_rest_is_given = budget(&after) < 1.01 * budget(&before);
    assert!(only_the_rest_is_given);
    let header = &after["run"]["header"];
    assert_eq!(header["interrupted"], false);
    assert!(header["ended"].is_string());
    assert_eq!(header["id"], before["run"]["header"]["id"]);
    check!(place => "verify | 0");
    after
}

#[test]
fn after_ctrl_c_a_run_prints_how_to_go_on_and_goes_on() {
    let place = Place::new();
    let child = begun(&place);
    check!(place => "run --resume 1 --no-page | 2 | 2> may still be under way");
    let (output, _, stderr) = end_by("INT", child);
    assert_eq!(output.status.code(), Some(130));
    let command = format!("`oscope run --resume 1 --store {}`", place.store.display());
    assert!(stderr.contains(&command), "{stderr}");
    assert_eq!(stored(&place)["run"]["header"]["interrupted"], true);
    let whole = resume(&place);
    let passes = batches(&whole).into_iter().flat_map(|(_, batches)| batches);
    let mut passes: Vec<u64> = passes.filter_map(|batch| batch["pass"].as_u64()).collect();
    passes.sort_unstable();
    passes.dedup();
    assert_eq!(passes, (0..passes.len() as u64).collect::<Vec<_>>());
    assert!(passes.len() > 2, "{passes:?}");
    let runs = place.json("history --json");
    assert_eq!(runs.as_array().map(Vec::len), Some(1), "it is the same run");
}

#[test]
fn a_run_that_was_killed_goes_on_too() {
    let place = Place::new();
    end_by("KILL", begun(&place));
    assert!(stored(&place)["run"]["header"]["ended"].is_null());
    resume(&place);
}

#[test]
fn limits_hold_for_both_parts_together() {
    let used = |run: &Value, name: &str| {
        let used = &run["run"]["header"]["limited"]["used"];
        used[name].as_u64().expect("a number")
    };
    for (limits, name) in [
        ("written=1GiB", "KILL"),
        ("processor=50%,written=1GiB", "INT"),
    ] {
        let place = Place::new();
        let words = format!("process.calls --at call=getpid --limit {limits}");
        end_by(name, begun_with(&place, &words));
        let before = stored(&place);
        let after = resume(&place);
        assert!(used(&before, "written_bytes") > 0);
        for grows in ["wall_ns", "cpu_ns", "written_bytes"] {
            assert!(used(&after, grows) > used(&before, grows), "{grows}");
        }
        if limits.starts_with("processor") {
            let limits = &after["run"]["header"]["limited"]["limits"];
            assert_eq!(limits["processor_percent"], 50.0);
        }
    }
}

#[test]
fn a_run_with_relative_paths_goes_on_from_another_directory() {
    let place = Place::new();
    place.directory("there");
    let run = "run file.remote --no-page --remote there --dir scratch --budget";
    let mut run = place.line(&format!("{run} {LARGE_BUDGET}"));
    let child = start(run.current_dir(place.path("")));
    wait_until("its first sample", || place.samples() > 0);
    assert_eq!(end_by("INT", child).0.status.code(), Some(130));
    let before = stored(&place);
    let mut resume = place.line("run --resume 1 --budget 2s --no-page");
    ends(resume.current_dir("/"), "0,1 | 2> visits");
    assert!(count(&stored(&place)) > count(&before));
}

#[test]
fn a_run_cut_off_by_its_budget_gets_the_time_that_is_given() {
    let place = Place::new();
    check!(place => "
        run process --budget 1s --no-page --seed 3 --dir $scratch | 1 | 2> oscope run --resume 1
    ");
    let before = stored(&place);
    check!(place => "
        run --resume 1 --budget 4s --no-page | 0,1 | 2> quick profile: at most 4.0 s
    ");
    let after = stored(&place);
    assert!(count(&after) > count(&before) && budget(&after) > budget(&before));
    let seen = |run: &Value| batches(run).iter().filter(|it| !it.1.is_empty()).count();
    assert!(seen(&after) > seen(&before), "new points come first");
}
