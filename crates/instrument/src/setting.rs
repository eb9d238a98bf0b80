//! The circumstances in which experiments choose their points: profile, room, memory, the machine.

use crate::limits::{Bound, Limits};
use crate::link::Link;
use platform::machine::Machine;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::fmt;
use std::path::PathBuf;

/// How long and how precise.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Profile {
    /// ±5 %, seconds an experiment.
    Quick,
    /// ±2 %, minutes.
    Standard,
    /// ±1 %, as long as it takes to be sure.
    Thorough,
}

/// What a profile asks for.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Precision {
    /// Half the width of the 95 % interval over the centre at which a point is known well enough.
    pub target: f64,
    /// Wall time that a point may take; the points of an experiment share their times, and all
    /// points of a run what is then left over.
    pub point_budget_ns: u64,
    /// Fresh processes at a point before its interval is trusted: a few that happen to agree look
    /// precise, and are the ones that miss (see the coverage tests of [`crate::statistics`]).
    pub min_processes: usize,
    /// Samples of a metric in one process, before the pilot tells how many are worth their time.
    pub samples: usize,
    /// Wall time of the short leg of a sample, if one iteration does not take longer.
    pub sample_ns: u64,
    /// Wall time within which one process takes its samples of one metric; at least one is taken.
    pub batch_ns: u64,
}

impl Profile {
    /// What the profile asks for.
    pub const fn precision(self) -> Precision {
        const MS: u64 = 1_000_000;
        match self {
            Self::Quick => Precision {
                target: 0.05,
                point_budget_ns: 440 * MS,
                min_processes: 8,
                samples: 3,
                sample_ns: 300_000,
                batch_ns: 20 * MS,
            },
            Self::Standard => Precision {
                target: 0.02,
                point_budget_ns: 2000 * MS,
                min_processes: 15,
                samples: 3,
                sample_ns: 2 * MS,
                batch_ns: 100 * MS,
            },
            Self::Thorough => Precision {
                target: 0.01,
                point_budget_ns: 30_000 * MS,
                min_processes: 30,
                samples: 9,
                sample_ns: 4 * MS,
                batch_ns: 1000 * MS,
            },
        }
    }
}

impl fmt::Display for Profile {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Quick => "quick",
            Self::Standard => "standard",
            Self::Thorough => "thorough",
        })
    }
}

/// The circumstances in which experiments choose their points.
#[derive(Clone, Debug)]
pub struct Setting {
    /// How long and how precise.
    pub profile: Profile,
    /// Where scratch files go.
    pub directory: PathBuf,
    /// Room there, in bytes.
    pub free_bytes: u64,
    /// A second directory for scratch files, on another machine, if the user named one.
    pub remote: Option<PathBuf>,
    /// A receiver of files on another machine, if the user named one, or why there is no way to it.
    pub link: Option<Result<Link, String>>,
    /// How many times its profile's time a point gets, on the average.
    pub time_scale: f64,
    /// Memory that this process may use, in bytes.
    pub available_bytes: u64,
    /// Swap that measurements may use, in bytes: what is free, and what may be made for them.
    pub swap_bytes: u64,
    /// Whether the memory of a worker can be limited
    /// ([`Confinement`](crate::experiment::Confinement)).
    pub can_limit_memory: bool,
    /// Whether this process has the rights of root.
    pub is_root: bool,
    /// The machine.
    pub machine: Machine,
    /// What the run may take of what is there.
    pub limits: Limits,
}

impl Setting {
    /// Wall time that a point may take on the average, in ns.
    pub fn point_budget_ns(&self) -> u64 {
        (self.profile.precision().point_budget_ns as f64 * self.time_scale) as u64
    }

    /// What its limits leave of it.
    pub(crate) fn limited(&self) -> Self {
        let all = Bound::PLANNED.into_iter();
        all.fold(self.clone(), |left, bound| left.within(bound))
    }

    /// What one of its limits alone leaves of it.
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
