//! Layering: each crate uses only the crates below it.

use serde_json::Value;
use std::process::Command;

/// The layers from bottom to top, as in `docs/architecture.md`.
const FLOORS: &[&str] = &[
    "oscope-testing",
    "uthread",
    "uthread-c",
    "uthread-workload",
    "oscope-advice",
    "oscope-macros",
    "oscope-choice",
    "oscope-platform",
    "oscope-kernels-level0",
    "oscope-kernels-level1",
    "oscope-kernels-level2",
    "oscope-kernels-level3",
    "oscope-kernels",
    "oscope-transfer",
    "oscope-network",
    "oscope-instrument",
    "oscope-files",
    "oscope-record",
    "oscope-experiments",
    "oscope-report",
    "oscope",
];

fn workspace() -> Value {
    let output = Command::new(env!("CARGO"))
        .args([
            "metadata",
            "--no-deps",
            "--format-version",
            "1",
            "--offline",
        ])
        .current_dir(env!("CARGO_MANIFEST_DIR"))
        .output()
        .expect("cargo runs, since it runs this test");
    assert!(
        output.status.success(),
        "{}",
        String::from_utf8_lossy(&output.stderr)
    );
    serde_json::from_slice(&output.stdout).expect("cargo writes JSON")
}

fn names<'v>(list: &'v Value, kind: &str) -> Vec<&'v str> {
    let entries = list.as_array().expect("a list").iter();
    entries
        .filter(|entry| kind.is_empty() || entry["kind"].as_str() == Some(kind))
        .filter_map(|entry| entry["name"].as_str())
        .collect()
}

#[test]
fn every_crate_has_its_floor() {
    let workspace = workspace();
    let mut packages = names(&workspace["packages"], "");
    packages.sort_unstable();
    let mut floors = FLOORS.to_vec();
    floors.sort_unstable();
    assert_eq!(packages, floors);
}

#[test]
fn no_crate_uses_one_above_it() {
    let workspace = workspace();
    for package in workspace["packages"].as_array().expect("a list") {
        let name = package["name"].as_str().expect("every package has a name");
        let floor = FLOORS
            .iter()
            .position(|&floor| floor == name)
            .expect("see the test above");
        for dependency in names(&package["dependencies"], "") {
            if let Some(below) = FLOORS.iter().position(|&floor| floor == dependency) {
                assert!(below < floor, "{name} must not use {dependency}");
            }
        }
    }
}

#[test]
fn only_tests_use_what_tests_share() {
    let workspace = workspace();
    for package in workspace["packages"].as_array().expect("a list") {
        for dependency in package["dependencies"].as_array().expect("a list") {
            let is_shared = dependency["name"] == "oscope-testing";
            assert!(
                !is_shared || dependency["kind"] == "dev",
                "{}",
                package["name"]
            );
        }
    }
}

#[test]
fn libraries_that_stand_alone_use_nothing_of_the_house() {
    let workspace = workspace();
    for alone in ["uthread", "oscope-platform", "oscope-kernels"] {
        let packages = workspace["packages"].as_array().expect("a list");
        let package = packages
            .iter()
            .find(|package| package["name"] == alone)
            .expect(alone);
        for dependency in names(&package["dependencies"], "") {
            let may =
                dependency == "oscope-testing" || dependency.starts_with("oscope-kernels-level");
            assert!(
                !FLOORS.contains(&dependency) || may,
                "{alone} must not use {dependency}"
            );
        }
    }
}
