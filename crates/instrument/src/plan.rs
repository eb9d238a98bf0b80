//! Plans: which points to measure, how precisely, and for how long.

use crate::experiment::{Definition, Experiment};
use crate::link::Link;
use crate::need::{self, Need};
use crate::point::Point;
use crate::quantity::Nanoseconds;
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
}

impl Setting {
    /// Wall time that a point may take on the average, in ns.
    pub fn point_budget_ns(&self) -> u64 {
        (self.profile.precision().point_budget_ns as f64 * self.time_scale) as u64
    }
}

/// What one start of oscope will measure.
pub struct Plan<'a> {
    /// The experiments in the order in which they run.
    pub experiments: Vec<Planned<'a>>,
    /// What the profile asks for.
    pub precision: Precision,
    /// Decides the order of the points; the same seed gives the same order.
    pub seed: u64,
}

/// One experiment of a plan.
pub struct Planned<'a> {
    /// The experiment.
    pub experiment: &'a dyn Experiment,
    /// Its description.
    pub definition: Definition,
    /// What it will measure, or why it cannot be measured here.
    pub points: Result<Vec<Point>, String>,
    /// Whether it is left out since the user did not name what only a user can, or since the question
    /// does not arise here: that is no failure.
    pub is_left_out: bool,
    /// Whether the question arises on this machine.
    pub arises: bool,
    /// Wall time that all of its points may take together, in ns.
    pub budget_ns: u64,
}

impl<'a> Plan<'a> {
    /// Lays out `experiments` for `setting`. A `budget` for the whole run is divided among the
    /// experiments by their numbers of points; without one, each point brings its profile's time.
    /// Questions that do not arise on the machine are no part of a plan with others in it.
    pub fn new(
        experiments: &[&'a dyn Experiment],
        setting: &Setting,
        budget: Option<Nanoseconds>,
        seed: u64,
    ) -> Self {
        let mut planned = lay_out(experiments, setting);
        if let Some(budget) = budget {
            // Which points there are may depend on the time they get.
            let setting = Setting {
                time_scale: setting.time_scale * scale(&planned, budget),
                ..setting.clone()
            };
            planned = lay_out(experiments, &setting);
            let scale = scale(&planned, budget);
            for planned in &mut planned {
                planned.budget_ns = (planned.budget_ns as f64 * scale) as u64;
            }
        }
        Self {
            experiments: planned,
            precision: setting.profile.precision(),
            seed,
        }
    }

    /// The wall time the run will take at the most, but for the batches that are under way when
    /// their time ends.
    pub fn budget(&self) -> Nanoseconds {
        Nanoseconds(
            self.experiments
                .iter()
                .map(|planned| planned.budget().0)
                .sum(),
        )
    }

    /// Number of points in all experiments.
    pub fn point_count(&self) -> usize {
        self.experiments.iter().map(Planned::point_count).sum()
    }
}

/// The experiments whose questions arise here; all of them if none does.
fn lay_out<'a>(experiments: &[&'a dyn Experiment], setting: &Setting) -> Vec<Planned<'a>> {
    let mut planned: Vec<_> = experiments
        .iter()
        .map(|experiment| Planned::new(*experiment, setting))
        .collect();
    if planned.iter().any(|planned| planned.arises) {
        planned.retain(|planned| planned.arises);
    }
    planned
}

/// How many times the budgets of `planned` go into `budget`.
fn scale(planned: &[Planned<'_>], budget: Nanoseconds) -> f64 {
    let usual_ns: u64 = planned.iter().map(|planned| planned.budget_ns).sum();
    budget.0 / usual_ns.max(1) as f64
}

impl<'a> Planned<'a> {
    fn new(experiment: &'a dyn Experiment, setting: &Setting) -> Self {
        let needs = experiment.needs(setting);
        let points = match need::missing(&needs, setting) {
            Some(missing) => Err(missing),
            None => match experiment.points(setting) {
                points if points.is_empty() => Err("nothing of it fits this machine".into()),
                points => Ok(points),
            },
        };
        let count = points.as_ref().map_or(0, Vec::len) as u64;
        Self {
            experiment,
            definition: experiment.definition(),
            points,
            is_left_out: needs.iter().any(|need| need.is_left_out(setting)),
            arises: !needs.iter().any(Need::is_beside_the_point),
            budget_ns: count * setting.point_budget_ns(),
        }
    }

    /// The wall time that all of its points may take together.
    pub fn budget(&self) -> Nanoseconds {
        Nanoseconds(self.budget_ns as f64)
    }

    /// Number of points.
    pub fn point_count(&self) -> usize {
        self.points.as_ref().map_or(0, Vec::len)
    }
}
