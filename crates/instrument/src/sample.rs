//! Samples: raw readings of the clock and of the kernel's counters, before any judgement.

use platform::usage::Usage;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// One measurement of one metric.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Sample {
    /// Name of the metric.
    pub metric: String,
    /// The reading.
    pub reading: Reading,
    /// CPU time, page faults and context switches of the process during the sample.
    pub usage: Usage,
    /// End of the sample in monotonic ns.
    pub at_ns: u64,
}

/// The reading of a sample.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Reading {
    /// Wall time of n iterations and, immediately afterwards, of 2n. The difference contains no
    /// cost that a timed run pays once.
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
        /// Number of timed operations.
        count: u64,
        /// 50 % of the operations took at most this long, in ns.
        p50_ns: f64,
        /// 5 % took at most this long.
        p5_ns: f64,
        /// 95 % took at most this long.
        p95_ns: f64,
        /// 99 % took at most this long.
        p99_ns: f64,
    },
    /// A number that was counted or looked up, not timed, in the metric's unit.
    Value(f64),
}

impl Reading {
    /// Wall time of one unit of work (a byte or an operation) in ns, without the costs that cancel.
    /// It may be zero or negative if the clock's resolution was too low. `None` for a
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

    /// Wall time of one unit of work in ns, all costs included.
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

    /// The wall time covered by the sample's [`Usage`], in ns.
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

/// All samples and remarks of one process at a point.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Batch {
    /// Samples in the order in which they were taken.
    pub samples: Vec<Sample>,
    /// The experiment's remarks about its circumstances, for example the method that emptied the
    /// cache.
    pub remarks: Vec<String>,
    /// True if every timed loop reached a steady state before its first sample.
    pub warm: bool,
    /// The processor that the process was pinned to, if any.
    pub cpu: Option<usize>,
    /// Start of the process in monotonic ns.
    pub started_ns: u64,
    /// Wall time from the start of the process to its end, in ns.
    pub wall_ns: u64,
    /// Other activity on the machine during the batch.
    pub disturbance: Disturbance,
}

/// Other activity on the machine during a batch.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Disturbance {
    /// CPU time that the hypervisor gave to other virtual machines, in ns over all processors.
    /// Kernels count in steps that are long compared with a batch. So this field and the next are
    /// shares of at least half a second that ended with the batch, scaled to the batch's wall time.
    /// `None` if the kernel does not report it, and in the first moments of a run.
    pub stolen_ns: Option<u64>,
    /// CPU time of all other programs and of kernel threads, in ns over all processors. The error
    /// is up to one step of the kernel's counter, so the value can be negative.
    pub others_ns: Option<i64>,
    /// Clock frequency of the processor before and after the batch, in Hz. `None` if it cannot be
    /// read.
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
