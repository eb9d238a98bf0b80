//! The Grafana dashboard asks for what is exported, and for nothing else.

use instrument::experiment::Experiment;
use instrument::quantity::Unit;
use serde_json::Value;
use std::collections::BTreeSet;

const DASHBOARD: &str = include_str!("../../../../packaging/grafana/oscope.json");

/// The names of all gauges that an export of any run can hold.
fn exported() -> BTreeSet<String> {
    let mut names = BTreeSet::from(["oscope_run_start_timestamp_seconds".to_owned()]);
    for definition in experiments::all().map(Experiment::definition) {
        for metric in &definition.metrics {
            let unit = match metric.unit {
                Unit::BytesPerSecond => "bytes_per_second",
                Unit::OperationsPerSecond => "operations_per_second",
                Unit::Nanoseconds => "seconds",
                Unit::Bytes => "bytes",
                Unit::Count => "things",
                Unit::Share | Unit::Ratio => "ratio",
            };
            let base = format!("oscope_{}_{}", definition.id.replace('.', "_"), metric.name);
            for end in ["", "_interval_low", "_interval_high"] {
                names.insert(format!("{base}{end}_{unit}"));
            }
        }
    }
    names
}

/// All names of metrics in a query.
fn asked(query: &str) -> impl Iterator<Item = &str> {
    let words = query.split(|c: char| !(c.is_ascii_alphanumeric() || c == '_'));
    words.filter(|word| word.starts_with("oscope_"))
}

#[test]
fn every_query_asks_for_metrics_that_are_exported() {
    let dashboard: Value = serde_json::from_str(DASHBOARD).expect("it is JSON");
    let exported = exported();
    let panels = dashboard["panels"].as_array().expect("panels");
    let targets = panels
        .iter()
        .flat_map(|panel| panel["targets"].as_array().expect("targets"));
    let mut count = 0;
    for query in targets.map(|target| target["expr"].as_str().expect("a query")) {
        assert!(asked(query).count() > 0, "{query}");
        for name in asked(query) {
            assert!(exported.contains(name), "{name} in {query}");
            count += 1;
        }
    }
    assert!(count >= panels.len());
}
