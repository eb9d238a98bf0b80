//! Samples: what was read off the clock and the kernel's counters, before any judgement.

use platform::usage::Usage;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// One measurement of one metric.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Sample {
    /// Name of the metric.
    pub metric: String,
    /// What was read.
    pub reading: Reading,
    /// CPU time, page faults and context switches of the process while it was taken.
    pub usage: Usage,
    /// When it was taken: monotonic ns of the machine.
    pub at_ns: u64,
}

/// What was read.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Reading {
    /// Wall time of n iterations and, right after, of 2n: the difference is free of whatever a
    /// timed run costs once.
    Difference {
        /// n.
        iterations: u64,
        /// Bytes or operations in one iteration.
        work: f64,
        /// Wall time of n iterations in ns.
        short_ns: u64,
        /// Wall time of 2n iterations in ns.
        long_ns: u64,
    },
    /// Wall time of work that cannot be repeated unchanged, such as reading a cold file.
    Once {
        /// Bytes or operations done.
        work: f64,
        /// Wall time in ns.
        wall_ns: u64,
    },
    /// Wall times of single operations, each net of the cost of reading the clock.
    Latencies {
        /// How many operations were timed.
        count: u64,
        /// Half of them took no longer, in ns.
        p50_ns: f64,
        /// 5 % took no longer.
        p5_ns: f64,
        /// 95 % took no longer.
        p95_ns: f64,
        /// 99 % took no longer.
        p99_ns: f64,
    },
    /// A number that was counted or looked up, not timed, in the metric's unit.
    Value(f64),
}

impl Reading {
    /// Wall time of one unit of work (a byte or an operation) in ns, with the costs that cancel
    /// taken off. It may be zero or negative where the clock could not tell. `None` for a
    /// [`Reading::Value`].
    pub fn net_cost_ns(&self) -> Option<f64> {
        match *self {
            Self::Difference {
                iterations,
                work,
                short_ns,
                long_ns,
            } => Some((long_ns as f64 - short_ns as f64) / (iterations as f64 * work)),
            Self::Once { work, wall_ns } => Some(wall_ns as f64 / work),
            Self::Latencies { p50_ns, .. } => Some(p50_ns),
            Self::Value(_) => None,
        }
    }

    /// Wall time of one unit of work in ns with everything in it.
    pub fn raw_cost_ns(&self) -> Option<f64> {
        match *self {
            Self::Difference {
                iterations,
                work,
                long_ns,
                ..
            } => Some(long_ns as f64 / (2.0 * iterations as f64 * work)),
            other => other.net_cost_ns(),
        }
    }

    /// The wall time that the sample's [`Usage`] belongs to, in ns.
    pub fn wall_ns(&self) -> Option<u64> {
        match *self {
            Self::Difference {
                short_ns, long_ns, ..
            } => Some(short_ns + long_ns),
            Self::Once { wall_ns, .. } => Some(wall_ns),
            Self::Latencies { .. } | Self::Value(_) => None,
        }
    }
}

/// All that one process gave at a point.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Batch {
    /// In the order in which they were taken.
    pub samples: Vec<Sample>,
    /// What the experiment had to say about its circumstances, such as how the cache was emptied.
    pub remarks: Vec<String>,
    /// Whether every timed loop settled before its first sample was taken.
    pub warm: bool,
    /// The processor it was pinned to, if it was.
    pub cpu: Option<usize>,
    /// When its process was started: monotonic ns of the machine.
    pub started_ns: u64,
    /// From the start of its process to its end, in ns.
    pub wall_ns: u64,
    /// What else happened on the machine meanwhile.
    pub disturbance: Disturbance,
}

/// What else happened on the machine while a batch was taken.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Disturbance {
    /// CPU time that the hypervisor gave to others, in ns over all processors. Kernels count in
    /// steps that are long beside a batch, so this and the next are shares of the batch's wall time
    /// as they were over half a second at least that ended with it. `None` where the kernel does
    /// not tell, and in the first moments of a run.
    pub stolen_ns: Option<u64>,
    /// CPU time used by all but this program and its workers, the kernel's own threads included, in
    /// ns over all processors. It may be off by one step of the kernel, even below zero.
    pub others_ns: Option<i64>,
    /// Clock frequency of the processor before and after, in Hz. `None` where it cannot be read.
    pub frequency_hz: Option<(f64, f64)>,
}

#[cfg(test)]
mod tests {
    use super::Reading;

    #[test]
    fn the_difference_cancels_what_is_paid_once() {
        // 100 ns of overhead and 4 ns for each of 10 iterations of 2 operations.
        let reading = Reading::Difference {
            iterations: 10,
            work: 2.0,
            short_ns: 140,
            long_ns: 180,
        };
        assert_eq!(reading.net_cost_ns(), Some(2.0));
        assert_eq!(reading.raw_cost_ns(), Some(4.5));
    }
}
