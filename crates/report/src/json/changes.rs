//! The changes in all metrics over the runs of a machine.

use super::FORMAT;
use crate::changes::{Cause, Changes, Event, Kind, Moved, MovedValue};
use crate::comparison::{Circumstance, FALSE_DISCOVERY_RATE};
use instrument::point::Level;
use instrument::statistics::Interval;
use instrument::statistics::changes::LEAST;
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::Value;
use std::collections::BTreeMap;

/// The changes, the newest first, by run number.
pub fn changes(changes: &Changes, damaged: usize) -> Value {
    super::value(&ChangesJson {
        format: FORMAT,
        machine: &changes.machine,
        runs: changes
            .sessions
            .iter()
            .map(|session| session.number)
            .collect(),
        least_runs: LEAST,
        searched: changes.searched,
        too_short: changes.too_short,
        damaged,
        false_discovery_rate: FALSE_DISCOVERY_RATE,
        changes: changes
            .events
            .iter()
            .map(|event| EventJson::new(event, changes))
            .collect(),
    })
}

#[derive(Serialize, JsonSchema)]
pub(super) struct ChangesJson<'a> {
    format: u32,
    /// The machine, by its fingerprint.
    machine: &'a str,
    /// The runs, oldest first.
    runs: Vec<u64>,
    /// A value needs this many runs.
    least_runs: usize,
    /// Number of values with enough runs, which were searched together.
    searched: usize,
    /// Number of values with too few runs.
    too_short: usize,
    /// Number of runs left out because they do not match their checksums.
    damaged: usize,
    /// The share of the changed values that may be false alarms, on average.
    false_discovery_rate: f64,
    /// The changes, the newest first.
    changes: Vec<EventJson<'a>>,
}

/// Values that changed at the same runs.
#[derive(Serialize, JsonSchema)]
struct EventJson<'a> {
    kind: Kind,
    /// The first run that may be the first of the new level; of a drift, its first run.
    earliest_run: u64,
    /// The last run that may be the first of the new level; of a drift, its last run.
    latest_run: u64,
    /// The values that changed, by experiment and metric, the largest change first.
    moved: Vec<MovedJson<'a>>,
    /// The facts that were different before and after.
    circumstances: &'a [Circumstance],
    cause: Cause,
    /// The differences in conditions, if they are the cause.
    conditions: &'a [String],
}

#[derive(Serialize, JsonSchema)]
struct MovedJson<'a> {
    experiment: &'a str,
    metric: &'a str,
    /// Number of values of the metric that were searched.
    searched: usize,
    /// The median of the ratios: new divided by old.
    ratio: f64,
    /// True if the values changed for the worse.
    worse: bool,
    values: Vec<MovedValueJson<'a>>,
}

#[derive(Serialize, JsonSchema)]
struct MovedValueJson<'a> {
    /// Axis to level: bytes, a count, or a choice.
    levels: BTreeMap<&'a str, &'a Level>,
    /// New value divided by the old one.
    ratio: f64,
    /// Its 95 % confidence interval.
    interval: Option<Interval>,
    /// The p-value of "no more than the margin", adjusted for all values (Benjamini and Hochberg).
    adjusted_p: f64,
}

impl<'a> EventJson<'a> {
    fn new(event: &'a Event, changes: &Changes) -> Self {
        let number = |session: usize| changes.sessions[session].number;
        Self {
            kind: event.kind,
            earliest_run: number(event.between.0),
            latest_run: number(event.between.1),
            moved: event.moved.iter().map(MovedJson::new).collect(),
            circumstances: &event.circumstances,
            cause: event.cause,
            conditions: &event.conditions,
        }
    }
}

impl<'a> MovedJson<'a> {
    fn new(moved: &'a Moved) -> Self {
        Self {
            experiment: &moved.definition.id,
            metric: &moved.metric,
            searched: moved.searched,
            ratio: moved.ratio,
            worse: moved.is_worse(),
            values: moved.values.iter().map(MovedValueJson::new).collect(),
        }
    }
}

impl<'a> MovedValueJson<'a> {
    fn new(value: &'a MovedValue) -> Self {
        let ratio = value.departure.ratio();
        Self {
            levels: value.point.levels().collect(),
            ratio: ratio.centre,
            interval: ratio.interval,
            adjusted_p: value.adjusted_p,
        }
    }
}
