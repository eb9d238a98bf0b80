//! A stored run is judged once: its analysis is kept with it, as long as neither it nor the code
//! changes.

use crate::common::Place;
use rusqlite::Connection;
use std::fs;

fn kept(place: &Place) -> Option<String> {
    let store = Connection::open(&place.store).expect("the store");
    let text = store.query_row("SELECT analysis FROM judgements", (), |row| row.get(0));
    text.ok()
}

#[test]
fn a_run_keeps_its_analysis_and_shows_the_same() {
    let place = Place::with_a_run();
    let first = kept(&place).expect("the run itself keeps it");
    // The commands that analyse a run.
    let outputs = || {
        [
            "show",
            "show --json",
            "show latest process.calls",
            "claims --json",
            "advise --json",
            "report --output -",
        ]
        .map(|command| place.prints(command))
    };
    let shown = outputs();
    assert_eq!(place.change_store("DELETE FROM judgements"), 1);
    // The first of these commands judges again; the others use what it keeps.
    assert_eq!(outputs(), shown);
    assert_eq!(kept(&place), Some(first));
    check!(place => "delete latest --force | 0");
    assert_eq!(kept(&place), None);
}

#[test]
fn an_analysis_that_is_damaged_or_by_other_code_is_made_again() {
    let place = Place::with_a_run();
    let shown = place.prints("show --json");
    let analysis = kept(&place);
    for change in [
        "UPDATE judgements SET code = 'other', analysis = '{}'",
        "UPDATE judgements SET analysis = replace(analysis, '1', '2')",
        "UPDATE judgements SET analysis = CAST(x'ff' AS TEXT)",
        "UPDATE judgements SET checksum = x'00'",
    ] {
        place.change_store(change);
        assert_eq!(place.prints("show --json"), shown, "{change}");
        assert_eq!(kept(&place), analysis, "{change}");
    }
}

/// The kept analysis must not hide damage of any row.
#[test]
fn a_run_that_is_damaged_after_it_was_judged_is_refused() {
    let whole = Place::with_a_run();
    assert!(kept(&whole).is_some());
    for damage in [
        "UPDATE batches SET content = CAST(content || x'00' AS BLOB) WHERE key = 1",
        "UPDATE batches SET checksum = NULL WHERE key = 1",
        "DELETE FROM batches WHERE key = 1",
        "UPDATE points SET content = replace(content, 'a', 'e') WHERE key = 1",
        "UPDATE runs SET content = replace(content, '\"seed\":', '\"seed\":1')",
        "UPDATE machines SET content = replace(content, ':1', ':2')",
    ] {
        let place = Place::new();
        fs::copy(&whole.store, &place.store).expect("a copy");
        assert!(place.change_store(damage) > 0, "{damage}");
        check!(place => "
            show   | 1 | 2> is damaged
            claims | 1 | 2> is damaged
            advise | 1 | 2> is damaged
            verify | 1
        ");
    }
}

#[test]
fn a_store_that_cannot_be_written_is_shown() {
    let mut place = Place::with_a_run();
    place.change_store("DELETE FROM judgements");
    let sealed = place.directory("sealed");
    fs::copy(&place.store, place.path("sealed/oscope.db")).expect("a copy");
    let read_only = |is: bool| {
        let mut rights = fs::metadata(&sealed).expect("there").permissions();
        rights.set_readonly(is);
        fs::set_permissions(&sealed, rights).expect("it is ours");
    };
    let shown = place.prints("show");
    place.store = place.path("sealed/oscope.db");
    read_only(true);
    let again = place.prints("show");
    read_only(false);
    assert_eq!(again, shown);
}
