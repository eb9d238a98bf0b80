//! Tests that change the machine: its swap, and settings by `oscope ab WHAT --vary` and
//! `oscope advise --try`.

#[macro_use]
#[path = "../common/mod.rs"]
mod common;
mod advise_try;
mod memory;
mod rings;

use common::{Place, end_by, ends, is_root, list, start, wait_until};
use std::fs;
use std::io::{BufRead, BufReader};
use std::process::Stdio;
use std::sync::{PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard};
use testing::Process;

/// A setting that changes nothing while memory is free.
const SETTING: &str = "/proc/sys/vm/vfs_cache_pressure";

/// Any start of oscope as root puts a setting back that a killed one has left changed.
static STARTS: RwLock<()> = RwLock::new(());

/// For a test that changes a setting or expects it to stay: no other one starts oscope.
fn alone() -> RwLockWriteGuard<'static, ()> {
    STARTS.write().unwrap_or_else(PoisonError::into_inner)
}

/// For the other tests.
fn with_others() -> RwLockReadGuard<'static, ()> {
    STARTS.read().unwrap_or_else(PoisonError::into_inner)
}

#[test]
fn two_directories_are_compared() {
    let _others = with_others();
    let place = Place::new();
    place.directory("a");
    let b = place.directory("b");
    let compare = "ab --json --dir $scratch process.calls --at call=getpid --budget 10s --vary";
    let found = place.json(&format!("{compare} dir=$a,$b"));
    assert_eq!(found["vary"], "dir");
    let points = list(&found, "points");
    assert!(points.len() > 1, "{found}");
    assert_eq!(points[0]["pairs"][0]["rival"], b.as_str());
    for directory in ["a", "b"] {
        assert!(place.names(directory).is_empty());
    }
    check!(place => "
        show latest ab | 0 | > │ dir
        verify | 0
    ");
}

#[test]
fn the_levels_of_an_axis_and_of_a_variable_are_compared() {
    let _others = with_others();
    let place = Place::new();
    check!(place => "
        ab memory.page_fault --vary touch=first,copy --budget 2s
            | 2 | 2> memory.page_fault takes no level 'first' of 'touch': it takes
    ");
    let compare = "ab --json --dir $scratch process.calls -r 2 --at";
    let found = place.json(&format!("{compare} call=getpid --vary env:A=1,2"));
    assert_eq!(found["points"][0]["ending"], "runs_used");
    assert_eq!(found["points"][0]["pairs"][0]["verdict"], "undecided");
    let found = place.json(&format!(
        "{compare} optimisation=3 --vary call=getpid,lseek"
    ));
    assert_eq!(list(&found, "points").len(), 1);
    assert_eq!(found["points"][0]["pairs"][0]["rival"], "lseek");
}

#[test]
fn a_setting_that_cannot_vary_is_refused() {
    let _others = with_others();
    check!(Place::new() => "
        ab process.calls --vary colour=red,blue | 2 | 2> there is no axis 'colour'
        ab process.calls --vary dir=.           | 2 | 2> two values of 'dir' or more
        ab process.calls --vary sysfs:/etc/passwd=1,2 | 2 | 2> is not among the settings
            | 2>   /proc/sys/vm/swappiness | !2> \u{fffd}
        ab process.calls --vary sysfs:/proc/sys/vm/overcommit_memory=1,2
            | 2 | 2> is not among the settings
        ab process.calls --vary dir=a,b --setup true | 2 | 2> cannot be used with
    ");
}

#[test]
fn points_for_which_there_is_no_time_are_named() {
    let _others = with_others();
    check!(Place::new() => "
        ab process.calls --vary env:A=1,2 --budget 1s --dir $scratch | 1 | > process.calls,
            | 2> there is time for about  | 2> oscope: there was no time for
    ");
}

#[test]
fn scratch_in_every_directory_is_swept_after_a_kill() {
    let _others = with_others();
    let place = Place::new();
    let directories = ["a", "b", "c", "d"];
    for name in directories {
        place.directory(name);
    }
    let counts = || directories.map(|name| place.names(name).len());
    let mut compare = place.line("ab process.calls --vary dir=$a,$b,$c,$d");
    let compare = compare.stdout(Stdio::null()).stderr(Stdio::piped());
    let mut child = compare.spawn().expect("the program starts");
    // The line comes once everything is made.
    let said = BufReader::new(child.stderr.take().expect("it is piped"));
    let mut lines = said.lines().map_while(Result::ok);
    assert!(lines.any(|line| line.contains("at most")));
    assert_eq!(counts(), [1; 4]);
    child.kill().expect("it runs");
    child.wait().expect("it ends");
    check!(place => "cleanup --dir $a | 0");
    assert_eq!(counts(), [0; 4]);
}

#[test]
fn a_setting_is_refused_to_others_than_root_before_anything_is_measured() {
    let _alone = alone();
    let place = Place::new();
    let vary = format!("sysfs:{SETTING}=90,110");
    let arguments = ["ab", "process.calls", "--vary", &vary, "--dir", "."];
    let Some(mut refused) = place.as_somebody(&[], &arguments) else {
        return;
    };
    let before = value();
    let refused = refused.current_dir(place.scratch());
    ends(refused, "2 | 2> it takes root to change");
    // Neither a run nor anything else.
    assert!(place.names("scratch").is_empty() && !place.store.exists());
    assert_eq!(value(), before);
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
