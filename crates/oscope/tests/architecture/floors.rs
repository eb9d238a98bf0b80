//! Layering: each crate uses only the crates below it.

use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};
use std::process::Command;

/// The layers from bottom to top, as in `docs/internals/architecture.md`.
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

/// Each crate of the workspace with its dependencies: their names, and true for those of tests alone.
fn packages() -> BTreeMap<String, Vec<(String, bool)>> {
    let output = Command::new(env!("CARGO"))
        .args(["metadata", "--no-deps", "--format-version", "1"])
        .arg("--offline")
        .current_dir(env!("CARGO_MANIFEST_DIR"))
        .output()
        .expect("cargo runs, since it runs this test");
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{stderr}");
    let found: Value = serde_json::from_slice(&output.stdout).expect("cargo writes JSON");
    let name = |of: &Value| of["name"].as_str().expect("a name").to_owned();
    let list = |of: &Value| of.as_array().expect("a list").clone();
    let dependency = |of: &Value| (name(of), of["kind"] == "dev");
    let packages = list(&found["packages"]).into_iter().map(|package| {
        let dependencies = list(&package["dependencies"]);
        (
            name(&package),
            dependencies.iter().map(dependency).collect(),
        )
    });
    packages.collect()
}

#[test]
fn every_crate_uses_those_below_it() {
    let packages = packages();
    let floors: BTreeSet<&str> = FLOORS.iter().copied().collect();
    assert!(packages.keys().map(String::as_str).eq(floors));
    let floor = |name: &str| FLOORS.iter().position(|floor| *floor == name);
    for (name, dependencies) in packages {
        for (dependency, is_of_tests) in dependencies {
            let is_below = floor(&dependency) < floor(&name);
            assert!(is_below, "{name} must not use {dependency}");
            let is_shared = dependency == "oscope-testing";
            assert!(!is_shared || is_of_tests, "only tests of {name} may use it");
        }
    }
}

#[test]
fn libraries_for_other_programs_use_no_crate_of_oscope() {
    let packages = packages();
    for alone in ["uthread", "oscope-platform", "oscope-kernels"] {
        for (dependency, _) in &packages[alone] {
            let may =
                dependency == "oscope-testing" || dependency.starts_with("oscope-kernels-level");
            assert!(
                !FLOORS.contains(&dependency.as_str()) || may,
                "{alone} must not use {dependency}"
            );
        }
    }
}
