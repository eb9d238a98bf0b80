//! A file of this version stays readable, and a run is exported as the same bytes for ever: a change of
//! them needs a new version. `OSCOPE_RENEW_SCHEMA=1 cargo test -p oscope-record --test runs fixtures` makes
//! `run.oscope.json` of `unproven.oscope.json`, which has no checksums.

use crate::common::exported;
use oscope_record::{Run, file};
use std::fs;

const PROVEN: &str = concat!(
    env!("CARGO_MANIFEST_DIR"),
    "/tests/fixtures/run.oscope.json"
);
const UNPROVEN: &str = concat!(
    env!("CARGO_MANIFEST_DIR"),
    "/tests/fixtures/unproven.oscope.json"
);
const RENEW: &str = "OSCOPE_RENEW_SCHEMA";

fn unproven() -> Run {
    file::import(fs::read(UNPROVEN).unwrap().as_slice()).unwrap()
}

/// The same, covered by checksums since it was measured.
fn proven() -> Run {
    let mut run = unproven();
    run.header.proven = true;
    run
}

#[test]
fn a_run_is_exported_as_the_same_bytes() {
    let exported = exported(&proven());
    if std::env::var_os(RENEW).is_some() {
        fs::write(PROVEN, &exported).unwrap();
    }
    assert!(!unproven().header.proven);
    let committed = fs::read(PROVEN).unwrap();
    assert_eq!(file::import(committed.as_slice()).unwrap(), proven());
    assert!(committed == exported, "{PROVEN} differs");
}

#[test]
fn a_run_with_one_reference_loop_is_refused() {
    let document = fs::read_to_string(UNPROVEN).unwrap();
    let refusal = |from: &str, to: &str| {
        assert!(document.contains(from), "{from}");
        let changed = document.replace(from, to);
        file::import(changed.as_bytes()).unwrap_err().to_string()
    };
    for around in [
        r#","around":[2400,2410,-10,0,3]"#,
        r#","around":[[2400,2410,-10,0,3],[2400,2800,5,1,null]]"#,
    ] {
        let timings = refusal(around, "");
        assert!(
            timings.contains("of one reference loop and 0 of the other"),
            "{timings}"
        );
    }
}
