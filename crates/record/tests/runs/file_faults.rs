//! Files that are damaged, foreign or of the wrong version: a clear error each, never a panic.

use crate::common::complete;
use oscope_record::file::{self, ExportError, ImportError};
use proptest::prelude::*;
use serde_json::{Value, json};

fn bytes() -> Vec<u8> {
    let mut bytes = Vec::new();
    file::export(&complete(1), &mut bytes).unwrap();
    bytes
}

fn text() -> String {
    String::from_utf8(bytes()).unwrap()
}

fn import(text: &str) -> ImportError {
    file::import(text.as_bytes()).unwrap_err()
}

/// The document without checksums, which would detect the changes.
fn without_checksums() -> Value {
    let mut document: Value = serde_json::from_str(&text()).unwrap();
    document.as_object_mut().unwrap().remove("checksums");
    document["run"]["header"]["proven"] = false.into();
    document
}

/// The error of importing a document whose value at `pointer` was replaced.
fn changed(pointer: &str, value: impl Into<Value>) -> ImportError {
    let mut document = without_checksums();
    *document.pointer_mut(pointer).unwrap() = value.into();
    import(&document.to_string())
}

#[test]
fn other_files_are_no_runs() {
    for other in [
        "",
        " ",
        "[]",
        "{}",
        "null",
        "hello",
        "{\"format\":\"other\",\"version\":1}",
        "{",
    ] {
        let error = import(other);
        assert!(matches!(error, ImportError::NotARun), "{other}: {error:?}");
    }
    let error = file::import(std::io::repeat(0)).unwrap_err();
    assert!(
        matches!(error, ImportError::NotARun),
        "an endless file: {error:?}"
    );
    let error = file::import([b'{', 0xff, 0xfe].as_slice()).unwrap_err();
    assert!(matches!(error, ImportError::NotARun), "{error:?}");
}

#[test]
fn a_document_of_another_version_is_refused_whatever_it_holds() {
    let whole = serde_json::from_str::<Value>(&text()).unwrap();
    for version in [0, 4, 6, u64::MAX] {
        let mut other = whole.clone();
        other["version"] = version.into();
        let empty = json!({"format": "oscope-run", "version": version, "run": {}});
        for document in [other, empty] {
            let error = import(&document.to_string());
            assert!(
                matches!(error, ImportError::OtherVersion { found, known: 5 } if found == version),
                "{error:?}"
            );
        }
    }
}

#[test]
fn a_timing_without_a_pass_is_refused() {
    let mut document = without_checksums();
    let batch = document.pointer_mut("/run/experiments/0/points/0/batches/0");
    batch.unwrap().as_object_mut().unwrap().remove("pass");
    let error = import(&document.to_string());
    assert!(error.to_string().contains("no pass"), "{error}");
}

#[test]
fn a_document_that_ends_early_says_where() {
    let bytes = bytes();
    for end in [30, bytes.len() / 2, bytes.len() - 3] {
        let error = file::import(&bytes[..end]).unwrap_err();
        assert!(
            matches!(error, ImportError::Truncated(at) if at == end),
            "{end}: {error:?}"
        );
    }
    let name = text().replace("drop_caches", "drop_cäches");
    let end = name.find('ä').unwrap() + 1;
    let error = file::import(&name.as_bytes()[..end]).unwrap_err();
    assert!(
        matches!(error, ImportError::Truncated(at) if at == end),
        "{error:?}"
    );
}

#[test]
fn a_damaged_document_says_where() {
    let damaged = |from: &str, to: &str| {
        let text = text();
        assert!(text.contains(from));
        import(&text.replacen(from, to, 1)).to_string()
    };
    assert!(damaged("\"header\":", "\"header\";").contains("column"));
    assert!(damaged("\"header\":", "\"haeder\":").contains("header"));
    assert!(damaged("1000000", "NaN").contains("column"));
    assert!(damaged("0.30000000000000004", "1e999").contains("out of range"));
    assert!(damaged("0.30000000000000004", "null").contains("null"));
    let mut bytes = bytes();
    bytes[500] = 0xff;
    let error = file::import(bytes.as_slice()).unwrap_err();
    assert!(matches!(error, ImportError::NotText(500)), "{error:?}");
}

#[test]
fn what_cannot_have_been_measured_is_refused() {
    let experiment = |rest: &str| format!("/run/experiments/0/{rest}");
    let sample = |rest: &str| experiment("points/0/batches/0/samples/1/") + rest;
    let cases = [
        ("/run/header/id".into(), json!("ABC"), "hexadecimal digits"),
        ("/run/header/budget_ns".into(), json!(-1), "negative"),
        (
            experiment("definition/id"),
            json!("memory.bandwidth"),
            "twice",
        ),
        (experiment("definition/id"), json!(""), "empty"),
        (experiment("definition/id"), json!("\u{1b}[2J"), "control"),
        (
            experiment("definition/metrics/1/name"),
            json!("read"),
            "twice",
        ),
        (
            experiment("definition/axes/1/name"),
            json!("operation"),
            "twice",
        ),
        (
            experiment("points/0/point/1/0"),
            json!("operation"),
            "twice",
        ),
        (sample("metric"), json!("m".repeat(201)), "longer"),
        (sample("at_ns"), json!(u64::MAX), "at_ns"),
        (sample("reading/once/work"), json!(-4096.0), "negative"),
        (sample("reading/once/wall_ns"), json!(i64::MAX), "add up"),
        (sample("usage/user_ns"), json!(i64::MAX), "add up"),
    ];
    for (pointer, value, word) in cases {
        let error = changed(&pointer, value);
        assert!(
            matches!(error, ImportError::Invalid(_)),
            "{pointer}: {error:?}"
        );
        assert!(error.to_string().contains(word), "{pointer}: {error}");
    }
    let mut document = without_checksums();
    let points = document.pointer_mut("/run/experiments/0/points").unwrap();
    let twice = points[0].clone();
    points.as_array_mut().unwrap().push(twice);
    assert!(import(&document.to_string()).to_string().contains("twice"));
}

#[test]
fn a_run_with_numbers_that_json_cannot_express_is_not_exported() {
    let change: [fn(&mut oscope_record::Run); 4] = [
        |run| run.header.budget_ns = f64::NAN,
        |run| run.environment.load_average = Some([f64::INFINITY; 3]),
        |run| run.experiments[0].definition.metrics[0].bound = Some(f64::INFINITY),
        |run| {
            run.experiments[0].points[0].batches[0].samples[0].reading =
                instrument::sample::Reading::Value(f64::NAN);
        },
    ];
    for change in change {
        let mut run = complete(1);
        change(&mut run);
        let mut bytes = Vec::new();
        let error = file::export(&run, &mut bytes).unwrap_err();
        assert!(matches!(error, ExportError::Invalid(_)), "{error:?}");
        assert!(bytes.is_empty());
    }
}

proptest! {
    #[test]
    fn arbitrary_bytes_never_panic(bytes: Vec<u8>) {
        prop_assert!(file::import(bytes.as_slice()).is_err());
    }

    #[test]
    fn arbitrary_damage_never_panics(at: prop::sample::Index, byte: u8, end: prop::sample::Index) {
        let mut bytes = bytes();
        let at = at.index(bytes.len());
        bytes[at] = byte;
        bytes.truncate(bytes.len() - end.index(2) * end.index(bytes.len()));
        // Every accepted document can be analysed.
        if let Ok(run) = file::import(bytes.as_slice()) {
            for experiment in &run.experiments {
                experiment.results(&run.machine);
            }
        }
    }
}
