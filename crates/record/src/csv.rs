//! All samples of a run as one table.

use crate::reading::ReadingRow;
use crate::run::{ExperimentRecord, Run};
use instrument::sample::Sample;
use std::io::Write;

/// Columns before those of the axes.
const BEFORE: [&str; 2] = ["run", "experiment"];
/// Columns after those of the axes.
const AFTER: [&str; 23] = [
    "batch",
    "sample",
    "metric",
    "unit",
    "kind",
    "work",
    "iterations",
    "short_ns",
    "long_ns",
    "wall_ns",
    "count",
    "p5_ns",
    "p50_ns",
    "p95_ns",
    "p99_ns",
    "value",
    "user_ns",
    "system_ns",
    "minor_faults",
    "major_faults",
    "voluntary_switches",
    "involuntary_switches",
    "at_ns",
];

/// Writes every sample of `run` as a row of CSV ([RFC 4180](https://www.rfc-editor.org/rfc/rfc4180)
/// but for the line ends, which are those of Unix).
///
/// There is a column `axis.NAME` for each axis of any of its experiments, empty for those that do
/// not vary it. Columns that another kind of reading has are empty, too; `unit` is that of the
/// metric's estimates and of `value`. `batch` and `sample` count from 0.
///
/// # Errors
/// If the output cannot be written.
pub fn write(run: &Run, output: impl Write) -> std::io::Result<()> {
    let axes = axes(run);
    let mut table = ::csv::Writer::from_writer(output);
    let header = axes.iter().map(|axis| format!("axis.{axis}"));
    let header = BEFORE
        .map(String::from)
        .into_iter()
        .chain(header)
        .chain(AFTER.map(String::from));
    table.write_record(header)?;
    for experiment in &run.experiments {
        for record in &experiment.points {
            let level = |axis: &&str| record.point.get(axis).map(ToString::to_string);
            let levels: Vec<String> = axes
                .iter()
                .map(|axis| level(axis).unwrap_or_default())
                .collect();
            for (batch_index, batch) in record.batches.iter().enumerate() {
                for (index, sample) in batch.samples.iter().enumerate() {
                    let place = [run.header.id.clone(), experiment.definition.id.clone()];
                    let numbers = [batch_index.to_string(), index.to_string()];
                    let fields = place
                        .into_iter()
                        .chain(levels.iter().cloned())
                        .chain(numbers);
                    table.write_record(fields.chain(fields_of(sample, experiment)))?;
                }
            }
        }
    }
    table.flush()
}

/// The names of all axes, in the order in which the experiments name them.
fn axes(run: &Run) -> Vec<&str> {
    let mut names: Vec<&str> = Vec::new();
    let points = run
        .experiments
        .iter()
        .flat_map(|experiment| &experiment.points);
    for (axis, _) in points.flat_map(|record| record.point.levels()) {
        if !names.contains(&axis) {
            names.push(axis);
        }
    }
    names
}

/// The fields from `metric` on.
fn fields_of(sample: &Sample, experiment: &ExperimentRecord) -> [String; AFTER.len() - 2] {
    fn show(value: Option<impl ToString>) -> String {
        value.map(|value| value.to_string()).unwrap_or_default()
    }
    let row = ReadingRow::from(sample.reading);
    let usage = &sample.usage;
    let metric = experiment.definition.metric(&sample.metric);
    let unit = metric.and_then(|metric| serde_json::to_value(metric.unit).ok());
    [
        sample.metric.clone(),
        show(unit.as_ref().and_then(|unit| unit.as_str())),
        row.kind,
        show(row.work),
        show(row.iterations),
        show(row.short_ns),
        show(row.long_ns),
        show(row.wall_ns),
        show(row.count),
        show(row.p5_ns),
        show(row.p50_ns),
        show(row.p95_ns),
        show(row.p99_ns),
        show(row.value),
        usage.user_ns.to_string(),
        usage.system_ns.to_string(),
        usage.minor_faults.to_string(),
        usage.major_faults.to_string(),
        usage.voluntary_switches.to_string(),
        usage.involuntary_switches.to_string(),
        sample.at_ns.to_string(),
    ]
}
