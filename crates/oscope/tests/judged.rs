//! A stored run is judged once: its analysis is kept with it, as long as neither it nor the code
//! changes.

mod common;

use common::Place;
use predicates::str::contains;
use rusqlite::Connection;
use std::fs;

/// An environment with a recorded run in its store.
fn stored() -> Place {
    let place = Place::new();
    place.short_run().assert().success();
    place
}

fn in_store(place: &Place, change: &str) -> usize {
    let store = Connection::open(&place.store).expect("the store");
    store.execute(change, ()).expect("it can be changed")
}

fn kept(place: &Place) -> Option<String> {
    let store = Connection::open(&place.store).expect("the store");
    let text = store.query_row("SELECT analysis FROM judgements", (), |row| row.get(0));
    text.ok()
}

fn output(place: &Place, arguments: &[&str]) -> String {
    let done = place.oscope(arguments).assert().success();
    String::from_utf8(done.get_output().stdout.clone()).expect("text")
}

/// The output of each command that analyses a run.
fn outputs(place: &Place) -> Vec<String> {
    [
        &["show"][..],
        &["show", "--json"],
        &["show", "latest", "process.calls"],
        &["claims", "--json"],
        &["advise", "--json"],
        &["report", "--output", "-"],
    ]
    .map(|arguments| output(place, arguments))
    .into()
}

#[test]
fn a_run_keeps_its_analysis_and_shows_the_same() {
    let place = stored();
    let first = kept(&place).expect("the run itself keeps it");
    let shown = outputs(&place);
    assert_eq!(in_store(&place, "DELETE FROM judgements"), 1);
    // The first of these commands judges again; the others use what it keeps.
    assert_eq!(outputs(&place), shown);
    assert_eq!(kept(&place), Some(first));
}

#[test]
fn what_other_code_judged_is_judged_again() {
    let place = stored();
    let shown = output(&place, &["show", "--json"]);
    let analysis = kept(&place);
    in_store(
        &place,
        "UPDATE judgements SET code = 'other', analysis = '{}'",
    );
    assert_eq!(output(&place, &["show", "--json"]), shown);
    assert_eq!(kept(&place), analysis);
}

#[test]
fn a_damaged_analysis_is_made_again() {
    let place = stored();
    let shown = output(&place, &["show", "--json"]);
    let analysis = kept(&place);
    for damage in [
        "UPDATE judgements SET analysis = replace(analysis, '1', '2')",
        "UPDATE judgements SET analysis = CAST(x'ff' AS TEXT)",
        "UPDATE judgements SET checksum = x'00'",
    ] {
        in_store(&place, damage);
        assert_eq!(output(&place, &["show", "--json"]), shown, "{damage}");
        assert_eq!(kept(&place), analysis, "{damage}");
    }
}

/// The kept analysis must not hide damage of any row.
#[test]
fn a_run_that_is_damaged_after_it_was_judged_is_refused() {
    for damage in [
        "UPDATE batches SET content = CAST(content || x'00' AS BLOB) WHERE key = 1",
        "UPDATE batches SET checksum = NULL WHERE key = 1",
        "DELETE FROM batches WHERE key = 1",
        "UPDATE points SET content = replace(content, 'a', 'e') WHERE key = 1",
        "UPDATE runs SET content = replace(content, '\"seed\":', '\"seed\":1')",
        "UPDATE machines SET content = replace(content, ':1', ':2')",
    ] {
        let place = stored();
        assert!(kept(&place).is_some());
        assert!(in_store(&place, damage) > 0, "{damage}");
        for command in ["show", "claims", "advise"] {
            let refused = place.oscope(&[command]).assert().code(1);
            refused.stderr(contains("is damaged"));
        }
        place.oscope(&["verify"]).assert().code(1);
    }
}

#[test]
fn a_store_that_cannot_be_written_is_shown() {
    let mut place = stored();
    in_store(&place, "DELETE FROM judgements");
    let sealed = place.path("sealed");
    fs::create_dir(&sealed).expect("a directory");
    fs::copy(&place.store, sealed.join("oscope.db")).expect("a copy");
    let read_only = |is: bool| {
        let mut rights = fs::metadata(&sealed).expect("there").permissions();
        rights.set_readonly(is);
        fs::set_permissions(&sealed, rights).expect("it is ours");
    };
    let shown = output(&place, &["show"]);
    place.store = sealed.join("oscope.db");
    read_only(true);
    let again = output(&place, &["show"]);
    read_only(false);
    assert_eq!(again, shown);
}

#[test]
fn a_deleted_run_takes_its_analysis_along() {
    let place = stored();
    place
        .oscope(&["delete", "latest", "--force"])
        .assert()
        .success();
    assert_eq!(kept(&place), None);
}
