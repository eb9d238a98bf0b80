//! A file of this version stays readable, and a run is exported as the same bytes for ever: a change of
//! them needs a new version. `OSCOPE_RENEW_SCHEMA=1 cargo test -p oscope-record --test runs fixtures` makes
//! `run.oscope.json` of `unproven.oscope.json`, which has no checksums.

use crate::common::new_store;
use instrument::plan::Profile;
use oscope_record::store::RunSelector;
use oscope_record::{Proof, Run, file};
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
fn a_run_is_exported_as_the_same_bytes() {
    let mut exported = Vec::new();
    file::export(&proven(), &mut exported).unwrap();
    if std::env::var_os(RENEW).is_some() {
        fs::write(PROVEN, &exported).unwrap();
    }
    assert!(!unproven().header.proven);
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
