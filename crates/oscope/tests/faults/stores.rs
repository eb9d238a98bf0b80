//! Stores that are damaged, full or not for writing.

use crate::common::{Place, scratch_files};
use crate::{Tmpfs, end, signal};
use predicates::str::contains;
use std::fs;

#[test]
fn a_store_on_a_full_disk_is_a_clear_error() {
    let mut place = Place::new();
    let mount = place.path("small");
    fs::create_dir(&mount).expect("a directory");
    let Some(_tmpfs) = Tmpfs::mount(&mount, "size=64k") else {
        return;
    };
    fs::write(mount.join("filler"), vec![1; 60 << 10]).expect("room for the filler");
    place.store = mount.join("oscope.db");
    place.short_run().assert().code(1).stderr(contains("full"));
    assert!(scratch_files(&place.scratch()).is_empty());
}

#[test]
fn a_damaged_store_is_left_alone() {
    let place = Place::new();
    let store = place.path("oscope.db");
    fs::write(&store, "these are not the runs you are looking for").expect("a file");
    place
        .short_run()
        .assert()
        .code(1)
        .stderr(contains("oscope.db"));
    let text = fs::read_to_string(&store).expect("still there");
    assert_eq!(text, "these are not the runs you are looking for");
}

#[test]
fn a_store_in_a_read_only_place_is_a_clear_error() {
    let mut place = Place::new();
    let mount = place.path("sealed");
    fs::create_dir(&mount).expect("a directory");
    let Some(_tmpfs) = Tmpfs::mount(&mount, "ro,size=64k") else {
        return;
    };
    place.store = mount.join("oscope.db");
    place
        .short_run()
        .assert()
        .code(1)
        .stderr(contains("read-only"));
}

#[test]
fn a_store_that_is_removed_meanwhile_is_missed() {
    let place = Place::new();
    let child = place.long_run();
    fs::remove_file(&place.store).expect("it is there");
    signal("INT", child.id());
    let (_, stdout, stderr) = end(child);
    assert!(stdout.contains("process.calls"), "{stdout}");
    assert!(
        stderr.contains("the store was removed meanwhile"),
        "{stderr}"
    );
}
