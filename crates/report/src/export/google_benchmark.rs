//! A run in the JSON format of [Google Benchmark](https://github.com/google/benchmark), for its
//! tools: each process is a repetition, followed by mean, median and standard deviation.
//!
//! Contains only timed metrics, as ns per unit of work: the format has no place for other data.

use crate::{Analysis, ExperimentAnalysis};
use instrument::experiment::Metric;
use instrument::point::Point;
use instrument::quantity::Unit;
use instrument::results::Estimate;
use instrument::statistics::summary::{mean, median, standard_deviation};
use platform::machine::CacheKind;
use serde_json::{Value, json};

/// The run as a document of Google Benchmark.
pub fn google_benchmark(analysis: &Analysis<'_>) -> Value {
    let run = analysis.run;
    let caches = run.machine.caches.iter().map(|cache| {
        json!({
            "type": match cache.kind {
                CacheKind::Data => "Data",
                CacheKind::Instruction => "Instruction",
                CacheKind::Unified => "Unified",
            },
            "level": cache.level,
            "size": cache.size_bytes.unwrap_or(0),
            "num_sharing": cache.shared_by_cpus,
        })
    });
    let frequency = &run.environment.frequency;
    let megahertz = frequency.maximum_hz.or(frequency.current_hz);
    let benchmarks = analysis.experiments.iter().flat_map(of_experiment);
    json!({
        "context": {
            "date": run.header.started.to_string(),
            "host_name": run.header.machine_fingerprint,
            "executable": "oscope",
            "num_cpus": run.machine.topology.threads.unwrap_or(1),
            "mhz_per_cpu": megahertz.map_or(0, |hz| (hz / 1e6).round() as u64),
            "cpu_scaling_enabled": frequency.governor.as_ref().is_some_and(|name| name != "performance"),
            "caches": caches.collect::<Vec<_>>(),
            "load_avg": run.environment.load_average.unwrap_or_default(),
            "library_build_type": "release",
            "oscope_run": run.header.id,
        },
        "benchmarks": benchmarks.collect::<Vec<_>>(),
    })
}

fn of_experiment(experiment: &ExperimentAnalysis<'_>) -> Vec<Value> {
    let sound = experiment.sound();
    let entries = sound.flat_map(|(point, metric, estimate)| {
        let name = name(&experiment.definition.id, point, metric);
        repetitions(&name, metric, estimate)
    });
    entries.collect()
}

/// `group.name/metric/block_size:4096/page_size:base`, in the style of Google Benchmark's
/// arguments.
fn name(experiment: &str, point: &Point, metric: &Metric) -> String {
    let levels = point
        .levels()
        .map(|(axis, level)| format!("/{axis}:{level}"));
    format!("{experiment}/{}{}", metric.name, levels.collect::<String>())
}

fn repetitions(name: &str, metric: &Metric, estimate: &Estimate) -> Vec<Value> {
    let costs: Option<Vec<f64>> = estimate
        .by_process
        .iter()
        .map(|value| cost_ns(metric.unit, *value))
        .collect();
    let Some(costs) = costs else {
        return Vec::new();
    };
    let entry = |kind: &str, ns: f64| {
        let mut entry = json!({
            "name": name,
            "run_name": name,
            "run_type": kind,
            "repetitions": costs.len(),
            "threads": 1,
            "iterations": 1,
            "real_time": ns,
            "cpu_time": ns * estimate.cpu_share.unwrap_or(1.0),
            "time_unit": "ns",
        });
        match metric.unit {
            Unit::BytesPerSecond => entry["bytes_per_second"] = json!(1e9 / ns),
            Unit::OperationsPerSecond => entry["items_per_second"] = json!(1e9 / ns),
            _ => {}
        }
        entry
    };
    let single = costs.iter().enumerate().map(|(index, ns)| {
        let mut entry = entry("iteration", *ns);
        entry["repetition_index"] = json!(index);
        entry
    });
    let aggregates = [
        ("mean", mean(&costs)),
        ("median", median(&costs)),
        ("stddev", standard_deviation(&costs)),
    ];
    let aggregates = aggregates.into_iter().filter_map(|(aggregate, ns)| {
        let mut entry = entry("aggregate", ns?);
        entry["name"] = json!(format!("{name}_{aggregate}"));
        entry["aggregate_name"] = json!(aggregate);
        entry["aggregate_unit"] = json!("time");
        entry["iterations"] = json!(costs.len());
        if aggregate == "stddev" {
            // The rate of a standard deviation has no meaning.
            let fields = entry.as_object_mut()?;
            fields.remove("bytes_per_second");
            fields.remove("items_per_second");
        }
        Some(entry)
    });
    single.chain(aggregates).collect()
}

/// Time per unit of work in ns; `None` for metrics that are not timed.
fn cost_ns(unit: Unit, value: f64) -> Option<f64> {
    let cost = match unit {
        Unit::BytesPerSecond | Unit::OperationsPerSecond => 1e9 / value,
        Unit::Nanoseconds => value,
        _ => return None,
    };
    cost.is_finite().then_some(cost)
}
