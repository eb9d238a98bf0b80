//! Samples: raw readings of the clock and of the kernel's counters, before any judgement.

use crate::statistics::summary::median;
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

impl Sample {
    /// A reading of `metric` at an unknown time, whose usage does not count.
    pub fn new(metric: impl Into<String>, reading: Reading) -> Self {
        Self {
            metric: metric.into(),
            reading,
            usage: Usage::default(),
            at_ns: 0,
        }
    }
}

/// The reading of a sample.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Reading {
    /// Repeated wall times of the same number of iterations.
    Legs(Legs),
    /// Wall time of work that cannot be repeated unchanged, such as reading a cold file.
    Once {
        /// Bytes or operations done.
        work: f64,
        /// Wall time in ns.
        wall_ns: u64,
        /// Mean wall time of [`kernels::add_width`] before and after it, in ns.
        reference_ns: Option<u64>,
        /// The conditions around it, known if `reference_ns` is.
        around: Option<Around>,
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
        /// Mean wall time of [`kernels::add_width`] before and after them, in ns.
        reference_ns: Option<u64>,
        /// The conditions around them, known if `reference_ns` is.
        around: Option<Around>,
    },
    /// A number that was counted or looked up, not timed, in the metric's unit.
    Value(f64),
}

/// Repeated timings of one loop in one process.
///
/// A leg's time is `iterations` times the cost of an iteration, plus a cost that each leg pays once.
/// The short legs, with fewer iterations, separate the two.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Legs {
    /// Iterations of a leg.
    pub iterations: u64,
    /// Bytes or operations in one iteration.
    pub work: f64,
    /// Wall time of each leg in ns.
    pub wall_ns: Vec<u64>,
    /// Mean wall time of [`kernels::add_width`] before and after each leg, in ns; empty if it was not
    /// run.
    #[serde(default)]
    pub reference_ns: Vec<u64>,
    /// The conditions around each leg; as many as `reference_ns`.
    #[serde(default)]
    pub around: Vec<Around>,
    /// Iterations of a short leg.
    #[serde(default)]
    pub short_iterations: u64,
    /// Wall time of each short leg in ns; empty if an iteration takes too long for short legs.
    #[serde(default)]
    pub short_wall_ns: Vec<u64>,
}

/// The conditions around a timing: the second reference loop before and after it, and what fell in
/// between. In JSON an array: wall time of the multiply chain before, and after, the change of the
/// width's wall time, involuntary context switches, and the CPU or null.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(from = "AroundFields", into = "AroundFields")]
pub struct Around {
    /// Wall time of [`kernels::MULTIPLY_CHAIN`] before and after, in ns.
    pub chain_ns: (u64, u64),
    /// Wall time of [`kernels::add_width`] after, minus that before, in ns.
    pub width_change_ns: i64,
    /// Involuntary context switches of the process between the two readings.
    pub switches: u64,
    /// The CPU that ran both readings; `None` if they ran on different ones, or if the system does not
    /// report it.
    pub cpu: Option<usize>,
}

type AroundFields = (u64, u64, i64, u64, Option<usize>);

impl From<AroundFields> for Around {
    fn from((before_ns, after_ns, width_change_ns, switches, cpu): AroundFields) -> Self {
        Self {
            chain_ns: (before_ns, after_ns),
            width_change_ns,
            switches,
            cpu,
        }
    }
}

impl From<Around> for AroundFields {
    fn from(around: Around) -> Self {
        let (before_ns, after_ns) = around.chain_ns;
        let Around {
            width_change_ns,
            switches,
            cpu,
            ..
        } = around;
        (before_ns, after_ns, width_change_ns, switches, cpu)
    }
}

impl Legs {
    /// The wall time that each leg pays once, in ns: where the line through the short and the long
    /// legs meets zero iterations. It can be slightly negative. 0 without short legs.
    pub fn fixed_ns(&self) -> f64 {
        let as_floats = |times: &[u64]| -> Vec<f64> { times.iter().map(|ns| *ns as f64).collect() };
        let short = median(&as_floats(&self.short_wall_ns));
        let long = median(&as_floats(&self.wall_ns));
        let more = self.iterations.saturating_sub(self.short_iterations);
        match (short, long) {
            (Some(short), Some(long)) if more > 0 => {
                short - (long - short) * self.short_iterations as f64 / more as f64
            }
            _ => 0.0,
        }
    }

    /// Bytes or operations of a leg.
    fn leg_work(&self) -> f64 {
        self.iterations as f64 * self.work
    }
}

/// The cost of one unit of work (a byte or an operation) in one timing.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Cost {
    /// Wall time in ns, without the costs that a timing pays once. It may be zero or negative if
    /// the clock's resolution was too low.
    pub net_ns: f64,
    /// Wall time in ns, all costs included.
    pub raw_ns: f64,
    /// The mean wall time of [`kernels::add_width`] before and after it, in ns, and the conditions around it;
    /// `None` if the reference loops were not run.
    pub references: Option<(f64, Around)>,
}

impl Reading {
    /// The cost of one unit of work in each timing; empty for a [`Reading::Value`].
    pub fn costs(&self) -> Vec<Cost> {
        let both = |reference_ns: Option<u64>, around| reference_ns.map(|ns| ns as f64).zip(around);
        let one = |cost_ns, reference_ns, around| {
            vec![Cost {
                net_ns: cost_ns,
                raw_ns: cost_ns,
                references: both(reference_ns, around),
            }]
        };
        match self {
            Self::Legs(legs) => {
                let (fixed_ns, work) = (legs.fixed_ns(), legs.leg_work());
                let cost = |(index, &wall_ns): (usize, &u64)| Cost {
                    net_ns: (wall_ns as f64 - fixed_ns) / work,
                    raw_ns: wall_ns as f64 / work,
                    references: both(
                        legs.reference_ns.get(index).copied(),
                        legs.around.get(index).copied(),
                    ),
                };
                legs.wall_ns.iter().enumerate().map(cost).collect()
            }
            &Self::Once {
                work,
                wall_ns,
                reference_ns,
                around,
            } => one(wall_ns as f64 / work, reference_ns, around),
            &Self::Latencies {
                p50_ns,
                reference_ns,
                around,
                ..
            } => one(p50_ns, reference_ns, around),
            Self::Value(_) => Vec::new(),
        }
    }

    /// False for a value, which no clock gave.
    pub fn is_timed(&self) -> bool {
        !matches!(self, Self::Value(_))
    }

    /// The wall time covered by the sample's [`Usage`], in ns.
    pub fn wall_ns(&self) -> Option<u64> {
        match self {
            Self::Legs(legs) => Some(legs.wall_ns.iter().sum()),
            Self::Once { wall_ns, .. } => Some(*wall_ns),
            Self::Latencies { .. } | Self::Value(_) => None,
        }
    }
}

/// All samples and remarks of one visit of a process to a point.
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
    /// Start of the process in monotonic ns. Batches of the same process have the same start.
    pub started_ns: u64,
    /// Wall time of the visit in ns. The first visit of a process includes its start, and the last
    /// its end.
    pub wall_ns: u64,
    /// Other activity on the machine during the batch.
    pub disturbance: Disturbance,
    /// The pass of the run in which it was taken, counted from 0. `None` for values that a
    /// publication printed: nobody knows how they were measured.
    pub pass: Option<u32>,
    /// The full speed of the cores that it ran on, by both reference loops.
    pub full_speed: Option<FullSpeed>,
}

/// A core's highest clock, and the reference loops on a core of one's own, as far as they were known
/// when a batch was taken.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct FullSpeed {
    /// The type of the core, as [`platform::machine::Topology::core_type`]; `None` if all cores of the
    /// machine are alike.
    pub core_type: Option<usize>,
    /// Wall time of [`kernels::MULTIPLY_CHAIN`] at the highest clock that this run sustained so far, in
    /// ns.
    pub chain_ns: f64,
    /// As `chain_ns`, but over this run and earlier runs of the machine.
    pub best_chain_ns: f64,
    /// Wall time of [`kernels::add_width`] over that of the chain on a core of one's own: the smallest
    /// that this run and earlier runs of the machine sustained.
    pub alone_ratio: f64,
    /// Wall time of the chain at the lowest clock that this run sustained so far, in ns.
    pub longest_chain_ns: Option<f64>,
    /// The least and the greatest `chain_ns` of earlier runs of the machine; `None` in the first.
    pub earlier_chain_ns: Option<(f64, f64)>,
}

impl FullSpeed {
    /// The full speed that this and `other`, of one run, show together.
    #[must_use]
    pub fn and(self, other: Self) -> Self {
        let ends = |one: (f64, f64), other: (f64, f64)| (one.0.min(other.0), one.1.max(other.1));
        Self {
            core_type: self.core_type,
            chain_ns: self.chain_ns.min(other.chain_ns),
            best_chain_ns: self.best_chain_ns.min(other.best_chain_ns),
            alone_ratio: self.alone_ratio.min(other.alone_ratio),
            longest_chain_ns: [self.longest_chain_ns, other.longest_chain_ns]
                .into_iter()
                .flatten()
                .reduce(f64::max),
            earlier_chain_ns: [self.earlier_chain_ns, other.earlier_chain_ns]
                .into_iter()
                .flatten()
                .reduce(ends),
        }
    }
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
}

#[cfg(test)]
mod tests {
    use super::{Around, Legs, Reading};

    #[test]
    fn short_legs_show_what_every_leg_pays_once() {
        // 100 ns of overhead and 4 ns for each iteration of 2 operations.
        let legs = Legs {
            iterations: 100,
            work: 2.0,
            wall_ns: vec![500, 500, 900],
            reference_ns: vec![10, 10, 20],
            around: vec![Around::default(); 3],
            short_iterations: 10,
            short_wall_ns: vec![140],
        };
        assert!((legs.fixed_ns() - 100.0).abs() < 1e-9);
        let costs = Reading::Legs(legs.clone()).costs();
        assert_eq!(costs.len(), 3);
        assert!((costs[0].net_ns - 2.0).abs() < 1e-9);
        assert!((costs[2].raw_ns - 4.5).abs() < 1e-9);
        assert_eq!(costs[2].references, Some((20.0, Around::default())));
        let without = Legs {
            short_wall_ns: Vec::new(),
            ..legs
        };
        assert!(without.fixed_ns().abs() < f64::EPSILON);
    }
}
