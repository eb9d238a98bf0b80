//! Checksums are bound to their position: any change, loss, repetition or swap is detected.

use crate::common::{
    assert_matches, batch, begun, change, complete, definition, document, exported, new_store,
    replay, start, stored, take,
};
use instrument::point::Point;
use oscope_record::file::ImportError;
use oscope_record::store::{Error, HistoryQuery, RunSelector, Store};
use oscope_record::{Part, Proof, file};
use rusqlite::Connection;
use std::path::Path;

/// The result of verifying the first run.
fn found(path: &Path) -> Proof {
    let store = Store::open_read_only(path).unwrap();
    store.verify(None).unwrap().runs.remove(0).proof
}

/// Changes of the first run, and under each the parts that it damages.
const CHANGES: &str = r#"
UPDATE runs SET name = 'x' WHERE number = 1
  its entry in the list of runs
UPDATE runs SET content = replace(content, 'proven":true', 'proven":false') WHERE number = 1
  its header or its list of experiments; its entry in the list of runs
UPDATE machines SET content = replace(content, '21.4', '21.5') WHERE run = 1
  the description of its machine
UPDATE runs SET samples = 9 WHERE number = 1
  its entry in the list of runs
UPDATE runs SET full_speeds = '[]' WHERE number = 1
  its entry in the list of runs
UPDATE points SET wall_ns = 1 WHERE key = 1
  its counts in the lists of runs and points
UPDATE runs SET listing_checksum = NULL WHERE number = 1
  its entry in the list of runs
UPDATE experiments SET content = replace(content, 'root', 'king') WHERE key = 2
  the description of memory.bandwidth or its list of points
UPDATE points SET content = replace(content, 'target_reached', 'budget_used') WHERE key = 1
  the record of file.block_size at (operation=read, block_size=4096) or its list of batches
UPDATE points SET content = replace(content, '"not_warm",', '') WHERE key = 1
  the record of file.block_size at (operation=read, block_size=4096) or its list of batches
UPDATE batches SET content = (SELECT content FROM batches WHERE key = 1) WHERE key = 2
  batch 1 of file.block_size at (operation=read, block_size=4096)
-- The checksum itself.
UPDATE batches SET checksum = zeroblob(32) WHERE key = 1
  the record of file.block_size at (operation=read, block_size=4096) or its list of batches; batch 0 of file.block_size at (operation=read, block_size=4096)
UPDATE runs SET checksum = NULL WHERE number = 1
  its header or its list of experiments
-- Dropped, including the last one.
DELETE FROM batches WHERE key = 2; UPDATE runs SET samples = 4 WHERE number = 1
  the record of file.block_size at (operation=read, block_size=4096) or its list of batches; its entry in the list of runs
DELETE FROM experiments WHERE key = 2; UPDATE runs SET experiments = 1 WHERE number = 1
  its header or its list of experiments; its entry in the list of runs
DELETE FROM points WHERE key = 2; UPDATE runs SET points = 1 WHERE number = 1
  the description of file.block_size or its list of points; its entry in the list of runs
-- Swapped within the point, repeated, and with another run.
UPDATE batches SET position = 7 WHERE key = 1; UPDATE batches SET position = 0 WHERE key = 2; UPDATE batches SET position = 1 WHERE key = 1
  the record of file.block_size at (operation=read, block_size=4096) or its list of batches
INSERT INTO batches (point, position, checksum, content) SELECT point, 2, checksum, content FROM batches WHERE key = 1
  the record of file.block_size at (operation=read, block_size=4096) or its list of batches
UPDATE batches SET position = position + 7; UPDATE batches SET point = 1, position = 0 WHERE key = 4; UPDATE batches SET point = 3, position = 0 WHERE key = 1; UPDATE batches SET position = 1 WHERE key = 2
  the record of file.block_size at (operation=read, block_size=4096) or its list of batches"#;

/// The damaged parts of the first run.
fn damaged(path: &Path) -> String {
    let Proof::Damaged { parts } = found(path) else {
        return String::new();
    };
    let parts: Vec<String> = parts.iter().map(Part::to_string).collect();
    parts.join("; ")
}

#[test]
fn each_change_is_named_with_its_place() {
    let mut sql = String::new();
    for line in CHANGES.lines() {
        let Some(parts) = line.strip_prefix("  ") else {
            sql = line.into();
            continue;
        };
        let (_folder, path) = stored(2);
        assert_eq!(found(&path), Proof::Proven);
        change(&path, &sql);
        assert_eq!(damaged(&path), parts, "{sql}");

        let store = Store::open_read_only(&path).unwrap();
        let read = store.run(&"1".parse().unwrap());
        let in_lists_only = [Part::Listing, Part::Counts].map(|part| part.to_string());
        if in_lists_only.contains(&parts.into()) {
            read.unwrap();
        } else {
            let error = read.unwrap_err();
            assert_matches!(error, Error::DamagedRun { number: 1, .. }, sql);
        }
    }
}

#[test]
fn a_history_leaves_out_the_damaged_run_and_says_so() {
    let query = HistoryQuery {
        fingerprint: "0123456789abcdef",
        experiment: "file.block_size",
        metric: Some("latency"),
        limit: 9,
    };
    for sql in [
        "UPDATE batches SET content = CAST(content || x'00' AS BLOB) WHERE key = 2",
        "UPDATE runs SET started = '2027-03-01T12:00:00.5Z' WHERE number = 1",
        "UPDATE runs SET content = replace(content, '2026', '2027') WHERE number = 1",
        "UPDATE experiments SET content = replace(content, 'read', 'load') WHERE key = 1",
        "DELETE FROM batches WHERE key = 2",
        "DELETE FROM points WHERE key = 2",
    ] {
        let (_folder, path) = stored(2);
        change(&path, sql);
        let store = Store::open_read_only(&path).unwrap();
        let mut numbers = Vec::new();
        let left_out = store
            .history(&query, |_| true, |run| numbers.push(run.number))
            .unwrap();
        assert_eq!(numbers, [2], "{sql}");
        assert_matches!(
            left_out.as_slice(),
            [Error::DamagedRun { number: 1, .. }],
            sql
        );
    }
}

#[test]
fn a_run_that_was_cut_off_is_proven_up_to_its_last_event() {
    let (_folder, path, mut store) = new_store();
    let mut recorder = store.begin(&begun(1)).unwrap();
    assert_eq!(found(&path), Proof::Proven);
    replay(&complete(1), &mut recorder).unwrap();
    assert_eq!(found(&path), Proof::Proven);
    let definition = definition("process.calls");
    let points = [Point::new()];
    start(&mut recorder, &definition, &points);
    for index in 0..3 {
        take(&mut recorder, &definition, &points[0], &batch(index)).unwrap();
        assert_eq!(found(&path), Proof::Proven);
    }
    drop(recorder);
    assert_eq!(found(&path), Proof::Proven);
}

#[test]
fn an_exported_file_has_the_checksums_of_the_store_however_it_is_laid_out() {
    let (_folder, path) = stored(2);
    let document = document(&complete(0));
    let plain = Connection::open(&path).unwrap();
    let in_store = |sql: &str| {
        plain
            .query_row(sql, [], |row| row.get::<_, String>(0))
            .unwrap()
    };
    assert_eq!(
        document["checksums"]["run"],
        in_store("SELECT lower(hex(checksum)) FROM runs WHERE number = 1")
    );
    assert_eq!(
        document["checksums"]["experiments"][0]["points"][0]["batches"][1],
        in_store("SELECT lower(hex(checksum)) FROM batches WHERE key = 2")
    );
    let laid_out = format!("{document:#}");
    assert_eq!(file::import(laid_out.as_bytes()).unwrap(), complete(0));
}

#[test]
fn a_run_without_checksums_stays_unproven_wherever_it_goes() {
    let mut lacking = document(&complete(1));
    lacking.as_object_mut().unwrap().remove("checksums");
    let lost = file::import(lacking.to_string().as_bytes()).unwrap_err();
    assert_matches!(lost, ImportError::NoChecksums);
    lacking["run"]["header"]["proven"] = false.into();
    let run = file::import(lacking.to_string().as_bytes()).unwrap();
    assert!(!run.header.proven);

    let (_folder, path, mut store) = new_store();
    store.insert(&run).unwrap();
    assert_eq!(found(&path), Proof::Unproven);
    let stored = store.run(&RunSelector::Latest).unwrap();
    let again = file::import(exported(&stored).as_slice()).unwrap();
    assert!(!again.header.proven);

    // From now on, damage to the run is detected.
    change(&path, "UPDATE batches SET content = x'01' WHERE key = 1");
    assert_eq!(
        damaged(&path),
        "batch 0 of file.block_size at (operation=read, block_size=4096)"
    );
}

#[test]
fn rows_that_belong_to_nothing_are_found() {
    let (_folder, path) = stored(2);
    change(
        &path,
        "PRAGMA foreign_keys = OFF; DELETE FROM points WHERE key = 1",
    );
    let store = Store::open_read_only(&path).unwrap();
    let found = store.verify(Some(&"2".parse().unwrap())).unwrap();
    assert_eq!(found.runs.len(), 1);
    assert_eq!(found.runs[0].proof, Proof::Proven);
    assert_eq!(
        found.structure,
        ["rows of batches that belong to nothing: 2"]
    );
    assert!(found.has_damage());
}
