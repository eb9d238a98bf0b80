//! Histories: a metric over the runs of a machine, and the changes in all metrics.

use super::FORMAT;
use crate::changes::Changes;
use crate::comparison::FALSE_DISCOVERY_RATE;
use crate::history::{Entry, History};
use instrument::point::Level;
use instrument::quantity::Unit;
use instrument::statistics::Interval;
use instrument::statistics::changes::LEAST;
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::Value;
use std::collections::BTreeMap;

/// The runs and the changes of each history, by run number.
pub fn histories(histories: &[History]) -> Value {
    let all: Vec<HistoryJson<'_>> = histories.iter().map(HistoryJson::new).collect();
    super::value(&all)
}

/// The changes, the newest first, by run number.
pub fn changes(changes: &Changes, damaged: usize) -> Value {
    super::value(&ChangesJson {
        format: FORMAT,
        changes,
        least_runs: LEAST,
        damaged,
        false_discovery_rate: FALSE_DISCOVERY_RATE,
    })
}

#[derive(Serialize, JsonSchema)]
pub(super) struct ChangesJson<'a> {
    format: u32,
    #[serde(flatten)]
    changes: &'a Changes,
    /// A value needs this many runs.
    least_runs: usize,
    /// Number of runs left out because they do not match their checksums.
    damaged: usize,
    /// The share of the changed values that may be false alarms, on average.
    false_discovery_rate: f64,
}

#[derive(Serialize, JsonSchema)]
pub(super) struct HistoryJson<'a> {
    format: u32,
    experiment: &'a str,
    /// Axis to level: bytes, a count, or a choice.
    levels: BTreeMap<&'a str, &'a Level>,
    metric: &'a str,
    version: u32,
    unit: Unit,
    /// The runs, oldest first.
    runs: &'a [Entry],
    changes: Vec<ChangeJson>,
    /// Number of runs left out because their value is not sound or belongs to another version of
    /// the metric.
    left_out: usize,
    /// Number of runs left out because they do not match their checksums.
    damaged: usize,
}

/// A change of the level.
#[derive(Serialize, JsonSchema)]
struct ChangeJson {
    /// The first run of the new level.
    run: u64,
    /// The earliest run at which the level may have changed.
    earliest_run: u64,
    /// The latest run at which the level may have changed.
    latest_run: u64,
    /// New level divided by the old level.
    ratio: f64,
    /// Its 95 % confidence interval.
    interval: Option<Interval>,
}

impl<'a> HistoryJson<'a> {
    fn new(history: &'a History) -> Self {
        let number = |index: usize| history.runs[index].run;
        let changes = history.changes.iter().map(|change| ChangeJson {
            run: number(change.at),
            earliest_run: number(change.between.0),
            latest_run: number(change.between.1),
            ratio: change.ratio.centre,
            interval: change.ratio.interval,
        });
        Self {
            format: FORMAT,
            experiment: &history.definition.id,
            levels: history.point.levels().collect(),
            metric: &history.metric.name,
            version: history.metric.version,
            unit: history.metric.unit,
            runs: &history.runs,
            changes: changes.collect(),
            left_out: history.left_out,
            damaged: history.damaged,
        }
    }
}
