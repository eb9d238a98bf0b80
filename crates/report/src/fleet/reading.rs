//! The values of one run, without its samples.

use super::meaning::Meaning;
use super::tags::{HOST, SWITCH, tag};
use crate::Surroundings;
use crate::comparison::{facts_of, merit, usable};
use instrument::component::Component;
use instrument::counterpart::Counterpart;
use instrument::experiment::{Better, Definition, Metric};
use instrument::plan::Profile;
use instrument::point::Point;
use instrument::results::PointResult;
use instrument::statistics::peers::Observation;
use platform::environment::System;
use record::Run;
use std::collections::BTreeMap;

/// The values of one run, which take a hundredth of its memory.
#[derive(Clone, Debug)]
pub struct Reading {
    pub(super) run: String,
    pub(super) machine: String,
    /// The name of its host, if the run tells it.
    pub(super) host: Option<String>,
    /// The switches above its host, if the run tells them.
    pub(super) switch: Option<String>,
    pub(super) profile: Profile,
    pub(super) version: String,
    pub(super) is_finished: bool,
    /// The environment and the machine, by path.
    pub(super) facts: BTreeMap<String, String>,
    pub(super) surroundings: Surroundings,
    /// The definitions of its experiments.
    pub(super) definitions: Vec<Definition>,
    pub(super) values: Vec<Measured>,
    /// Number of values of experiments that this version of oscope does not know.
    pub(super) unknown: usize,
}

/// A metric at a point.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Key {
    pub component: Component,
    pub experiment: String,
    pub point: Point,
    pub metric: String,
}

/// A value of a run.
#[derive(Clone, Debug)]
pub(super) struct Measured {
    pub key: Key,
    pub meaning: Meaning,
    /// The logarithm of the value, signed so that more is better; the reason if there is none.
    pub found: Result<Observation, String>,
    pub is_doubtful: bool,
}

impl Reading {
    /// Reads the values of `run`.
    pub fn of(run: Run) -> Self {
        let system = run.environment.system();
        let mut reading = Self {
            facts: facts_of(&run),
            surroundings: Surroundings::of(&run),
            is_finished: run.is_finished(),
            host: tag(&run, HOST),
            switch: tag(&run, SWITCH),
            run: run.header.id,
            machine: run.header.machine_fingerprint,
            profile: run.header.profile,
            version: run.header.version,
            definitions: Vec::new(),
            values: Vec::new(),
            unknown: 0,
        };
        for record in run.experiments {
            for point in record.points.iter().filter(|it| !it.batches.is_empty()) {
                let result = point.result(&record.definition);
                reading.take(&record.definition, &point.point, &result, system);
            }
            reading.definitions.push(record.definition);
        }
        reading
    }

    /// Id of the run.
    pub fn run(&self) -> &str {
        &self.run
    }

    fn take(
        &mut self,
        definition: &Definition,
        point: &Point,
        result: &PointResult,
        system: Option<System>,
    ) {
        for metric in &definition.metrics {
            let Some(estimate) = result.estimate(&metric.name) else {
                continue;
            };
            if metric.better == Better::Neither {
                continue;
            }
            let Some(component) = experiments::component(&definition.id, point, &metric.name)
            else {
                self.unknown += 1;
                continue;
            };
            let of_system =
                system.filter(|it| means_something_else(definition, point, metric, *it));
            let observed = |()| Observation {
                value: merit(metric, estimate.centre),
                error: estimate.error(),
            };
            self.values.push(Measured {
                key: Key {
                    component,
                    experiment: definition.id.clone(),
                    point: point.clone(),
                    metric: metric.name.clone(),
                },
                meaning: Meaning::of(metric, of_system),
                found: usable(estimate).map(observed),
                is_doubtful: result.is_doubtful(&metric.name),
            });
        }
    }
}

/// True if the value of this name means something else on a system that is not `own`.
fn means_something_else(
    definition: &Definition,
    point: &Point,
    metric: &Metric,
    own: System,
) -> bool {
    let other = match own {
        System::Linux => System::Windows,
        System::Windows | System::Other => System::Linux,
    };
    experiments::counterpart(&definition.id, point, &metric.name, other) != Counterpart::Same
}
