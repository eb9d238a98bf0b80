//! Compares a run with its checksums.

use super::{
    Checksum, ExperimentChecksums, Place, PointChecksums, RunChecksums, batch, experiment, header,
    machine, point,
};
use crate::run::{ExperimentRecord, Header, PointRecord, Run};
use instrument::experiment::Definition;
use instrument::point::Point;
use schemars::JsonSchema;
use serde::Serialize;
use std::fmt;

/// A part of a run that differs from what was written.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case", tag = "part")]
pub enum Part {
    /// The header, or the set of experiments.
    Header,
    /// The machine, its environment, storage or clock.
    Machine,
    /// The definition of an experiment, or its set of points.
    Experiment {
        /// The experiment's id.
        experiment: String,
    },
    /// The levels of a point, its ending, or its set of batches.
    Point {
        /// The experiment's id.
        experiment: String,
        /// The point.
        point: Point,
    },
    /// The samples of a batch, or their recorded circumstances.
    Batch {
        /// The experiment's id.
        experiment: String,
        /// The point.
        point: Point,
        /// The batch's index at the point, from 0.
        batch: usize,
    },
    /// The run's entry in the list of runs.
    Listing,
    /// The numbers of experiments, points and samples in the list of runs.
    Counts,
}

impl fmt::Display for Part {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Header => f.write_str("its header or its list of experiments"),
            Self::Machine => f.write_str("the description of its machine"),
            Self::Experiment { experiment } => {
                write!(f, "the description of {experiment} or its list of points")
            }
            Self::Point { experiment, point } => write!(
                f,
                "the record of {experiment} at ({point}) or its list of batches"
            ),
            Self::Batch {
                experiment,
                point,
                batch,
            } => write!(f, "batch {batch} of {experiment} at ({point})"),
            Self::Listing => f.write_str("its entry in the list of runs"),
            Self::Counts => f.write_str("its counts in the list of runs"),
        }
    }
}

/// Names the parts that disagree with their checksums: only the first few, if there are many.
pub(crate) fn disagreeing(parts: &[Part]) -> String {
    const SHOWN: usize = 3;
    let mut shown: Vec<String> = parts.iter().take(SHOWN).map(Part::to_string).collect();
    if let Some(more) = parts.len().checked_sub(SHOWN).filter(|more| *more > 0) {
        shown.push(format!("{more} more"));
    }
    let verb = if parts.len() == 1 { "does" } else { "do" };
    let shown = match shown.as_slice() {
        [first @ .., last] if !first.is_empty() => format!("{} and {last}", first.join(", ")),
        shown => shown.concat(),
    };
    format!("{shown} {verb} not agree with the checksum")
}

/// The parts of `run` that disagree with its stored checksums.
pub(crate) fn check(run: &Run, stored: &RunChecksums) -> Vec<Part> {
    let mut damaged = Vec::new();
    let experiments: Vec<Checksum> = stored
        .experiments
        .iter()
        .map(|checksums| checksums.experiment)
        .collect();
    let has_all = run.experiments.len() == experiments.len();
    if !(has_all && check_header(&run.header, stored.run, stored.machine, &experiments)) {
        damaged.push(Part::Header);
    }
    if machine(run) != stored.machine {
        damaged.push(Part::Machine);
    }
    let experiments = run.experiments.iter().zip(&stored.experiments);
    for (position, (record, checksums)) in experiments.enumerate() {
        experiment_parts(&run.header.id, position, record, checksums, &mut damaged);
    }
    damaged
}

fn experiment_parts(
    run: &str,
    position: usize,
    record: &ExperimentRecord,
    stored: &ExperimentChecksums,
    damaged: &mut Vec<Part>,
) {
    let ExperimentRecord {
        definition,
        skipped,
        points,
    } = record;
    let parts: Vec<Checksum> = stored.points.iter().map(|stored| stored.point).collect();
    let agrees = check_experiment(
        run,
        position,
        definition,
        skipped.as_deref(),
        stored.experiment,
        &parts,
    );
    if points.len() != parts.len() || !agrees {
        damaged.push(Part::Experiment {
            experiment: definition.id.clone(),
        });
    }
    for (position, (record, stored)) in points.iter().zip(&stored.points).enumerate() {
        let place = Place {
            run,
            experiment: &definition.id,
            point: &record.point,
        };
        check_point(place, position, record, stored, damaged);
    }
}

/// Checks the header of a run and its set of parts.
pub(crate) fn check_header(
    content: &Header,
    stored: Checksum,
    machine: Checksum,
    experiments: &[Checksum],
) -> bool {
    let parts = [machine].into_iter().chain(experiments.iter().copied());
    Checksum::joined(header(content), parts) == stored
}

/// Checks the definition of an experiment and its set of points.
pub(crate) fn check_experiment(
    run: &str,
    position: usize,
    definition: &Definition,
    skipped: Option<&str>,
    stored: Checksum,
    points: &[Checksum],
) -> bool {
    let own = experiment(run, position, definition, skipped);
    Checksum::joined(own, points.iter().copied()) == stored
}

/// Checks the levels and the ending of a point, its set of batches, and each batch.
pub(crate) fn check_point(
    place: Place<'_>,
    position: usize,
    record: &PointRecord,
    stored: &PointChecksums,
    damaged: &mut Vec<Part>,
) {
    let own = point(place, position, record.closing.as_ref());
    let joined = Checksum::joined(own, stored.batches.iter().copied());
    if record.batches.len() != stored.batches.len() || joined != stored.point {
        damaged.push(Part::Point {
            experiment: place.experiment.to_owned(),
            point: place.point.clone(),
        });
    }
    for (number, (taken, stored)) in record.batches.iter().zip(&stored.batches).enumerate() {
        if batch(place, number, taken) != *stored {
            damaged.push(Part::Batch {
                experiment: place.experiment.to_owned(),
                point: place.point.clone(),
                batch: number,
            });
        }
    }
}
