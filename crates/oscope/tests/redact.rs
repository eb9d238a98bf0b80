//! `--redact`: no output contains anything that identifies a machine or its people.

mod common;

use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use common::{Place, in_six_passes};
use flate2::read::{GzDecoder, ZlibDecoder};
use predicates::prelude::*;
use predicates::str::contains;
use serde_json::{Value, json};
use std::fs;
use std::io::Read as _;
use std::path::Path;

/// An identifying word that no output may contain.
const SECRET: &str = "qz7acmewidgets";

/// An export without checksums, which would detect a change.
const UNPROVEN: &str = concat!(
    env!("CARGO_MANIFEST_DIR"),
    "/../record/tests/fixtures/unproven.oscope.json"
);

/// A run with the secret in each free text.
fn planted(place: &Place) -> String {
    let text = fs::read_to_string(UNPROVEN).expect("a run");
    let text = in_six_passes(&text, "0123456789abcdef0123456789abcdef");
    let mut document: Value = serde_json::from_str(&text).expect("JSON");
    let run = &mut document["run"];
    run["header"]["name"] = format!("before {SECRET}").into();
    run["header"]["tags"] = json!({ SECRET: "x", "site": format!("{SECRET}-east") });
    run["header"]["directory"] = format!("/home/{SECRET}/scratch").into();
    run["header"]["machine_fingerprint"] = SECRET.into();
    let line = [
        format!("/opt/{SECRET}/oscope"),
        "run".into(),
        "file".into(),
        "--dir".into(),
        format!("/home/{SECRET}/scratch"),
        format!("--to={SECRET}:5735"),
    ];
    run["header"]["command_line"] = json!(line);
    run["environment"]["command_line"] = json!(line);
    for field in [
        "os_name",
        "os_version",
        "kernel_release",
        "kernel_version",
        "clock_source",
    ] {
        run["environment"][field] = format!("Linux {SECRET} 6.1").into();
    }
    run["environment"]["build"]["flags"] = format!("-C linker=/home/{SECRET}/ld").into();
    run["environment"]["mitigations"] = json!({ "meltdown": SECRET });
    run["machine"]["cpu"]["model"] = format!("Intel(R) Xeon(R) {SECRET}").into();
    run["machine"]["product"] = format!("{SECRET} Rack").into();
    run["machine"]["installation"] = SECRET.into();
    run["storage"]["mount_point"] = format!("/home/{SECRET}").into();
    run["storage"]["source"] = format!("{SECRET}.example:/export").into();
    run["storage"]["block_device"] = SECRET.into();
    run["storage"]["mount_options"] = json!(["rw", format!("username={SECRET}"), "addr=10.1.2.3"]);
    let points = run["experiments"][0]["points"]
        .as_array_mut()
        .expect("points");
    for point in points {
        for batch in point["batches"].as_array_mut().expect("batches") {
            batch["remarks"] = json!([format!("read from /home/{SECRET}/x, user {SECRET}")]);
        }
        if let Some(failed) = point.pointer_mut("/closing/ending/failed") {
            *failed = format!("{SECRET} said: no such file: '/home/{SECRET}/x' (10.1.2.3)").into();
        }
    }
    run["experiments"][1]["skipped"] = format!("{SECRET} has no right to it").into();
    let path = place.path("planted.oscope.json");
    fs::write(&path, document.to_string()).expect("a file");
    path.to_str().expect("a plain path").to_owned()
}

/// An environment with that run in its store.
fn stored() -> Place {
    let place = Place::new();
    let file = planted(&place);
    place.oscope(&["import", &file]).assert().success();
    fs::remove_file(file).expect("it was there");
    place
}

fn printed(place: &Place, arguments: &[&str]) -> Vec<u8> {
    let done = place.oscope(arguments).assert().success();
    done.get_output().stdout.clone()
}

/// All contents of `bytes`, including the compressed parts of a page.
fn unpacked(bytes: &[u8]) -> String {
    let mut text = String::from_utf8_lossy(bytes).into_owned();
    let is_packed = |c: char| c.is_ascii_alphanumeric() || "+/=".contains(c);
    let mut found = String::new();
    for piece in text
        .split(|c| !is_packed(c))
        .filter(|piece| piece.len() > 40)
    {
        let Ok(packed) = BASE64_STANDARD.decode(piece) else {
            continue;
        };
        let mut inside = String::new();
        if ZlibDecoder::new(packed.as_slice())
            .read_to_string(&mut inside)
            .is_ok()
        {
            found += &inside;
        }
    }
    text += &found;
    text.to_lowercase()
}

#[test]
fn no_output_of_a_redacted_run_names_anybody() {
    let place = stored();
    let all: &[&[&str]] = &[
        &["export"],
        &["export", "--format", "csv"],
        &["export", "--format", "markdown"],
        &["export", "--format", "openmetrics"],
        &["export", "--format", "google-benchmark"],
        #[cfg(feature = "parquet")]
        &["export", "--format", "parquet"],
        &["report"],
        &["card"],
        &["show"],
        &["show", "--json"],
        &["show", "latest", "file"],
    ];
    let mut open = 0;
    for arguments in all {
        let with_names = unpacked(&printed(&place, arguments));
        open += usize::from(with_names.contains(SECRET));
        let redacted = [arguments, &["--redact"][..]].concat();
        let without = unpacked(&printed(&place, &redacted));
        for secret in [SECRET, "10.1.2.3"] {
            assert!(!without.contains(secret), "{redacted:?} tells {secret}");
        }
        assert!(!without.is_empty());
    }
    assert!(
        open >= 5,
        "the secret was in {open} outputs without --redact"
    );
}

#[test]
fn a_chart_can_be_redacted_as_well() {
    let place = Place::new();
    let fixture = concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/../record/tests/fixtures/recorded.oscope.json.gz"
    );
    let run = place.path("run.oscope.json");
    let mut unpacked = Vec::new();
    let packed = fs::File::open(fixture).expect("a fixture");
    GzDecoder::new(packed)
        .read_to_end(&mut unpacked)
        .expect("it is whole");
    fs::write(&run, unpacked).expect("a file");
    let chart = |more: &[&str]| {
        let mut plot = place.oscope(&["plot", "process.wakeup", "--run"]);
        let done = plot.arg(&run).args(more).assert().success();
        done.get_output().stdout.clone()
    };
    let drawn = chart(&[]);
    assert!(drawn.starts_with(b"<svg"));
    assert!(chart(&["--redact"]) == drawn, "it names nobody anyhow");
}

#[test]
fn a_redacted_run_can_be_used_like_any_other() {
    let place = stored();
    let shared = place.path("shared.oscope.json");
    let shared = shared.to_str().expect("a plain path");
    place
        .oscope(&["export", "--redact", "--output", shared])
        .assert()
        .success()
        .stderr(predicate::str::is_empty());
    place.oscope(&["verify", shared]).assert().success();
    let run: Value = serde_json::from_slice(&fs::read(shared).expect("a file")).expect("JSON");
    assert_eq!(run["run"]["header"]["redacted"], true);
    let elsewhere = Place::new();
    elsewhere.oscope(&["import", shared]).assert().success();
    elsewhere
        .oscope(&["show"])
        .assert()
        .success()
        .stdout(contains("This run is redacted"));
    elsewhere.oscope(&["verify"]).assert().success();
    let page = printed(&elsewhere, &["report"]);
    assert!(unpacked(&page).contains("marks stand in the place"));
    // It is the same run, so there is nothing to compare it with.
    place
        .oscope(&["compare", "latest", shared])
        .assert()
        .code(2)
        .stderr(contains("share a run"));
    let text = fs::read_to_string(UNPROVEN).expect("a run");
    let other = elsewhere.path("other.oscope.json");
    fs::write(&other, in_six_passes(&text, &"f".repeat(32))).expect("a file");
    let mut compare = elsewhere.oscope(&["compare", "latest"]);
    compare.arg(&other).assert().success();
    // Redacting twice changes nothing.
    let again = printed(&elsewhere, &["export", "--redact"]);
    assert!(again == fs::read(shared).expect("a file"));
}

#[test]
fn the_marks_of_a_store_are_the_same_and_those_of_another_are_not() {
    let place = stored();
    let first = printed(&place, &["export", "--redact"]);
    assert!(first == printed(&place, &["export", "--redact"]));
    assert!(first != printed(&stored(), &["export", "--redact"]));
}

#[test]
fn without_a_store_the_marks_are_those_of_one_output() {
    let place = Place::new();
    let file = planted(&place);
    let export = || {
        let done = place
            .oscope(&["export", &file, "--redact"])
            .assert()
            .success();
        done.stderr(contains("the marks of this output"))
            .get_output()
            .stdout
            .clone()
    };
    let (one, other) = (export(), export());
    assert!(one != other);
    assert!(!unpacked(&one).contains(SECRET));
    assert!(!Path::new(&place.store).exists(), "nothing was made for it");
}
