//! The measurement of a connection.

use crate::latency::Latency;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// One measurement of the connection between two machines, by the one that asked.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Measured {
    /// The round trips.
    pub latencies: Vec<Latency>,
    /// The throughput in both directions; `None` if it could not be measured.
    pub throughput: Option<Throughput>,
    /// Reasons why parts could not be measured.
    pub lacking: Vec<String>,
}

/// Throughput by TCP, in bytes per second, counted where the bytes arrived.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Throughput {
    /// From the machine that asked to the one that answered.
    pub there: f64,
    /// Back to the machine that asked.
    pub back: f64,
}
