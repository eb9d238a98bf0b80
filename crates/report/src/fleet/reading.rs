//! The values of one run, without its samples.

use crate::Surroundings;
use crate::comparison::{each_value, facts_of, merit, usable};
use instrument::component::Component;
use instrument::counterpart::Counterpart;
use instrument::experiment::{Better, Definition};
use instrument::plan::Profile;
use instrument::point::Point;
use instrument::quantity::Unit;
use instrument::statistics::peers::Observation;
use platform::environment::System;
use record::Run;
use std::collections::BTreeMap;

/// The tag for the name of the host.
pub const HOST: &str = "host";
/// The tag for the part of the host that was measured: `cpu 7`, `socket 1`.
pub const PART: &str = "part";
/// The tag for the switches above the host, the outermost first: `s0.s5`.
pub const SWITCH: &str = "switch";

/// The values of one run, which take a hundredth of its memory.
#[derive(Clone, Debug)]
pub struct Reading {
    pub(super) run: String,
    pub(super) machine: String,
    /// The name of its host, if the run names it.
    pub(super) host: Option<String>,
    /// The switches above its host, if the run names them.
    pub(super) switch: Option<String>,
    pub(super) profile: Profile,
    pub(super) version: String,
    pub(super) is_finished: bool,
    /// The environment and the machine, by path.
    pub(super) facts: BTreeMap<String, String>,
    pub(super) surroundings: Surroundings,
    /// The definitions of its experiments.
    pub(super) definitions: Vec<Definition>,
    pub(super) values: Vec<RunValue>,
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
pub(super) struct RunValue {
    pub key: Key,
    pub meaning: Meaning,
    /// The logarithm of the value, signed so that more is better; the reason if there is none.
    pub found: Result<Cell, String>,
}

/// The value of a node, or its change.
#[derive(Clone, Copy, Debug)]
pub(super) struct Cell {
    pub found: Observation,
    /// True if a warning concerns it.
    pub is_doubtful: bool,
    /// The logarithms of the value now and before, if `found` is its change.
    pub sides: Option<[f64; 2]>,
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
        for record in run.experiments.into_iter().filter(|it| !it.is_trial()) {
            let id = &record.definition.id;
            each_value(&record, |point, metric, estimate, is_doubtful| {
                let Some(component) = experiments::component(id, point, &metric.name) else {
                    reading.unknown += 1;
                    return;
                };
                let differs = |own: &System| differs_elsewhere(id, point, &metric.name, *own);
                reading.values.push(RunValue {
                    key: Key {
                        component,
                        experiment: id.clone(),
                        point: point.clone(),
                        metric: metric.name.clone(),
                    },
                    meaning: Meaning {
                        version: metric.version,
                        unit: metric.unit,
                        better: metric.better,
                        system: system.filter(differs),
                    },
                    found: usable(estimate).map(|()| Cell {
                        found: Observation {
                            value: merit(metric, estimate.centre),
                            error: estimate.error(),
                        },
                        is_doubtful,
                        sides: None,
                    }),
                });
            });
            reading.definitions.push(record.definition);
        }
        reading
    }

    /// Id of the run.
    pub fn run(&self) -> &str {
        &self.run
    }
}

/// True if a value of this name differs in meaning on a system that is not `own`.
fn differs_elsewhere(experiment: &str, point: &Point, metric: &str, own: System) -> bool {
    let other = match own {
        System::Linux => System::Windows,
        System::Windows | System::Other => System::Linux,
    };
    experiments::counterpart(experiment, point, metric, other) != Counterpart::Same
}

/// All that two values must share to be compared.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Meaning {
    pub version: u32,
    pub unit: Unit,
    pub better: Better,
    /// The operating system, if the value means something else on another one.
    pub system: Option<System>,
}

impl Meaning {
    /// The reason why values of this meaning cannot be compared with those of `usual`.
    pub(super) fn obstacle(self, usual: Self) -> String {
        if self.version != usual.version {
            format!(
                "version {} of the metric, where most nodes have version {}",
                self.version, usual.version
            )
        } else if let Some(system) = self.system.filter(|_| self.system != usual.system) {
            format!("it means something else on {system} than on the system of most nodes")
        } else {
            "its unit or its direction is not that of most nodes".into()
        }
    }
}

/// The name of the node that a run names: its host, with the part of it.
pub fn name(run: &Run) -> Option<String> {
    let host = tag(run, HOST)?;
    Some(match tag(run, PART) {
        Some(part) => format!("{host} {part}"),
        None => host,
    })
}

/// A tag that is not empty.
fn tag(run: &Run, key: &str) -> Option<String> {
    let value = run.header.tags.get(key);
    value.filter(|value| !value.is_empty()).cloned()
}
