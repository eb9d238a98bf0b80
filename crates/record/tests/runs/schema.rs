//! The committed schema is current, and every exported document is valid by it.

use crate::common::{complete, document, random};
use oscope_record::file;
use proptest::prelude::*;
use serde_json::Value;
use std::fs;
use std::path::Path;
use std::sync::LazyLock;

const RENEW: &str = "OSCOPE_RENEW_SCHEMA";

static VALIDATOR: LazyLock<jsonschema::Validator> = LazyLock::new(|| {
    let schema: Value = serde_json::from_str(&fs::read_to_string(committed()).unwrap()).unwrap();
    jsonschema::meta::validate(&schema).unwrap();
    jsonschema::validator_for(&schema).unwrap()
});

fn committed() -> impl AsRef<Path> {
    Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("schema/run-{}.schema.json", file::VERSION))
}

#[test]
fn the_committed_schema_is_current() {
    let current = format!("{:#}\n", file::schema().as_value());
    if std::env::var_os(RENEW).is_some() {
        fs::write(committed(), &current).unwrap();
    }
    assert!(
        fs::read_to_string(committed()).unwrap_or_default() == current,
        "the run model has changed: see `oscope_record::file` on versions, then renew the schema \
         with {RENEW}=1 cargo test -p oscope-record --test runs committed"
    );
}

#[test]
fn the_schema_accepts_documents_and_nothing_else() {
    let document = document(&complete(1));
    assert!(VALIDATOR.is_valid(&document));
    let wrong = |pointer: &str, value: Value| {
        let mut document = document.clone();
        *document.pointer_mut(pointer).unwrap() = value;
        !VALIDATOR.is_valid(&document)
    };
    assert!(wrong("/format", "other".into()));
    assert!(wrong("/version", (file::VERSION + 1).into()));
    assert!(wrong("/run/header/profile", "hasty".into()));
    assert!(wrong(
        "/run/experiments/0/points/0/batches/0/samples/0/at_ns",
        (-1).into()
    ));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    #[test]
    fn exported_documents_are_valid(run in random::run()) {
        let document = document(&run);
        let errors: Vec<String> =
            VALIDATOR.iter_errors(&document).map(|error| error.to_string()).collect();
        prop_assert!(errors.is_empty(), "{:?}", errors);
    }
}
