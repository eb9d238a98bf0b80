//! All output of `--json` matches its committed schema and contains its version.

use crate::common::receiver::Receiver;
use crate::common::{EXPORTED, Place, UNPROVEN, ends, in_six_passes, json};
use serde_json::Value;
use std::fs;

/// Validates the output against a schema: `report/schema/runs-1`.
pub(super) fn is_valid(stdout: &[u8], schema: &str, line: &str) {
    let document = json(stdout);
    let crates = concat!(env!("CARGO_MANIFEST_DIR"), "/..");
    let path = format!("{crates}/{schema}.schema.json");
    let text = fs::read_to_string(&path).expect("a committed schema");
    let schema: Value = serde_json::from_str(&text).expect("a schema is JSON");
    jsonschema::meta::validate(&schema).expect("a schema");
    let validator = jsonschema::validator_for(&schema).expect("a schema");
    let errors = validator.iter_errors(&document);
    let errors: Vec<_> = errors
        .map(|it| format!("{it} at {}", it.instance_path()))
        .collect();
    assert!(errors.is_empty(), "{line} by {path}: {errors:?}");
    for part in document.as_array().unwrap_or(&vec![document.clone()]) {
        let has_version = part["format"] == 1 || part["version"] == 5 || part.is_string();
        assert!(has_version, "{line}: {part}");
    }
}

/// Validates the output of each row `LINE | SCHEMA`, for any exit code.
fn check(place: &Place, table: &str) {
    let rows = table.lines().filter_map(|row| row.split_once(" | "));
    for (line, schema) in rows {
        let line = format!("{line} --json --quiet");
        let output = place.line(&line).output().expect("the program starts");
        let stderr = String::from_utf8_lossy(&output.stderr);
        assert!(output.stdout.len() > 2, "{line}: {stderr}");
        is_valid(&output.stdout, schema, &line);
    }
}

#[test]
fn stored_runs() {
    let place = Place::with(EXPORTED);
    for digit in ["a", "b"] {
        let run = fs::read_to_string(UNPROVEN).expect("a run");
        let run = in_six_passes(&run, &digit.repeat(32));
        place.file(&format!("{digit}.oscope.json"), run);
    }
    let table = "
        show | report/schema/analysis-1
        show --redact | report/schema/analysis-1
        claims | report/schema/claims-1
        reproduce | report/schema/reproduction-1
        lab list | report/schema/labs-1
        advise | advice/schema/advice-1
        verify | report/schema/verification-1
        verify $a.oscope.json | report/schema/proof-1
        history | report/schema/runs-1
        history --changes | report/schema/changes-1
        compare $a.oscope.json $b.oscope.json | report/schema/comparison-1
        export | record/schema/run-5
        export --redact | record/schema/run-5
    ";
    check(&place, table);
    check!(place => "import $a.oscope.json | 0");
    let table = "
        history file.block_size | report/schema/histories-1
        delete latest --force | oscope/schema/delete-1
    ";
    check(&place, table);
}

#[test]
fn comparisons_of_commands_and_of_values() {
    let table = "
        ab true 'sleep 0.01' --runs 3 | oscope/schema/ab-1
        show | report/schema/analysis-1
        export | record/schema/run-5
        ab process.calls --vary env:A=1,2 --runs 1 --dir $scratch | oscope/schema/ab-vary-1
        ab process.calls --vary env:A=1,2 --runs 2 --dir $scratch | oscope/schema/ab-vary-1
        show | report/schema/analysis-1
        export | record/schema/run-5
    ";
    check(&Place::new(), table);
}

#[test]
fn damage() {
    let place = Place::with(EXPORTED);
    place.change_store(
        "UPDATE runs SET name = 'other'; UPDATE batches SET content = x'01'; DELETE FROM points WHERE key = 2",
    );
    let text = fs::read_to_string(EXPORTED).expect("a run");
    place.file("cut.oscope.json", text.replace("2000000", "2000001"));
    let table = "
        verify | report/schema/verification-1
        history | report/schema/runs-1
        verify $cut.oscope.json | report/schema/proof-1
    ";
    check(&place, table);
}

#[test]
fn experiments_and_the_machine() {
    let place = Place::new();
    let table = "
        list | report/schema/definitions-1
        list --references | report/schema/headers-1
        explain memory | report/schema/definitions-1
        doctor | report/schema/checks-1
    ";
    check(&place, table);
    let cleaned = ends(&mut place.line("cleanup --json --dir $scratch"), "0");
    is_valid(&cleaned.stdout, "oscope/schema/leftovers-1", "cleanup");
}

#[test]
fn a_run() {
    let place = Place::new();
    let mut run = place.short_run();
    let output = run.args(["--json", "--quiet"]).output();
    let stdout = output.expect("the program starts").stdout;
    is_valid(&stdout, "report/schema/analysis-1", "run");
    let table = "
        history process.calls | report/schema/histories-1
        export | record/schema/run-5
    ";
    check(&place, table);
}

#[test]
fn files_and_transfers() {
    let place = Place::new();
    let table = "
        file write $file --block-size 4K --count 200 | oscope/schema/file-1
        file read $file --block-size 4K | oscope/schema/file-1
        file sum $file | oscope/schema/file-1
        file copy $file $copy --block-size 64K | oscope/schema/file-1
    ";
    check(&place, table);
    let receiver = Receiver::start(&place.path("to"), &["--once", "--json"]);
    let send = format!(
        "send $file --to {} | oscope/schema/transfer-1",
        receiver.address
    );
    check(&place, &send);
    let there = receiver.end();
    is_valid(&there.stdout, "oscope/schema/transfer-1", "receive");
}
