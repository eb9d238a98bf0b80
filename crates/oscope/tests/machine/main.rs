//! Tests that change the machine: its swap, and settings by `oscope ab WHAT --vary` and
//! `oscope advise --try`.

#[macro_use]
#[path = "../common/mod.rs"]
mod common;
mod memory;
mod rings;

use common::{Place, end_by, ends, is_root, start, wait_until};
use std::fs;
use std::sync::{Mutex, MutexGuard, PoisonError};
use testing::Process;

/// A setting that changes nothing while memory is free.
const SETTING: &str = "/proc/sys/vm/vfs_cache_pressure";

/// The turn of a test. Swap and settings belong to the whole system, and any start of oscope as root puts a setting back
/// that a killed one has left changed.
fn alone() -> MutexGuard<'static, ()> {
    static TURN: Mutex<()> = Mutex::new(());
    TURN.lock().unwrap_or_else(PoisonError::into_inner)
}

/// True, with the reason printed if not, if settings can be changed here.
fn can_change() -> bool {
    let is_possible = is_root() && value().is_some_and(|value| fs::write(SETTING, value).is_ok());
    if !is_possible {
        eprintln!("skipped: it takes root, and a writable {SETTING}");
    }
    is_possible
}

fn value() -> Option<String> {
    Some(fs::read_to_string(SETTING).ok()?.trim().to_owned())
}

/// A comparison under way that has changed the setting.
fn under_way(place: &Place, before: &str) -> Process {
    let vary = format!("sysfs:{SETTING}={before}1,{before}2");
    let compare = format!("ab process.calls --vary {vary} --dir $scratch");
    let child = start(&mut place.line(&compare));
    wait_until("a changed setting", || {
        value().is_some_and(|now| now != before)
    });
    child
}

#[test]
fn a_setting_is_put_back_after_a_signal_and_by_cleanup_after_a_kill() {
    let _alone = alone();
    if !can_change() {
        return;
    }
    let place = Place::new();
    let before = value().expect("it was read");
    let (output, ..) = end_by("TERM", under_way(&place, &before));
    assert_eq!(output.status.code(), Some(143));
    assert_eq!(value().as_ref(), Some(&before));

    let mut child = under_way(&place, &before);
    child.kill().expect("it runs");
    child.wait().expect("it ends");
    assert_ne!(value().as_ref(), Some(&before));
    check!(place => "cleanup --dir $scratch | 0 | > {SETTING} | > again");
    assert_eq!(value(), Some(before));
}

const HUGE_PAGES: &str = "/sys/kernel/mm/transparent_hugepage/enabled";

#[test]
fn a_setting_of_the_kernel_is_tried_and_put_back() {
    let _alone = alone();
    let Ok(before) = fs::read_to_string(HUGE_PAGES) else {
        return println!("skipped: this kernel has no transparent huge pages");
    };
    let place = Place::new();
    let mut tried = place.line("advise --try transparent_huge_pages --budget 2s --dir $scratch");
    if is_root() && fs::OpenOptions::new().write(true).open(HUGE_PAGES).is_ok() {
        let expected = "0 | > memory.page_fault | > if it gains, to set: echo  | > to undo: echo ";
        ends(&mut tried, expected);
    } else {
        println!("skipped: a part, since this setting cannot be changed here");
        ends(&mut tried, "1,2");
    }
    assert_eq!(fs::read_to_string(HUGE_PAGES).expect("it is there"), before);
}
