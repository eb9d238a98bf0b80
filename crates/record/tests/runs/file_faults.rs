//! Files that are damaged, foreign or of the wrong version: a clear error each, never a panic.

use crate::common::{assert_matches, complete, exported};
use oscope_record::file::{self, ExportError, ImportError};
use proptest::prelude::*;
use serde_json::{Value, json};

fn bytes() -> Vec<u8> {
    exported(&complete(1))
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

#[test]
fn other_files_are_no_runs() {
    let other_format = br#"{"format":"other","version":1}"#;
    let others: [&[u8]; 9] = [
        b"",
        b" ",
        b"[]",
        b"{}",
        b"null",
        b"hello",
        b"{",
        b"{\xff\xfe",
        other_format,
    ];
    for other in others {
        let error = file::import(other).unwrap_err();
        assert_matches!(error, ImportError::NotARun, other);
    }
    let endless = file::import(std::io::repeat(0)).unwrap_err();
    assert_matches!(endless, ImportError::NotARun);
}

#[test]
fn a_document_of_another_version_is_refused_whatever_it_holds() {
    let whole = serde_json::from_str::<Value>(&text()).unwrap();
    let known = u64::from(file::VERSION);
    for version in [0, known - 1, known + 1, u64::MAX] {
        let mut other = whole.clone();
        other["version"] = version.into();
        let empty = json!({"format": "oscope-run", "version": version, "run": {}});
        for document in [other, empty] {
            let error = import(&document.to_string());
            assert_matches!(error, ImportError::OtherVersion(found) if *found == version);
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
        assert_matches!(error, ImportError::Truncated(at) if *at == end, end);
    }
    let name = text().replace("drop_caches", "drop_cäches");
    let end = name.find('ä').unwrap() + 1;
    let error = file::import(&name.as_bytes()[..end]).unwrap_err();
    assert_matches!(error, ImportError::Truncated(at) if *at == end);
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
    assert_matches!(error, ImportError::NotText(500));
}

/// Places in a document, each with a value that cannot have been measured there, and a word of the error.
const IMPOSSIBLE: &str = r#"
/run/header/id "ABC" hexadecimal
/run/header/budget_ns -1 negative
/run/experiments/0/definition/id "memory.bandwidth" twice
/run/experiments/0/definition/id "" empty
/run/experiments/0/definition/id "\u001b[2J" control
/run/experiments/0/definition/metrics/1/name "read" twice
/run/experiments/0/definition/axes/1/name "operation" twice
/run/experiments/0/points/0/point/1/0 "operation" twice
/run/experiments/0/points/0/batches/0/samples/1/metric "<201>" longer
/run/experiments/0/points/0/batches/0/samples/1/at_ns 18446744073709551615 at_ns
/run/experiments/0/points/0/batches/0/samples/1/reading/once/work -4096.0 negative
/run/experiments/0/points/0/batches/0/samples/1/reading/once/wall_ns 9223372036854775807 add
/run/experiments/0/points/0/batches/0/samples/1/usage/user_ns 9223372036854775807 add"#;

#[test]
fn what_cannot_have_been_measured_is_refused() {
    for case in IMPOSSIBLE
        .replace("<201>", &"m".repeat(201))
        .lines()
        .skip(1)
    {
        let [pointer, value, word] = case.split(' ').collect::<Vec<_>>()[..] else {
            panic!("{case}");
        };
        let mut document = without_checksums();
        *document.pointer_mut(pointer).unwrap() = serde_json::from_str(value).unwrap();
        let error = import(&document.to_string());
        assert_matches!(error, ImportError::Invalid(_), case);
        assert!(error.to_string().contains(word), "{case}: {error}");
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
        assert_matches!(error, ExportError::Invalid(_));
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
