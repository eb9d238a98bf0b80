//! What is written is read again, and the committed schema accepts it.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

use oscope_advice::{Advice, Error, FORMAT, Gain, Setting, Value, load_from};
use serde_json::{Value as Json, json};
use std::fs;
use std::path::Path;

fn validator() -> jsonschema::Validator {
    let name = format!("schema/advice-{FORMAT}.schema.json");
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(name);
    let schema: Json = serde_json::from_str(&fs::read_to_string(path).unwrap()).unwrap();
    jsonschema::meta::validate(&schema).unwrap();
    jsonschema::validator_for(&schema).unwrap()
}

fn advice() -> Advice {
    let setting = |value, unit: Option<&str>, gain| Setting {
        title: "what it sets".into(),
        value,
        unit: unit.map(Into::into),
        usual: Value::Number(0),
        gain,
        because: "It follows.".into(),
        experiments: vec!["memory.subloop".into()],
    };
    let gain = Gain {
        ratio: 1.5,
        low: Some(1.4),
        high: None,
    };
    let never = Value::Choice("never".into());
    Advice {
        format: FORMAT,
        measured: "2026-03-01T00:00:00Z".into(),
        settings: [
            (
                "loop_piece_size_l1".into(),
                setting(Value::Number(32_768), Some("bytes"), Some(gain)),
            ),
            (
                "spin_in_sections_up_to".into(),
                setting(Value::Number(200), Some("nanoseconds"), None),
            ),
            ("map_files_from".into(), setting(never, Some("bytes"), None)),
        ]
        .into(),
        ..Advice::default()
    }
}

#[test]
fn what_is_written_is_read_again() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("advice.json");
    fs::write(&path, serde_json::to_vec(&advice()).unwrap()).unwrap();
    let read = load_from(&path).unwrap();
    assert_eq!(read, advice());
    assert_eq!(read.number("loop_piece_size_l1"), Some(32_768));
    assert_eq!(read.choice("map_files_from"), Some("never"));
    assert_eq!(read.number("map_files_from"), None);
    assert_eq!(read.number("nothing"), None);
}

#[test]
fn what_is_no_advice_is_an_error_of_its_kind() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("advice.json");
    assert!(matches!(load_from(&path), Err(Error::Unreadable { .. })));
    for damaged in ["", "[]", "{}", r#"{"format": 1}"#, r#"{"format": "one"}"#] {
        fs::write(&path, damaged).unwrap();
        assert!(
            matches!(load_from(&path), Err(Error::Damaged { .. })),
            "{damaged}"
        );
    }
    fs::write(&path, r#"{"format": 2, "elsewhere": []}"#).unwrap();
    let error = load_from(&path).unwrap_err();
    assert!(matches!(error, Error::OtherFormat { found: 2, .. }));
}

#[test]
fn advice_is_valid() {
    let advice = json!(advice());
    let errors: Vec<String> = validator()
        .iter_errors(&advice)
        .map(|error| error.to_string())
        .collect();
    assert!(errors.is_empty(), "{errors:?}");
}

#[test]
fn what_is_no_advice_is_not() {
    let wrong = |pointer: &str, value: Json| {
        let mut advice = json!(advice());
        *advice.pointer_mut(pointer).unwrap() = value;
        !validator().is_valid(&advice)
    };
    assert!(wrong("/format", json!(2)));
    assert!(wrong("/settings/map_files_from/value", json!(-1)));
    assert!(wrong("/settings/map_files_from/value", json!("two words")));
    assert!(wrong("/settings/map_files_from/unit", json!("furlongs")));
    assert!(wrong("/settings/loop_piece_size_l1/gain", json!(1.5)));
}
