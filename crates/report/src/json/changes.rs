//! The changes in all metrics over the runs of a machine.

use super::FORMAT;
use crate::changes::Changes;
use crate::comparison::FALSE_DISCOVERY_RATE;
use instrument::statistics::changes::LEAST;
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::Value;

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
