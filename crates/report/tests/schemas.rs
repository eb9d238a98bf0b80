//! The committed schemas of the JSON output are current.

use oscope_report::{comparison, fleet, json, lab, network, reproduce};
use schemars::schema_for;
use std::fs;
use std::path::Path;

const RENEW: &str = "OSCOPE_RENEW_SCHEMA";

#[test]
fn the_committed_schemas_are_current() {
    let mut schemas = json::schemas();
    schemas.extend([
        ("class", schema_for!(lab::Class)),
        ("comparison", comparison::schema()),
        ("fleet", fleet::schema()),
        ("hand-in", schema_for!(lab::HandIn)),
        ("labs", schema_for!(Vec<lab::Entry>)),
        ("network", network::schema()),
        ("reproduction", reproduce::schema()),
    ]);
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("schema");
    let mut names = Vec::new();
    for (name, schema) in schemas {
        let format = match name {
            "comparison" => comparison::FORMAT,
            "fleet" => fleet::FORMAT,
            "network" => network::FORMAT,
            _ => json::FORMAT,
        };
        let name = format!("{name}-{format}.schema.json");
        let committed = folder.join(&name);
        let current = format!("{:#}\n", schema.as_value());
        if std::env::var_os(RENEW).is_some() {
            fs::write(&committed, &current).unwrap();
        }
        assert!(
            fs::read_to_string(&committed).unwrap_or_default() == current,
            "{name} has changed: see docs/guide/stability.md on versions, then renew the schemas with \
             {RENEW}=1 cargo test -p oscope-report --test schemas"
        );
        names.push(name);
    }
    for file in fs::read_dir(&folder).unwrap() {
        let name = file.unwrap().file_name().into_string().unwrap();
        assert!(
            names.contains(&name),
            "nothing writes what {name} describes"
        );
    }
}
