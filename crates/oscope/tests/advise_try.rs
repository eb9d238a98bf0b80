//! `oscope advise --try` as a user sees it.

mod common;

use common::{Place, is_root};
use predicates::prelude::*;
use predicates::str::contains;
use std::fs;

const HUGE_PAGES: &str = "/sys/kernel/mm/transparent_hugepage/enabled";
const GOVERNORS: &str = "/sys/devices/system/cpu/cpu*/cpufreq/scaling_available_governors";

#[test]
fn what_cannot_be_tried_is_refused_with_what_can() {
    let place = Place::new();
    place
        .oscope(&["advise", "--try", "nonsense"])
        .assert()
        .code(2)
        .stderr(contains("'nonsense' cannot be tried; what can: "));
    place
        .oscope(&["advise", "--try", "read_ahead", "--save"])
        .assert()
        .code(2);
    place.oscope(&["advise", "--budget", "1s"]).assert().code(2);
}

#[test]
fn only_what_this_machine_has_is_offered() {
    let place = Place::new();
    let refused = place.oscope(&["advise", "--try", "nonsense"]).assert();
    let said = String::from_utf8_lossy(&refused.get_output().stderr).into_owned();
    for (name, path) in [
        ("transparent_huge_pages", HUGE_PAGES.to_owned()),
        ("governor", GOVERNORS.replace('*', "0")),
    ] {
        assert_eq!(
            said.contains(name),
            fs::exists(&path).expect("sysfs"),
            "{said}"
        );
    }
}

#[test]
fn a_setting_of_the_kernel_is_tried_and_put_back() {
    let Ok(before) = fs::read_to_string(HUGE_PAGES) else {
        println!("skipped: this kernel has no transparent huge pages");
        return;
    };
    let place = Place::new();
    let mut tried = place.oscope(&["advise", "--try", "transparent_huge_pages"]);
    let tried = tried.args(["--budget", "2s", "--dir"]).arg(place.scratch());
    if is_root() && fs::OpenOptions::new().write(true).open(HUGE_PAGES).is_ok() {
        tried
            .assert()
            .success()
            .stdout(contains("memory.page_fault"))
            .stdout(contains("if it gains, to set: echo ").and(contains("to undo: echo ")));
    } else {
        println!("skipped: a part, since this setting cannot be changed here");
        tried.assert().failure();
    }
    assert_eq!(fs::read_to_string(HUGE_PAGES).expect("it is there"), before);
}
