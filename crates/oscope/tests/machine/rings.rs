//! If the system administrator forbids `io_uring`, methods that need it report it, and the others
//! continue.
//!
//! The setting affects the whole machine, so this test changes it only on request, as in CI.

use crate::alone;
use crate::common::{Place, as_user, ends, json, list, program, visit_each_point};
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
fn where_rings_are_forbidden_methods_that_need_them_say_so_and_all_else_goes_on() {
    let _alone = alone();
    let Some(_rings) = Rings::new() else {
        return;
    };
    let place = Place::new();
    place.file("file", vec![1; 1 << 20]);
    // 2: forbidden for everyone.
    check!(place => "
        file read $file --block-size 64KiB --method uring | 1 | 2> io_uring_disabled
        file read $file --block-size 64KiB --method pread | 0
        file sum $file --cold | 0
    ");
    let run = json(&visit_each_point(&mut place.run("file.engine")).stdout);
    let experiment = &run["experiments"][0];
    assert!(!list(experiment, "points").is_empty());
    let is_refused = |failure: &Value| failure["reason"].to_string().contains("io_uring_disabled");
    let mut failures = list(experiment, "failures").iter();
    assert!(failures.any(is_refused), "{experiment}");

    // 1: allowed only for privileged processes.
    fs::write(SETTING, "1").expect("as before");
    check!(place => "file read $file --block-size 64KiB --method uring | 0");
    let read = ["file", "read", "/etc/passwd", "--block-size", "64KiB"];
    let mut user = as_user(65534);
    user.arg(program()).args(read).args(["--method", "uring"]);
    match user.output() {
        Ok(output) if output.status.code() == Some(126) => {
            eprintln!("skipped: others cannot start it");
        }
        Ok(_) => drop(ends(&mut user, "1 | 2> io_uring_disabled")),
        Err(error) => eprintln!("skipped: setpriv: {error}"),
    }
}
