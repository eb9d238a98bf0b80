//! A run as [`OpenMetrics`](https://prometheus.io/docs/specs/om/open_metrics_spec/) text, in base
//! units and without time stamps. The textfile collector of the Prometheus node exporter reads it,
//! too.

use crate::Analysis;
use crate::lists::joined;
use instrument::experiment::Metric;
use instrument::point::Point;
use instrument::quantity::Unit;
use std::collections::BTreeMap;
use std::fmt::Write as _;

/// One gauge for each sound estimate, further gauges for the ends of its interval, and one for the
/// start time of the run.
pub fn openmetrics(analysis: &Analysis<'_>) -> String {
    let mut families: BTreeMap<String, Family> = BTreeMap::new();
    for experiment in &analysis.experiments {
        let definition = experiment.definition;
        for (point, metric, estimate) in experiment.sound() {
            let (low, high) = estimate.interval.map(|ends| (ends.low, ends.high)).unzip();
            let parts = [
                ("", "", Some(estimate.centre)),
                ("_interval_low", ", lower end of the 95 % interval", low),
                ("_interval_high", ", upper end of the 95 % interval", high),
            ];
            for (suffix, words, value) in parts {
                let Some(value) = value else { continue };
                let (unit, factor) = base_unit(metric.unit);
                let name = format!("oscope_{}_{}{suffix}_{unit}", definition.id, metric.name);
                let family = families.entry(legal(&name)).or_insert_with(|| Family {
                    unit,
                    help: help(&definition.title, metric, words),
                    samples: Vec::new(),
                });
                family.samples.push((labels(point), value * factor));
            }
        }
    }
    let mut text = started(analysis);
    for (name, family) in &families {
        family.write(name, &mut text);
    }
    text + "# EOF\n"
}

/// All gauges with the same name.
struct Family {
    unit: &'static str,
    help: String,
    /// Labels and value of each sample.
    samples: Vec<(String, f64)>,
}

impl Family {
    fn write(&self, name: &str, text: &mut String) {
        // Writing to a String cannot fail.
        let _ = writeln!(text, "# TYPE {name} gauge");
        let _ = writeln!(text, "# UNIT {name} {}", self.unit);
        let _ = writeln!(text, "# HELP {name} {}", self.help);
        for (labels, value) in &self.samples {
            let _ = writeln!(text, "{name}{labels} {value}");
        }
    }
}

fn started(analysis: &Analysis<'_>) -> String {
    let header = &analysis.run.header;
    let run = Point::new()
        .with("run", header.id.as_str())
        .with("name", header.name.as_deref().unwrap_or(""))
        .with("machine", header.machine_fingerprint.as_str());
    let family = Family {
        unit: "seconds",
        help: "When the run started, in seconds since 1970.".into(),
        samples: vec![(labels(&run), header.started.as_second() as f64)],
    };
    let mut text = String::new();
    family.write("oscope_run_start_timestamp_seconds", &mut text);
    text
}

fn help(title: &str, metric: &Metric, words: &str) -> String {
    format!("{title}: {}{words}.", metric.title)
        .replace('\\', "\\\\")
        .replace('\n', "\\n")
}

/// The name of the base unit, and the size of our unit in base units.
fn base_unit(unit: Unit) -> (&'static str, f64) {
    match unit {
        Unit::BytesPerSecond => ("bytes_per_second", 1.0),
        Unit::OperationsPerSecond => ("operations_per_second", 1.0),
        Unit::Nanoseconds => ("seconds", 1e-9),
        Unit::Bytes => ("bytes", 1.0),
        Unit::Count => ("things", 1.0),
        Unit::Share | Unit::Ratio => ("ratio", 1.0),
    }
}

/// `{block_size="4096",pass="read"}`; empty for a point without axes.
fn labels(point: &Point) -> String {
    let labels = point.levels().map(|(axis, level)| {
        let value = level.to_string();
        let value = value
            .replace('\\', "\\\\")
            .replace('"', "\\\"")
            .replace('\n', "\\n");
        format!("{}=\"{value}\"", legal(axis))
    });
    match joined(",", labels) {
        none if none.is_empty() => none,
        labels => format!("{{{labels}}}"),
    }
}

/// `name` with an underscore in place of each character that a name may not contain.
fn legal(name: &str) -> String {
    let legal = |c: char| if c.is_ascii_alphanumeric() { c } else { '_' };
    let name: String = name.chars().map(legal).collect();
    if name.starts_with(|c: char| c.is_ascii_digit()) {
        format!("_{name}")
    } else {
        name
    }
}

#[cfg(test)]
mod tests {
    use super::{labels, legal};
    use instrument::point::Point;

    #[test]
    fn names_and_labels_are_legal() {
        assert_eq!(legal("memory.bandwidth read"), "memory_bandwidth_read");
        assert_eq!(legal("3d"), "_3d");
        let point = Point::new().with("block_size", 4096).with("way", "a\"b\\");
        assert_eq!(labels(&point), r#"{block_size="4096",way="a\"b\\"}"#);
        assert_eq!(labels(&Point::new()), "");
    }
}
