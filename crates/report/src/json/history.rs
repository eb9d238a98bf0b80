//! Histories: a metric over the runs of a machine.

use super::FORMAT;
use crate::history::{Entry, History};
use instrument::point::Level;
use instrument::quantity::Unit;
use instrument::statistics::Interval;
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::Value;
use std::collections::BTreeMap;

/// For each history the runs and the changes, by their numbers.
pub fn histories(histories: &[History]) -> Value {
    let all: Vec<HistoryJson<'_>> = histories.iter().map(HistoryJson::new).collect();
    super::value(&all)
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
    /// The oldest first.
    runs: &'a [Entry],
    changes: Vec<ChangeJson>,
    /// Runs whose value is left out: of another version of the metric, or not sound.
    left_out: usize,
    /// Runs that are left out since they do not agree with their checksums.
    damaged: usize,
}

/// A change of the level.
#[derive(Serialize, JsonSchema)]
struct ChangeJson {
    /// The first run of the new level.
    run: u64,
    /// The earliest run at which the level may have changed.
    earliest_run: u64,
    /// The latest.
    latest_run: u64,
    /// The new level over the old.
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
