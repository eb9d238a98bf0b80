//! The committed schema of comparisons is current.

use oscope_report::comparison;
use std::fs;
use std::path::Path;

const RENEW: &str = "OSCOPE_RENEW_SCHEMA";

#[test]
fn the_committed_schema_is_current() {
    let committed = Path::new(env!("CARGO_MANIFEST_DIR")).join(format!(
        "schema/comparison-{}.schema.json",
        comparison::FORMAT
    ));
    let current = format!("{:#}\n", comparison::schema().as_value());
    if std::env::var_os(RENEW).is_some() {
        fs::write(&committed, &current).unwrap();
    }
    assert!(
        fs::read_to_string(&committed).unwrap_or_default() == current,
        "the format has changed: see `oscope_report::comparison` on versions, then renew the \
         schema with {RENEW}=1 cargo test -p oscope-report --test comparison_schema"
    );
}
