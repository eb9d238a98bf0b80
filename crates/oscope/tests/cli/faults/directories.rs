//! Scratch directories that are full or read-only, and caches without the rights of root.

use crate::common::{Mounted, Place, json, list, scratch_files, visit, visit_each_point};
use serde_json::Value;

#[test]
fn a_read_only_directory_is_refused() {
    let place = Place::new();
    let Some(_disk) = Mounted::tmpfs(&place.scratch(), "ro,size=64k") else {
        return;
    };
    check!(place => "run process --dir $scratch | 1 | 2> read-only | 2> dir");
}

#[test]
fn a_full_disk_fails_experiments_that_need_room_and_the_rest_goes_on() {
    let place = Place::new();
    let scratch = place.scratch();
    let Some(_disk) = Mounted::tmpfs(&scratch, "size=1m") else {
        return;
    };
    // As many passes as an estimate needs.
    let run = "run process.calls file.block_size --no-page --dir $scratch";
    let output = visit(&mut place.line(run), "pass 5 of ");
    let [stdout, stderr] = [&output.stdout, &output.stderr].map(|it| String::from_utf8_lossy(it));
    let refused = "file.block_size: cannot be measured here: it needs";
    assert!(stderr.contains(refused), "{stderr}");
    assert!(stdout.contains("getpid"), "{stdout}");
    assert!(scratch_files(&scratch).is_empty());
}

#[test]
fn without_the_rights_of_root_caches_are_emptied_file_by_file() {
    let place = Place::new();
    let run = ["run", "file.block_size", "--no-page", "--json"];
    let Some(mut unprivileged) = place.as_somebody(&[], &run) else {
        return;
    };
    let output = visit_each_point(unprivileged.arg("--dir").arg(place.scratch()));
    let run = json(&output.stdout);
    let stderr = String::from_utf8_lossy(&output.stderr);
    if stderr.contains("in memory") || run.to_string().contains("tmpfs") {
        return eprintln!(
            "skipped: the temporary directory lies in memory and cannot be made cold"
        );
    }
    let experiment = &run["experiments"][0];
    let is_cold = |point: &Value| point["levels"].to_string().contains("read cold");
    assert!(
        list(experiment, "points").iter().any(is_cold),
        "{experiment}"
    );
    for failure in list(experiment, "failures") {
        let reason = failure["reason"].as_str().expect("text");
        assert!(reason.contains("the time was used up"), "{reason}");
    }
}
