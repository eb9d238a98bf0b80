//! If the system administrator forbids `io_uring`, methods that need it report it, and the others
//! continue.
//!
//! The setting affects the whole machine, so this test changes it only on request, as in CI.

mod common;

use common::Place;
use predicates::str::contains;
use serde_json::Value;
use std::fs;

const SETTING: &str = "/proc/sys/kernel/io_uring_disabled";
const CONSENT: &str = "OSCOPE_TESTS_MAY_CHANGE_THE_MACHINE";

/// The setting, restored when dropped.
struct Rings {
    before: String,
}

impl Rings {
    fn new() -> Option<Self> {
        if std::env::var_os(CONSENT).is_none() {
            eprintln!(
                "skipped: {CONSENT} is not set, and this forbids io_uring to all of the machine"
            );
            return None;
        }
        let before = fs::read_to_string(SETTING);
        let before = before.inspect_err(|error| eprintln!("skipped: {SETTING}: {error}"));
        let rings = Self {
            before: before.ok()?,
        };
        let outcome = fs::write(SETTING, "2");
        if let Err(error) = &outcome {
            eprintln!("skipped: {SETTING}: {error}");
        }
        outcome.is_ok().then_some(rings)
    }
}

impl Drop for Rings {
    fn drop(&mut self) {
        let _ = fs::write(SETTING, self.before.trim());
    }
}

#[test]
fn where_rings_are_forbidden_what_needs_them_says_so_and_all_else_goes_on() {
    let Some(_rings) = Rings::new() else {
        return;
    };
    let place = Place::new();
    let path = place.scratch().join("file");
    fs::write(&path, vec![1; 1 << 20]).expect("room");
    let path = path.to_str().expect("a plain path");
    let read = |method: &str| {
        let mut command = place.oscope(&["file", "read", path, "--block-size", "64KiB"]);
        command.args(["--method", method]).assert()
    };

    // 2: forbidden for everyone.
    read("uring").code(1).stderr(contains("io_uring_disabled"));
    read("pread").success();
    place
        .oscope(&["file", "sum", path, "--cold"])
        .assert()
        .success();
    let mut run = place.plain(&["run", "file.engine", "--no-page", "--json", "--dir"]);
    let ran = common::visit_each_point(run.arg(place.scratch()));
    let run: Value = serde_json::from_slice(&ran.stdout).expect("a run, as JSON");
    let experiment = &run["experiments"][0];
    let list = |name: &str| experiment[name].as_array().expect("a list").clone();
    assert!(!list("points").is_empty());
    let refused = |failure: &Value| failure["reason"].to_string().contains("io_uring_disabled");
    assert!(
        list("failures").iter().any(refused),
        "{}",
        experiment["failures"]
    );

    // 1: allowed only for privileged processes.
    fs::write(SETTING, "1").expect("as before");
    read("uring").success();
    let user = common::as_user(65534)
        .arg(common::program())
        .args([
            "file",
            "read",
            "/etc/passwd",
            "--block-size",
            "64KiB",
            "--method",
            "uring",
        ])
        .output();
    match user {
        Ok(user) if user.status.code() == Some(126) => eprintln!("skipped: others cannot start it"),
        Ok(user) => {
            let words = String::from_utf8_lossy(&user.stderr).into_owned();
            assert_eq!(user.status.code(), Some(1), "{words}");
            assert!(words.contains("io_uring_disabled"), "{words}");
        }
        Err(error) => eprintln!("skipped: setpriv: {error}"),
    }
}
