//! Files of earlier versions stay readable. The fixtures of a released version never change; a new
//! version adds its own.

use instrument::plan::Profile;
use instrument::runner::Ending;
use instrument::sample::{Legs, Reading};
use oscope_record::store::{RunSelector, Store};
use oscope_record::{Proof, Run, file};
use platform::machine::CacheKind;
use std::path::PathBuf;
use tempfile::TempDir;

/// The run that every fixture holds, without checksums.
fn fixture() -> Run {
    file::import(include_bytes!("../fixtures/run-1.oscope.json").as_slice()).unwrap()
}

/// The same, covered by checksums since it was measured.
fn proven() -> Run {
    let mut run = fixture();
    run.header.proven = true;
    run
}

/// The run of the fixtures from version 3 on: what was added since stands in the second batch.
fn with_passes() -> Run {
    let mut run = proven();
    let batch = &mut run.experiments[0].points[0].batches[1];
    batch.pass = Some(2);
    batch.full_speed_ns = Some(10_222.5);
    batch.samples[0].reading = Reading::Legs(Legs {
        iterations: 1600,
        work: 4096.0,
        wall_ns: vec![200_000, 210_001],
        reference_ns: vec![10_300, 20_600],
        short_iterations: 100,
        short_wall_ns: vec![21_000],
        ..Legs::default()
    });
    for sample in &mut batch.samples {
        if let Reading::Once { reference_ns, .. } | Reading::Latencies { reference_ns, .. } =
            &mut sample.reading
        {
            *reference_ns = Some(10_400);
        }
    }
    run
}

/// A store restored from `dump`.
fn store(dump: &str) -> (TempDir, PathBuf) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("oscope.db");
    let plain = rusqlite::Connection::open(&path).unwrap();
    plain.execute_batch(dump).unwrap();
    (folder, path)
}

#[test]
fn a_file_of_version_1_is_read() {
    let run = fixture();
    assert_eq!(run.header.id, "0123456789abcdef0123456789abcdef");
    assert_eq!(run.header.started.to_string(), "2026-03-01T12:00:00.5Z");
    assert_eq!(run.header.seed, u64::MAX - 1);
    assert_eq!(run.machine.caches[0].kind, CacheKind::Data);
    assert_eq!(run.storage.as_ref().unwrap().file_system, "ext4");
    assert_eq!(run.sample_count(), 8);
    let experiment = run.experiment("file.block_size").unwrap();
    assert_eq!(experiment.failures().count(), 1);
    let point = &experiment.points[0];
    assert_eq!(point.point.to_string(), "operation=read, block_size=4096");
    assert_eq!(point.batches[1].cpu, Some(3));
    assert_eq!(
        point.batches[0].samples[3].reading,
        Reading::Value(-1.25e-7)
    );
    let closing = point.closing.as_ref().unwrap();
    assert_eq!(closing.ending, Ending::TargetReached);
    assert_eq!(closing.warnings.len(), 3);
    assert!(run.experiments[1].skipped.is_some());
}

#[test]
fn a_store_of_schema_1_is_read_and_recorded_into() {
    let (_folder, path) = store(include_str!("../fixtures/store-1.sql"));
    let before = std::fs::read(&path).unwrap();
    let store = Store::open_read_only(&path).unwrap();
    assert_eq!(store.run(&RunSelector::Latest).unwrap(), fixture());
    assert_eq!(store.runs().unwrap().len(), 1);
    assert_eq!(store.verify(None).unwrap().runs[0].proof, Proof::Unproven);
    drop(store);
    assert!(std::fs::read(&path).unwrap() == before, "it was touched");
    let mut store = Store::open(&path).unwrap();
    assert_eq!(store.run(&RunSelector::Latest).unwrap(), fixture());
    let mut other = fixture();
    other.header.id = "f".repeat(32);
    assert_eq!(store.insert(&other).unwrap(), 2);
    assert_eq!(store.runs().unwrap().len(), 2);
    assert_eq!(store.verify(None).unwrap().runs[0].proof, Proof::Unproven);
}

/// A change of a stored type must not change the checksums of runs stored before.
#[test]
fn what_has_checksums_of_version_2_stays_proven() {
    let file = include_bytes!("../fixtures/run-2.oscope.json");
    assert_eq!(file::import(file.as_slice()).unwrap(), proven());
    let (_folder, path) = store(include_str!("../fixtures/store-2.sql"));
    let store = Store::open_read_only(&path).unwrap();
    assert_eq!(store.run(&RunSelector::Latest).unwrap(), proven());
    assert_eq!(store.verify(None).unwrap().runs[0].proof, Proof::Proven);
}

#[test]
fn what_has_checksums_of_version_3_stays_proven() {
    let file = include_bytes!("../fixtures/run-3.oscope.json");
    assert_eq!(file::import(file.as_slice()).unwrap(), with_passes());
    let (_folder, path) = store(include_str!("../fixtures/store-4.sql"));
    let store = Store::open_read_only(&path).unwrap();
    assert_eq!(store.run(&RunSelector::Latest).unwrap(), with_passes());
    assert_eq!(store.verify(None).unwrap().runs[0].proof, Proof::Proven);
    let fingerprint = with_passes().header.machine_fingerprint;
    assert_eq!(store.full_speeds(&fingerprint).unwrap(), []);
    let visit_ns = |fingerprint: &str, profile| {
        let run = with_passes();
        let point = &run.experiments[0].points[0].point;
        let costs = store.visit_costs(fingerprint, profile).unwrap();
        costs.visit_ns("file.block_size", point)
    };
    assert_eq!(visit_ns(&fingerprint, Profile::Quick), Some(30e6));
    assert_eq!(visit_ns(&fingerprint, Profile::Standard), None);
    assert_eq!(visit_ns("another", Profile::Quick), None);
}
