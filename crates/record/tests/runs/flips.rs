//! A store or an exported file with a single flipped bit, or cut short: each run is either refused
//! or unchanged.
//!
//! `OSCOPE_FLIPS=100000 cargo test --release -p oscope-record --test runs flips` runs a long campaign;
//! `OSCOPE_FLIPS_SEED` sets its seed.

use crate::common::{batch, complete, definition, exported};
use instrument::point::Point;
use instrument::runner::Ending;
use instrument::statistics::random::Random;
use oscope_record::store::{Error, HistoryQuery, HistoryRun, Store};
use oscope_record::{Closing, ExperimentRecord, PointRecord, Run, file};
use std::fs;
use std::path::Path;

/// Number of damaged copies of each kind to try.
fn copies() -> usize {
    environment("OSCOPE_FLIPS").unwrap_or(400)
}

fn random() -> Random {
    Random::new(environment("OSCOPE_FLIPS_SEED").unwrap_or(1) as u64)
}

fn environment(name: &str) -> Option<usize> {
    std::env::var(name).ok()?.parse().ok()
}

/// A run with many batches, so that most of its bytes are samples.
fn large(id: u128) -> Run {
    let mut run = complete(id);
    for name in ["process.calls", "memory.latency"] {
        let points = (0..6_u64).map(|index| PointRecord {
            point: Point::new()
                .with("operation", "read")
                .with("block_size", 4096 << index),
            batches: (0..5).map(|number| batch(10 * index + number)).collect(),
            closing: (index != 3).then(|| Closing {
                ending: Ending::BudgetUsed,
                warnings: Vec::new(),
            }),
        });
        run.experiments.push(ExperimentRecord {
            definition: definition(name),
            skipped: None,
            points: points.collect(),
        });
    }
    run
}

/// The bytes of a store with runs 1 to 3, and the runs.
fn store(folder: &Path) -> (Vec<u8>, Vec<Run>) {
    let path = folder.join("whole.db");
    let runs = vec![complete(1), large(2), large(3)];
    let mut store = Store::open(&path).unwrap();
    for run in &runs {
        store.insert(run).unwrap();
    }
    drop(store);
    (fs::read(&path).unwrap(), runs)
}

fn flip(bytes: &[u8], random: &mut Random) -> (Vec<u8>, String) {
    let (at, bit) = (random.below(bytes.len()), random.below(8));
    let mut flipped = bytes.to_vec();
    flipped[at] ^= 1 << bit;
    (flipped, format!("bit {bit} of byte {at}"))
}

fn cut(bytes: &[u8], random: &mut Random) -> (Vec<u8>, String) {
    let length = random.below(bytes.len());
    (bytes[..length].to_vec(), format!("{length} bytes of it"))
}

/// Everything that a damaged store returned.
struct Returned {
    runs: Vec<Option<Run>>,
    history: Option<Vec<HistoryRun>>,
    has_found: bool,
}

fn read(bytes: &[u8], folder: &Path) -> Returned {
    // The log and its index belong to the previous copy.
    let path = folder.join("damaged.db");
    for left in ["damaged.db-wal", "damaged.db-shm"] {
        let _ = fs::remove_file(folder.join(left));
    }
    fs::write(&path, bytes).unwrap();
    let Ok(store) = Store::open_read_only(&path) else {
        return Returned {
            runs: vec![None; 3],
            history: None,
            has_found: true,
        };
    };
    let run = |number: &str| store.run(&number.parse().unwrap()).ok();
    let query = HistoryQuery {
        fingerprint: "0123456789abcdef",
        experiment: "process.calls",
        metric: None,
        limit: 10,
    };
    let mut history = Vec::new();
    let read = store.history(&query, |_| true, |run| history.push(run));
    Returned {
        runs: ["1", "2", "3"].into_iter().map(run).collect(),
        history: read.is_ok().then_some(history),
        has_found: match store.verify(None) {
            Ok(found) => found.has_damage(),
            Err(error) => matches!(error, Error::Damaged { .. }),
        },
    }
}

/// Compares what a damaged copy of the store returned with the intact store.
fn is_whole_or_refused(found: &Returned, runs: &[Run], whole: &Returned, place: &str) {
    for (read, run) in found.runs.iter().zip(runs) {
        assert!(read.as_ref().is_none_or(|read| read == run), "{place}");
    }
    let known = whole.history.as_ref().unwrap();
    for run in found.history.iter().flatten() {
        assert!(
            known.contains(run),
            "{place}: the history of {}",
            run.number
        );
    }
    let is_whole = found.runs.iter().all(Option::is_some);
    assert!(is_whole || found.has_found, "{place}: nothing was found");
}

/// Flips a bit, or cuts off the end of each fourth copy.
fn damage(bytes: &[u8], copy: usize, random: &mut Random) -> (Vec<u8>, String) {
    let damage = if copy.is_multiple_of(4) { cut } else { flip };
    damage(bytes, random)
}

#[test]
fn a_store_with_one_wrong_bit_or_cut_short_never_gives_another_run() {
    let folder = tempfile::tempdir().unwrap();
    let (bytes, runs) = store(folder.path());
    let whole = read(&bytes, folder.path());
    assert!(!whole.has_found && whole.runs.iter().flatten().eq(&runs));
    let mut random = random();
    let mut refused = 0;
    for copy in 0..copies() {
        let (damaged, place) = damage(&bytes, copy, &mut random);
        let found = read(&damaged, folder.path());
        is_whole_or_refused(&found, &runs, &whole, &place);
        refused += usize::from(found.runs.iter().any(Option::is_none));
    }
    println!("{refused} of {} made a run unreadable", copies());
    assert!(refused > copies() / 4, "{refused}");
}

#[test]
fn a_file_with_one_wrong_bit_or_cut_short_never_gives_another_run() {
    let run = large(1);
    let bytes = exported(&run);
    let mut random = random();
    let mut refused = 0;
    for copy in 0..copies() {
        let (damaged, place) = damage(&bytes, copy, &mut random);
        match file::import(damaged.as_slice()) {
            Ok(read) => assert!(read == run, "{place}"),
            Err(_) => refused += 1,
        }
    }
    println!("{refused} of {} damaged files were refused", copies());
    assert!(refused > copies() / 2, "{refused}");
}
