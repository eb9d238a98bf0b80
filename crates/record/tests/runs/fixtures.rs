//! A file of this version stays readable, and a run is exported as the same bytes for ever: a change of
//! them needs a new version. `OSCOPE_RENEW_SCHEMA=1 cargo test -p oscope-record --test runs fixtures` makes
//! `run.oscope.json` of `unproven.oscope.json`, which has no checksums.

use crate::common::new_store;
use instrument::plan::Profile;
use instrument::runner::Ending;
use instrument::sample::{Legs, Reading};
use oscope_record::store::RunSelector;
use oscope_record::{Proof, Run, file};
use platform::machine::CacheKind;
use std::fs;

const PROVEN: &str = concat!(
    env!("CARGO_MANIFEST_DIR"),
    "/tests/fixtures/run.oscope.json"
);
const RENEW: &str = "OSCOPE_RENEW_SCHEMA";

fn unproven() -> Run {
    file::import(include_bytes!("../fixtures/unproven.oscope.json").as_slice()).unwrap()
}

/// The same, covered by checksums since it was measured.
fn proven() -> Run {
    let mut run = unproven();
    run.header.proven = true;
    run
}

#[test]
fn a_file_of_this_version_is_read() {
    let run = unproven();
    assert!(!run.header.proven);
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
    let batch = &point.batches[1];
    assert_eq!((batch.cpu, batch.pass), (Some(3), Some(2)));
    assert_eq!(batch.full_speed_ns, Some(10_222.5));
    let legs = Legs {
        iterations: 1600,
        work: 4096.0,
        wall_ns: vec![200_000, 210_001],
        reference_ns: vec![10_300, 20_600],
        short_iterations: 100,
        short_wall_ns: vec![21_000],
        ..Legs::default()
    };
    assert_eq!(batch.samples[0].reading, Reading::Legs(legs));
    assert_eq!(
        point.batches[0].samples[3].reading,
        Reading::Value(-1.25e-7)
    );
    let closing = point.closing.as_ref().unwrap();
    assert_eq!(closing.ending, Ending::TargetReached);
    assert_eq!(closing.warnings.len(), 2);
    assert!(run.experiments[1].skipped.is_some());
}

#[test]
fn a_run_is_exported_as_the_same_bytes() {
    let mut exported = Vec::new();
    file::export(&proven(), &mut exported).unwrap();
    if std::env::var_os(RENEW).is_some() {
        fs::write(PROVEN, &exported).unwrap();
    }
    let committed = fs::read(PROVEN).unwrap();
    assert_eq!(file::import(committed.as_slice()).unwrap(), proven());
    assert!(committed == exported, "{PROVEN} differs");
}

#[test]
fn a_run_with_one_reference_is_stored() {
    let (_folder, _, mut store) = new_store();
    store.insert(&proven()).unwrap();
    assert_eq!(store.run(&RunSelector::Latest).unwrap(), proven());
    assert_eq!(store.verify(None).unwrap().runs[0].proof, Proof::Proven);
    let fingerprint = proven().header.machine_fingerprint;
    assert_eq!(store.full_speeds(&fingerprint).unwrap(), []);
    let visit_ns = |fingerprint: &str, profile| {
        let run = proven();
        let point = &run.experiments[0].points[0].point;
        let costs = store.visit_costs(fingerprint, profile).unwrap();
        costs.visit_ns("file.block_size", point)
    };
    assert_eq!(visit_ns(&fingerprint, Profile::Quick), Some(30e6));
    assert_eq!(visit_ns(&fingerprint, Profile::Standard), None);
    assert_eq!(visit_ns("another", Profile::Quick), None);
}
