//! `oscope delete` removes the named runs and nothing else.

use crate::common::{EXPORTED, LONG_RUN, Place, printed, wait_until};
use serde_json::Value;
use std::fs;

/// An environment with two runs in its store.
fn stored() -> Place {
    let place = Place::new();
    check!(place => "
        export reference:razer-blade-2020 --output $other.oscope.json | 0
        import {EXPORTED} $other.oscope.json | 0
    ");
    place
}

fn numbers(place: &Place) -> Vec<u64> {
    let runs = place.json("history --json");
    let runs = runs.as_array().expect("a list").iter();
    runs.filter_map(|run| run["number"].as_u64()).collect()
}

#[test]
fn nothing_is_removed_without_force_and_the_run_is_named() {
    let place = stored();
    let before = fs::read(&place.store).expect("the store");
    check!(place => "delete 1 | 2 | > | 2> nothing was removed | 2> run 1 (fixture");
    assert!(fs::read(&place.store).expect("the store") == before);
}

#[test]
fn the_named_run_is_removed_and_the_rest_stays() {
    let place = stored();
    let removed = printed(&mut place.line("delete fixture 1 --force"), "0");
    assert_eq!(removed.matches("removed run 1 (fixture").count(), 1);
    assert_eq!(numbers(&place), [2]);
    // The run can be imported again under another number.
    check!(place => "
        verify | 0
        import {EXPORTED} | 0
    ");
    let removed = place.json("delete 3 --force --json");
    assert_eq!(removed[0]["number"], 3);
    assert_eq!(removed[0]["id"], "0123456789abcdef0123456789abcdef");
}

#[test]
fn all_are_there_or_none_is_removed() {
    let place = stored();
    check!(place => "delete 1 nothing-like-it --force | 2");
    assert_eq!(numbers(&place).len(), 2);
    check!(Place::new() => "delete 1 --force | 1 | 2> there is no store at");
}

#[test]
fn a_run_under_way_is_kept_and_goes_on() {
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

#[test]
fn a_damaged_run_can_be_removed() {
    for change in [
        "UPDATE batches SET content = x'01' WHERE key = 1",
        "UPDATE runs SET started = 'yesterday' WHERE number = 1",
        "UPDATE machines SET content = '{' WHERE run = 1",
        "DELETE FROM machines WHERE run = 1",
    ] {
        let place = stored();
        place.change_store(change);
        check!(place => "
            verify | 1
            delete 1 --force | 0
            verify | 0
        ");
        assert_eq!(numbers(&place), [2], "{change}");
    }
}
