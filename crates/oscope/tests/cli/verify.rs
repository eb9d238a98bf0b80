//! Runs that are damaged or have no checksums: the output of `oscope verify`, and that no command
//! uses a damaged run.

use crate::common::{EXPORTED, Place, UNPROVEN, ends, in_six_passes, json, printed};
use serde_json::json;
use std::fs;

/// Changes a sample of the stored run.
fn damage(place: &Place) {
    let change = "UPDATE batches SET content = CAST(content || x'00' AS BLOB) WHERE key = 2";
    place.change_store(change);
}

/// An exported file with one changed digit in a sample.
fn damaged_file(place: &Place) -> String {
    let text = fs::read_to_string(EXPORTED).expect("a run");
    assert!(text.contains("\"wall_ns\":[2000000]"));
    let changed = text.replacen("\"wall_ns\":[2000000]", "\"wall_ns\":[2000001]", 1);
    place.file("damaged.oscope.json", changed)
}

#[test]
fn a_whole_store_is_proven_or_unproven_and_both_are_done() {
    let found = Place::with(EXPORTED).json("verify --json");
    assert_eq!(found["damaged"], false);
    assert_eq!(found["structure"], json!([]));
    assert_eq!(found["runs"][0]["proof"], "proven");
    let place = Place::with(UNPROVEN);
    check!(place => "
        verify latest          | 0 | > unproven | > without checksums
        verify nothing-like-it | 2
    ");
}

#[test]
fn exported_files_are_verified_as_well() {
    let place = Place::new();
    let damaged = damaged_file(&place);
    let bytes = fs::read(EXPORTED).expect("a run");
    place.file("cut.oscope.json", &bytes[..bytes.len() / 2]);
    check!(place => "
        verify {EXPORTED} | 0 | > is proven
        verify {UNPROVEN} | 0 | > is unproven
        verify {damaged}  | 1
            | > batch 0 of file.block_size at (operation=read, block_size=4096)
        verify $cut.oscope.json | 1 | > unreadable | > cut off
    ");
    let mut verify = place.oscope(&["verify", "--json", &damaged]);
    let found = json(printed(&mut verify, "1").as_bytes());
    assert_eq!(found["proof"], "damaged");
    assert_eq!(found["parts"][0]["part"], "batch");
    assert_eq!(found["parts"][0]["batch"], 0);
}

#[test]
fn damage_in_the_store_is_reported_with_its_place() {
    let place = Place::with(EXPORTED);
    damage(&place);
    check!(place => "verify | 1 | > damaged | > batch 1 of file.block_size");
    let found = printed(&mut place.line("verify --json"), "1");
    let found = json(found.as_bytes());
    assert_eq!(found["damaged"], true);
    let run = &found["runs"][0];
    assert_eq!(run["proof"], "damaged");
    assert_eq!(run["parts"][0]["experiment"], "file.block_size");
}

#[test]
fn no_command_uses_a_damaged_run() {
    let place = Place::with(EXPORTED);
    damage(&place);
    for command in [
        "show",
        "show --json",
        "claims",
        "advise",
        "report",
        "export",
        "export --format csv",
        "plot file.block_size --output $chart.svg",
        &format!("compare 1 {UNPROVEN}"),
        &format!("compare {UNPROVEN} 1"),
    ] {
        check!(place => "{command} | 1 | > | 2> run 1 in the store | 2> damaged");
    }
    assert!(!place.path("chart.svg").exists());
    let file = damaged_file(&place);
    for command in ["show", "import", "report"] {
        check!(place => "{command} {file} | 1 | > | 2> is damaged");
    }
}

#[test]
fn a_history_leaves_a_damaged_run_out_and_says_so() {
    let place = Place::with(EXPORTED);
    let other = fs::read_to_string(UNPROVEN).expect("a run");
    let other = in_six_passes(&other, &"f".repeat(32));
    place.file("other.oscope.json", other);
    check!(place => "import $other.oscope.json | 0");
    damage(&place);
    let mut history = place.line("history file.block_size.read --json");
    let histories = printed(&mut history, "1 | 2> run 1 in the store");
    let histories = json(histories.as_bytes());
    assert_eq!(histories[0]["damaged"], 1);
    for history in histories.as_array().expect("a list") {
        for run in history["runs"].as_array().expect("a list") {
            assert_eq!(run["run"], 2);
        }
    }
}

#[test]
fn a_damaged_run_is_replaced_by_an_import() {
    let place = Place::with(EXPORTED);
    damage(&place);
    // An undamaged run is not imported again.
    check!(place => "
        verify | 1
        import {EXPORTED} | 0 | 2> is run 2
        verify | 0
        show 2 | 0
        import {EXPORTED} | 1 | 2> in the store already
    ");
}

#[test]
fn a_store_of_another_version_is_refused_with_advice_and_left_as_it_is() {
    for version in [1, 7, 99] {
        let place = Place::with(EXPORTED);
        place.change_store(&format!("PRAGMA user_version = {version}"));
        let before = fs::read(&place.store).expect("the store");
        for command in ["show", "verify", "history", &format!("import {EXPORTED}")] {
            check!(place => "{command} | 1 | > | 2> has schema {version} | 2> --store FILE");
        }
        ends(&mut place.short_run(), "1 | 2> --store FILE");
        assert!(fs::read(&place.store).expect("the store") == before);
    }
}

/// Changes the list of runs like a failing disk: the store has two, and the second is the latest.
fn with_damaged_entry(change: &str) -> Place {
    let place = Place::with(EXPORTED);
    let text = fs::read_to_string(UNPROVEN).expect("a run");
    let text = text.replacen("0123456789abcdef0123", "fedcba98765432100123", 1);
    let text = text.replacen("2026-03-01T12:00:00", "2026-03-01T11:00:00", 1);
    place.file("other.oscope.json", text);
    check!(place => "
        import $other.oscope.json | 0
        show latest | 0
    ");
    place.change_store(change);
    place
}

#[test]
fn the_list_of_runs_marks_an_entry_that_is_damaged() {
    for change in [
        "UPDATE runs SET name = 'other' WHERE number = 1",
        "UPDATE runs SET started = '2025-03-01T12:00:00.500000000Z' WHERE number = 1",
        "UPDATE runs SET samples = 7 WHERE number = 1",
        "UPDATE runs SET fingerprint = 'x' WHERE number = 1",
    ] {
        let place = with_damaged_entry(change);
        let mut history = place.line("history --json");
        let listed = printed(&mut history, "1 | 2> entry of run 1 in the list");
        let listed = json(listed.as_bytes());
        let mut runs = listed.as_array().expect("a list").iter();
        let first = runs.find(|run| run["number"] == 1).expect("it is listed");
        assert_eq!(first["damaged"], true, "{change}");
        check!(place => "
            history  | 1 | > damaged
            verify 1 | 1
        ");
    }
}

/// The start time of any run might be the wrong one.
#[test]
fn the_latest_run_is_not_guessed() {
    for change in [
        "UPDATE runs SET started = '2025-03-01T12:00:00.500000000Z' WHERE number = 1",
        "UPDATE runs SET started = 'yesterday' WHERE number = 1",
    ] {
        let place = with_damaged_entry(change);
        for command in ["show", "export", "report", "verify"] {
            check!(place => "{command} latest | 1 | > | 2> the latest run is unknown");
        }
        check!(place => "
            show 2 | 0
            delete 1 --force | 0
            show latest | 0
        ");
    }
}
