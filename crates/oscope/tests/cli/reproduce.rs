//! `oscope reproduce`, and `oscope run` at levels that are not planned, as a user sees them.

use crate::common::{Place, list};
use serde_json::Value;

/// The points of the newest run, as their levels.
fn levels(place: &Place, experiment: &str) -> Vec<Value> {
    let shown = place.json(&format!("show latest {experiment} --json"));
    let mut experiments = list(&shown, "experiments").iter();
    let experiment = experiments.find(|it| it["id"] == experiment);
    let points = list(experiment.expect("it was measured"), "points").iter();
    points.map(|point| point["levels"].clone()).collect()
}

#[test]
fn without_a_store_everything_is_accounted_for_and_nothing_is_decided() {
    let place = Place::new();
    let document = place.json("reproduce --all --json");
    let tables = list(&document, "tables").iter();
    let figures: usize = tables.map(|it| list(it, "figures").len()).sum();
    assert_eq!(document["figures"]["undecided"], figures);
    assert!(figures > 400, "{figures}");
    check!(place => "reproduce --list | 0 | > Figure 22 | > {figures} figures");
}

#[test]
fn a_table_and_claims_are_judged_by_all_runs_together() {
    let place = Place::new();
    check!(place => "
        claims --all | 1 | 2> there is no store
        run process.calls --at call=getpid     --budget 2s --no-page --dir $scratch | 0
        run process.calls --at call=malloc+free --budget 2s --no-page --dir $scratch | 0
    ");
    // The latest run alone has no system call that malloc could be compared with.
    let by = |command: &str| {
        let document = place.json(command);
        let mut claims = list(&document, "claims").iter();
        let claim = claims.find(|it| it["key"] == "malloc_needs_no_system_call");
        claim.expect("it is judged")["because"].to_string()
    };
    assert!(by("claims --json").contains("missing"));
    assert!(by("claims --all --json").contains("as many"));
    let document = place.json("reproduce E Figure 26 --json");
    let tables = list(&document, "tables");
    assert_eq!(tables.len(), 1);
    let is_getpid = |it: &Value| it["what"] == "Getpid" && it["printed"] == "1.486661667";
    let mut figures = list(&tables[0], "figures").iter();
    assert!(figures.any(|it| it["here"].is_number() && is_getpid(it)));
    let commands = list(&document, "commands");
    let measures = |words: &Value| words[1] == "process.calls";
    assert!(commands.iter().any(measures), "{commands:?}");
    check!(place => "
        reproduce e 'fig 26' --of latest --output $figure.md | 0
        reproduce e 'fig 26' --output $figure.html           | 0
        reproduce e 'fig 26' --output $figure.html           | 1,2 | 2> --force
    ");
    for (file, part) in [("figure.md", "| as reported |"), ("figure.html", "<svg")] {
        let text = place.read(file);
        let is_whole = text.contains("1.486661667 million/s") && text.contains(part);
        assert!(is_whole, "{text}");
    }
}

#[test]
fn a_table_that_is_not_measured_yet_is_measured_first() {
    check!(Place::new() => "
        reproduce D Test --dir . --run | 2 | 2> --list
        reproduce E 'Figure 26' --run --dir $scratch | 0 | > 24 figures | !> not measured here yet
    ");
}

#[test]
fn a_level_that_is_not_planned_is_measured_alone() {
    let place = Place::new();
    check!(place => "
        run threads.lock --at threads=7 --at body=simple --at lock=SpinLock --budget 2s --no-page
            --dir $scratch | 0
    ");
    let found = levels(&place, "threads.lock");
    assert_eq!(found.len(), 1, "{found:?}");
    assert_eq!(found[0]["threads"], 7);
    check!(place => "run file.call --file-size 12KiB --budget 2s --no-page --dir $scratch | 0");
    let found = levels(&place, "file.call");
    let are_of_this_size = found.iter().all(|it| it["file_size"] == 12288);
    assert!(found.len() == 2 && are_of_this_size, "{found:?}");
}

#[test]
fn a_level_that_an_axis_does_not_have_is_refused() {
    let place = Place::new();
    check!(place => "
        run threads.lock --at lock=none --dir $scratch      | 2 | 2> it takes Lock
        run threads.lock --at threads=0 --dir $scratch      | 2 | 2> from 1 to 999
        run threads.lock --at colour=red --dir $scratch     | 2
            | 2> the axes are body, lock, threads
        run process.calls --file-size 4GiB --dir $scratch   | 2 | 2> no axis 'file_size'
        run threads.lock --at threads --dir $scratch        | 2 | 2> AXIS=LEVEL
    ");
    assert!(place.names("scratch").is_empty());
}
