//! The circumstances in which experiments choose their points: profile, disk space, memory,
//! machine.

use crate::given::Givens;
use crate::limits::{Bound, Limits};
use choice::Choice;
use platform::machine::Machine;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::path::PathBuf;

/// Duration and precision of a run.
#[derive(Choice, Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Profile {
    /// ±5 %, seconds per experiment.
    Quick,
    /// ±3 %, minutes per experiment.
    Standard,
    /// ±2 %, as long as that takes.
    Thorough,
}

/// The precision and times that a profile asks for.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Precision {
    /// Half the width of the 95 % interval over the centre that a point should reach.
    pub target: f64,
    /// Wall time of one point on average.
    pub point_budget_ns: u64,
    /// Passes over all points. Each is a window of the run's time, so that the interval knows how
    /// the machine differs from one window to the next.
    pub passes: usize,
    /// Samples in one process of a metric that is timed once per sample.
    pub samples: usize,
    /// Legs in one process of a metric that is timed by a repeated loop.
    pub legs: usize,
    /// Wall time of a leg, unless one iteration takes longer. Long legs catch more of the bursts of
    /// other programs than short ones.
    pub leg_ns: u64,
    /// Wall time in which one process takes its samples of one metric; at least one sample is
    /// taken.
    pub batch_ns: u64,
}

impl Profile {
    /// All, the quickest first.
    pub const ALL: [Self; 3] = [Self::Quick, Self::Standard, Self::Thorough];

    /// The precision and times of the profile.
    pub const fn precision(self) -> Precision {
        const MS: u64 = 1_000_000;
        match self {
            Self::Quick => Precision {
                target: 0.05,
                point_budget_ns: 420 * MS,
                passes: 10,
                samples: 3,
                legs: 16,
                leg_ns: 200_000,
                batch_ns: 10 * MS,
            },
            Self::Standard => Precision {
                target: 0.03,
                point_budget_ns: 2000 * MS,
                passes: 20,
                samples: 3,
                legs: 25,
                leg_ns: 300_000,
                batch_ns: 30 * MS,
            },
            Self::Thorough => Precision {
                target: 0.02,
                point_budget_ns: 30_000 * MS,
                passes: 40,
                samples: 9,
                legs: 25,
                leg_ns: 300_000,
                batch_ns: 300 * MS,
            },
        }
    }
}

/// The circumstances in which experiments choose their points.
#[derive(Clone, Debug)]
pub struct Setting {
    /// Duration and precision of the run.
    pub profile: Profile,
    /// Directory for scratch files.
    pub directory: PathBuf,
    /// Free space there, in bytes.
    pub free_bytes: u64,
    /// The things that only the user can name.
    pub given: Givens,
    /// The average time of a point, as a multiple of what its profile gives it.
    pub time_scale: f64,
    /// Memory that this process may use, in bytes.
    pub available_bytes: u64,
    /// Swap that measurements may use, in bytes: free swap, and swap that may be created for them.
    pub swap_bytes: u64,
    /// True if the memory of a worker can be limited
    /// ([`Confinement`](crate::experiment::Confinement)).
    pub can_limit_memory: bool,
    /// True if this process has root's rights.
    pub is_root: bool,
    /// The machine.
    pub machine: Machine,
    /// Limits on the run's use of the machine.
    pub limits: Limits,
}

impl Setting {
    /// Average wall time of a point, in ns.
    pub fn point_budget_ns(&self) -> u64 {
        (self.profile.precision().point_budget_ns as f64 * self.time_scale) as u64
    }

    /// The setting with what all its limits allow.
    pub(crate) fn limited(&self) -> Self {
        let all = Bound::PLANNED.into_iter();
        all.fold(self.clone(), |left, bound| left.within(bound))
    }

    /// The setting with what a single one of its limits allows.
    pub(crate) fn within(&self, bound: Bound) -> Self {
        let mut left = self.clone();
        let limits = &self.limits;
        let lower = |amount: &mut u64, limit: Option<u64>| {
            *amount = limit.map_or(*amount, |limit| limit.min(*amount));
        };
        match bound {
            Bound::Cpus => {
                if let Some(threads) = &mut left.machine.topology.threads {
                    *threads = limits
                        .cpus
                        .map_or(*threads, |cpus| (*threads).min(cpus as usize));
                }
            }
            Bound::Memory => lower(&mut left.available_bytes, limits.memory_bytes),
            Bound::Disk => lower(&mut left.free_bytes, limits.disk_bytes),
            Bound::Written => lower(&mut left.free_bytes, limits.written_bytes),
            Bound::Swap if limits.forbid_swap() => left.swap_bytes = 0,
            Bound::Processor | Bound::Rate | Bound::Swap => {}
        }
        left
    }
}
