//! `oscope ab WHAT --vary` as a user sees it.

mod common;

use common::{Place, is_root, wait_for};
use predicates::prelude::*;
use predicates::str::contains;
use serde_json::Value;
use std::fs;
use std::io::{BufRead, BufReader};
use std::path::PathBuf;
use std::process::Stdio;
use std::sync::{PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard};
use testing::{Command, Process};

/// A setting that changes nothing while memory is free.
const SETTING: &str = "/proc/sys/vm/vfs_cache_pressure";

/// Any start of oscope as root puts a setting back that a killed one has left changed.
static STARTS: RwLock<()> = RwLock::new(());

/// For a test that changes the setting or expects it to stay: no other one starts oscope.
fn alone() -> RwLockWriteGuard<'static, ()> {
    STARTS.write().unwrap_or_else(PoisonError::into_inner)
}

/// For the other tests.
fn beside_others() -> RwLockReadGuard<'static, ()> {
    STARTS.read().unwrap_or_else(PoisonError::into_inner)
}

fn compared(place: &Place, arguments: &[&str]) -> Value {
    let output = place
        .oscope(&["ab", "--json", "--dir"])
        .arg(place.scratch())
        .args(arguments)
        .output()
        .expect("the program starts");
    let said = String::from_utf8_lossy(&output.stderr);
    let told = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success(), "{arguments:?}: {said}{told}");
    serde_json::from_slice(&output.stdout).expect("it is JSON")
}

#[test]
fn two_directories_are_held_against_each_other() {
    let _others = beside_others();
    let place = Place::new();
    let (a, b) = (place.path("a"), place.path("b"));
    fs::create_dir(&a)
        .and_then(|()| fs::create_dir(&b))
        .expect("it is ours");
    let vary = format!("dir={},{}", a.display(), b.display());
    let told = compared(
        &place,
        &[
            "process.calls",
            "--at",
            "call=getpid",
            "--vary",
            &vary,
            "--budget",
            "10s",
        ],
    );
    assert_eq!(told["vary"], "dir");
    let points = told["points"].as_array().expect("a list");
    assert!(points.len() > 1, "{told}");
    assert_eq!(points[0]["pairs"][0]["rival"], b.to_str().expect("text"));
    for directory in [a, b] {
        let left = fs::read_dir(directory).expect("it is there").count();
        assert_eq!(left, 0);
    }
    place
        .oscope(&["show", "latest", "ab"])
        .assert()
        .success()
        .stdout(contains("│ dir "));
    place.oscope(&["verify"]).assert().success();
}

#[test]
fn the_levels_of_an_axis_and_a_variable_are_held_against_each_other() {
    let _others = beside_others();
    let place = Place::new();
    let touches = [
        "memory.page_fault",
        "--vary",
        "touch=first,copy",
        "--budget",
        "2s",
    ];
    let output = place.oscope(&[&["ab"], &touches[..]].concat()).output();
    let said = output.expect("it starts").stderr;
    let said = String::from_utf8_lossy(&said).into_owned();
    assert!(
        said.contains("'touch' has no level 'first' here: there are "),
        "{said}"
    );
    let of_getpid = ["process.calls", "--at", "call=getpid", "-r", "2"];
    let told = compared(&place, &[&of_getpid[..], &["--vary", "env:A=1,2"]].concat());
    assert_eq!(told["points"][0]["ending"], "runs_used");
    assert_eq!(told["points"][0]["pairs"][0]["verdict"], "untold");
    let of_loops = ["process.calls", "--at", "optimisation=3", "-r", "2"];
    let told = compared(
        &place,
        &[&of_loops[..], &["--vary", "call=getpid,lseek"]].concat(),
    );
    assert_eq!(told["points"].as_array().expect("a list").len(), 1);
    assert_eq!(told["points"][0]["pairs"][0]["rival"], "lseek");
}

#[test]
fn what_cannot_vary_is_refused_with_a_word() {
    let _others = beside_others();
    let place = Place::new();
    let refused = |vary: &str, word: &str| {
        place
            .oscope(&["ab", "process.calls", "--vary", vary])
            .assert()
            .code(2)
            .stderr(contains(word));
    };
    refused("colour=red,blue", "there is no axis 'colour'");
    refused("dir=.", "two values of 'dir' or more");
    refused("sysfs:/etc/passwd=1,2", "is not among the settings");
    refused(
        "sysfs:/proc/sys/vm/overcommit_memory=1,2",
        "is not among the settings",
    );
    place
        .oscope(&[
            "ab",
            "process.calls",
            "--vary",
            "dir=a,b",
            "--setup",
            "true",
        ])
        .assert()
        .code(2)
        .stderr(contains("cannot be used with"));
}

#[test]
fn points_for_which_there_is_no_time_are_named() {
    let _others = beside_others();
    let place = Place::new();
    let words = [
        "ab",
        "process.calls",
        "--vary",
        "env:A=1,2",
        "--budget",
        "1s",
        "--dir",
    ];
    let output = place.oscope(&words).arg(place.scratch()).output();
    let output = output.expect("it starts");
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(said.contains("there is time for about "), "{said}");
    assert!(said.contains("oscope: there was no time for "), "{said}");
    assert_eq!(output.status.code(), Some(1), "{said}");
    let shown = String::from_utf8_lossy(&output.stdout);
    assert!(shown.contains("process.calls, "), "{shown}");
}

#[test]
fn scratch_in_every_directory_is_swept_after_a_kill() {
    let _others = beside_others();
    let place = Place::new();
    let directories = ["a", "b", "c", "d"].map(|name| place.path(name));
    for directory in &directories {
        fs::create_dir(directory).expect("it is ours");
    }
    let count = |directory: &PathBuf| fs::read_dir(directory).expect("it is there").count();
    let vary = format!(
        "dir={}",
        directories
            .each_ref()
            .map(|it| it.to_str().expect("text"))
            .join(",")
    );
    let mut child = place
        .plain(&["ab", "process.calls", "--vary", &vary])
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .spawn()
        .expect("the program starts");
    // The line comes once everything is made.
    let mut said = BufReader::new(child.stderr.take().expect("it is piped"));
    let mut line = String::new();
    while !line.contains("at most") {
        line.clear();
        let read = said.read_line(&mut line).expect("it is text");
        assert!(read > 0, "it ended too soon");
    }
    assert_eq!(directories.each_ref().map(count), [1; 4]);
    child.kill().expect("it runs");
    child.wait().expect("it ends");
    place
        .oscope(&["cleanup", "--dir"])
        .arg(&directories[0])
        .assert()
        .success();
    assert_eq!(directories.each_ref().map(count), [0; 4]);
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
    let output = refused
        .current_dir(place.scratch())
        .output()
        .expect("it starts");
    let said = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(2), "{said}");
    assert!(said.contains("it takes root to change"), "{said}");
    // Neither a run nor anything else.
    assert_eq!(
        fs::read_dir(place.scratch()).expect("it is there").count(),
        0
    );
    assert!(!place.store.exists());
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
    let child = place
        .plain(&["ab", "process.calls", "--vary", &vary, "--dir"])
        .arg(place.scratch())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("the program starts");
    assert!(
        wait_for(|| value().is_some_and(|now| now != before)),
        "it never began"
    );
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
    let mut child = under_way(&place, &before);
    let terminated = Command::new("kill").arg(child.id().to_string()).status();
    assert!(terminated.expect("kill starts").success());
    let ended = child.wait().expect("it ends");
    assert_eq!(ended.code(), Some(143));
    assert_eq!(value().as_ref(), Some(&before));

    let mut child = under_way(&place, &before);
    child.kill().expect("it runs");
    child.wait().expect("it ends");
    assert_ne!(value().as_ref(), Some(&before));
    place
        .oscope(&["cleanup", "--dir"])
        .arg(place.scratch())
        .assert()
        .success()
        .stdout(contains(SETTING).and(contains("again")));
    assert_eq!(value(), Some(before));
}
