//! The records of earlier versions stay readable for ever. Those versions recorded the fixtures,
//! which never change; each new version adds its own.

mod common;

use common::Place;
use flate2::read::GzDecoder;
use predicates::str::contains;
use serde_json::Value;
use std::fs::{self, File};
use std::io::copy;
use std::path::{Path, PathBuf};

/// All versions of the store's schema and of the export format.
const STORES: &[&str] = &[
    "store-1", "store-2", "store-3", "store-4", "store-5", "store-6",
];
const FILES: &[&str] = &[
    "recorded-1.oscope.json",
    "recorded-2.oscope.json",
    "recorded-3.oscope.json",
];
/// The version without checksums, for both.
const UNPROVEN: &str = "1";

/// Unpacks the fixture called `name`.
fn unpack(name: &str, to: &Path) {
    let fixtures = concat!(env!("CARGO_MANIFEST_DIR"), "/../record/tests/fixtures");
    let packed = File::open(format!("{fixtures}/{name}.gz")).expect("a fixture");
    let mut file = File::create(to).expect("a file");
    copy(&mut GzDecoder::new(packed), &mut file).expect("it is whole");
}

fn is_proven(name: &str) -> bool {
    !name.contains(UNPROVEN)
}

fn json(stdout: &[u8]) -> Value {
    serde_json::from_slice(stdout).expect("what --json prints is JSON")
}

/// Checks that each reading command accepts `run` and reports if it is proven.
fn is_used(place: &Place, run: &str, is_proven: bool) {
    for arguments in [
        &["show", run][..],
        &["show", run, "process.wakeup"],
        &["claims", run],
        &["report", run],
        &["export", run],
        &["export", run, "--redact"],
        &["export", run, "--format", "csv"],
        &["export", run, "--format", "markdown"],
        &["export", run, "--format", "openmetrics"],
        &["export", run, "--format", "google-benchmark"],
    ] {
        place.oscope(arguments).assert().success();
    }
    let shown = place.oscope(&["show", run, "--json"]).assert().success();
    let shown = json(&shown.get_output().stdout);
    assert_eq!(shown["run"]["name"], "recorded");
    assert_eq!(shown["run"]["proven"], is_proven);
    assert_eq!(shown["experiments"].as_array().expect("a list").len(), 3);
    let word = if is_proven { "proven" } else { "unproven" };
    place
        .oscope(&["verify", run])
        .assert()
        .success()
        .stdout(contains(word));
}

#[test]
fn stores_of_every_schema_are_read_and_left_as_they_are() {
    // A store of this version keeps what is found out about its runs.
    let (_, earlier) = STORES.split_last().expect("a version");
    for name in earlier {
        let place = Place::new();
        unpack(&format!("{name}.db"), &place.store);
        let before = fs::read(&place.store).expect("the store");
        is_used(&place, "latest", is_proven(name));
        let listed = place.oscope(&["history", "--json"]).assert().success();
        let listed = json(&listed.get_output().stdout);
        assert_eq!(listed[0]["name"], "recorded");
        assert_eq!(listed[0]["damaged"], false);
        let history = ["history", "process.wakeup", "--json"];
        place.oscope(&history).assert().success();
        assert!(fs::read(&place.store).expect("the store") == before);
    }
}

#[test]
fn stores_of_every_schema_are_brought_up_to_date() {
    for name in STORES {
        let place = Place::new();
        unpack(&format!("{name}.db"), &place.store);
        let other = format!(
            "{}/../record/tests/fixtures/run-2.oscope.json",
            env!("CARGO_MANIFEST_DIR")
        );
        place.oscope(&["import", &other]).assert().success();
        is_used(&place, "recorded", is_proven(name));
        place.oscope(&["verify"]).assert().success();
        place
            .oscope(&["delete", "recorded", "--force"])
            .assert()
            .success();
    }
}

#[test]
fn runs_of_every_version_can_be_compared() {
    let place = Place::new();
    unpack("store-1.db", &place.store);
    for name in FILES {
        let file = place.path(name);
        unpack(name, &file);
        let mut compare = place.oscope(&["compare", "latest", "--json"]);
        let compared = compare.arg(&file).assert();
        if *name == FILES[0] {
            // The store of the same version contains the same run.
            compared.code(2).stderr(contains("share a run"));
        } else if *name == FILES[2] {
            // The first version with passes measured in another way.
            compared
                .code(1)
                .stderr(contains("an older version measured"));
        } else {
            let compared = json(&compared.success().get_output().stdout);
            let values = compared["comparisons"][0]["values"].as_array();
            assert!(values.expect("a list").len() > 10);
        }
    }
}

#[test]
fn files_of_every_version_are_read() {
    for name in FILES {
        let place = Place::new();
        let file: PathBuf = place.path(name);
        unpack(name, &file);
        let file = file.to_str().expect("a plain path");
        is_used(&place, file, is_proven(name));
        place.oscope(&["import", file]).assert().success();
        is_used(&place, "latest", is_proven(name));
    }
}
