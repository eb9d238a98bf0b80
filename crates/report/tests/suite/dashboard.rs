//! The Grafana dashboard asks for what is exported, and for nothing else.

use crate::fixture;
use instrument::experiment::{Definition, Experiment};
use instrument::point::Point;
use oscope_report::export::openmetrics;
use serde_json::Value;
use std::collections::BTreeSet;

const DASHBOARD: &str = include_str!("../../../../packaging/grafana/oscope.json");

/// The names of all gauges that an export of any run can hold.
fn exported() -> BTreeSet<String> {
    let definitions: Vec<Definition> = experiments::all().map(Experiment::definition).collect();
    let analysed = definitions.iter().map(|definition| {
        let metrics = definition.metrics.iter();
        let estimates = metrics.map(|metric| fixture::estimate(&metric.name, 1.0, 0.01));
        let point = fixture::result(Point::new(), estimates.collect());
        fixture::analysed(definition, vec![point])
    });
    let mut analysis = fixture::analysis();
    analysis.experiments = analysed.collect();
    let text = openmetrics(&analysis);
    let names = text.lines().filter_map(|line| line.strip_prefix("# TYPE "));
    let names = names.filter_map(|line| line.strip_suffix(" gauge"));
    names.map(str::to_owned).collect()
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
