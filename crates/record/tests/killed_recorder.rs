//! A recorder that is killed loses nothing that it acknowledged.
//!
//! The test plays both roles, so it has its own `main`: if the environment names a store, it is the
//! recorder.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

mod common;

use common::{batch, begun, definition, start, take};
use instrument::point::Point;
use oscope_record::Proof;
use oscope_record::store::{RunSelector, Store};
use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::Stdio;
use testing::Command;

/// Environment variable with the path of the recorder's store.
const STORE: &str = "OSCOPE_TEST_KILLED_STORE";

fn main() {
    if let Some(path) = std::env::var_os(STORE) {
        record(&PathBuf::from(path));
    }
    for acknowledged in [0, 1, 7, 100, 1000] {
        kill_after(acknowledged);
    }
    println!("a killed recorder lost nothing");
}

/// Records forever and prints a line after each batch.
fn record(path: &Path) -> ! {
    let mut store = Store::open(path).unwrap();
    let mut recorder = store.begin(&begun(1)).unwrap();
    let definition = definition("file.block_size");
    let point = Point::new();
    start(&mut recorder, &definition, std::slice::from_ref(&point));
    let mut output = std::io::stdout();
    let mut index = 0;
    loop {
        writeln!(output, "{index}").unwrap();
        output.flush().unwrap();
        take(&mut recorder, &definition, &point, &batch(index)).unwrap();
        index += 1;
    }
}

fn kill_after(acknowledged: usize) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("oscope.db");
    let mut recorder = Command::new(std::env::current_exe().unwrap())
        .env(STORE, &path)
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut lines = BufReader::new(recorder.stdout.take().unwrap()).lines();
    let mut said = 0;
    for line in lines.by_ref() {
        // The number of batches recorded before the line was printed.
        said = line.unwrap().parse().unwrap();
        if said == acknowledged {
            break;
        }
    }
    recorder.kill().unwrap();
    recorder.wait().unwrap();
    // Output from before its death; the last line may be cut off.
    said = lines
        .map_while(|line| line.ok()?.parse().ok())
        .last()
        .unwrap_or(said);

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
