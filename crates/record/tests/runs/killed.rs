//! A recorder that is killed loses nothing that it acknowledged.

use crate::common::{batch, begun, definition, start, take};
use instrument::point::Point;
use oscope_record::Proof;
use oscope_record::store::{RunSelector, Store};
use std::io::{BufRead, BufReader};
use std::path::PathBuf;
use std::process::Stdio;
use testing::Command;

/// Set in the process that records, to the path of its store.
const STORE: &str = "OSCOPE_TEST_KILLED_STORE";

/// The body of the recorder's process: records forever, and prints a line before each batch.
#[test]
fn recording() {
    let Some(path) = std::env::var_os(STORE) else {
        return;
    };
    let mut store = Store::open(&PathBuf::from(path)).unwrap();
    let mut recorder = store.begin(&begun(1)).unwrap();
    let definition = definition("file.block_size");
    let point = Point::new();
    start(&mut recorder, &definition, std::slice::from_ref(&point));
    for index in 0.. {
        println!("recorded: {index}");
        take(&mut recorder, &definition, &point, &batch(index)).unwrap();
    }
}

#[test]
fn a_killed_recorder_loses_nothing_that_it_acknowledged() {
    for acknowledged in [0, 1, 7, 100, 1000] {
        kill_after(acknowledged);
    }
}

fn kill_after(acknowledged: usize) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("oscope.db");
    let mut recorder = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "killed::recording", "--nocapture"])
        .env(STORE, &path)
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    // Each line has the number of batches recorded before. The last one may be cut off.
    let lines = BufReader::new(recorder.stdout.take().unwrap()).split(b'\n');
    let numbers = lines.filter_map(|line| {
        let line = String::from_utf8(line.unwrap()).unwrap();
        line.split_once("recorded: ")?.1.parse().ok()
    });
    let mut numbers = numbers.into_iter();
    let reached = numbers.find(|number| *number == acknowledged);
    recorder.kill().unwrap();
    recorder.wait().unwrap();
    let said = numbers.last().or(reached).unwrap();

    let store = Store::open_read_only(&path).unwrap();
    let found = store.verify(None).unwrap();
    assert!(!found.has_damage(), "{found:?}");
    assert_eq!(found.runs[0].proof, Proof::Proven);
    assert_eq!(store.unfinished().unwrap().len(), 1);
    let run = store.run(&RunSelector::Latest).unwrap();
    assert_eq!(run.header, begun(1).header);
    let batches = &run.experiments[0].points[0].batches;
    // One more batch may be recorded but not yet acknowledged.
    assert!(
        (said..=said + 1).contains(&batches.len()),
        "{} of {said}",
        batches.len()
    );
    for (index, taken) in batches.iter().enumerate() {
        assert_eq!(*taken, batch(index as u64));
    }
    drop(store);

    let mut store = Store::open(&path).unwrap();
    let recorder = store.begin(&begun(2)).unwrap();
    recorder.finish(false).unwrap();
    assert_eq!(store.runs().unwrap().len(), 2);
}
