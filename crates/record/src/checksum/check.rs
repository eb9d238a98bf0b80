//! Compares a run with its checksums.

use super::{Checksum, RunChecksums};
use crate::blob;
use crate::run::Run;
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
    /// The numbers of experiments, points and samples in the list of runs, or those of batches and
    /// of their time in the lists of points.
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
            Self::Counts => f.write_str("its counts in the lists of runs and points"),
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

/// The parts of a run from a document that disagree with the document's checksums.
pub(crate) fn check_document(run: &Run, stored: &RunChecksums) -> Vec<Part> {
    check(
        run,
        stored,
        None,
        |[experiment, point, number], checksum| {
            let batch = &run.experiments[experiment].points[point].batches[number];
            Checksum::of(&blob::encode(batch)) == checksum
        },
    )
}

/// The parts of `run` that disagree with its stored checksums. If `only` one experiment is named, the parts of others
/// are not checked. `is_intact` compares a batch, named by the positions of its experiment, its point and itself, with
/// its checksum.
pub(crate) fn check(
    run: &Run,
    stored: &RunChecksums,
    only: Option<&str>,
    is_intact: impl Fn([usize; 3], Checksum) -> bool,
) -> Vec<Part> {
    let mut damaged = Vec::new();
    let has_all = run.experiments.len() == stored.experiments.len();
    if !has_all || stored.joined(&run.header) != stored.run {
        damaged.push(Part::Header);
    }
    if Checksum::of_json(&run.surroundings()) != stored.machine {
        damaged.push(Part::Machine);
    }
    let experiments = run.experiments.iter().zip(&stored.experiments).enumerate();
    for (number, (record, stored)) in experiments {
        let experiment = &record.definition.id;
        if only.is_some_and(|only| only != experiment) {
            continue;
        }
        if record.points.len() != stored.points.len() || stored.joined(record) != stored.experiment
        {
            damaged.push(Part::Experiment {
                experiment: experiment.clone(),
            });
        }
        for (position, (record, stored)) in record.points.iter().zip(&stored.points).enumerate() {
            let point = &record.point;
            let has_all = record.batches.len() == stored.batches.len();
            if !has_all || stored.joined(record) != stored.point {
                damaged.push(Part::Point {
                    experiment: experiment.clone(),
                    point: point.clone(),
                });
            }
            let batches = stored.batches.iter().take(record.batches.len());
            let wrong = batches
                .enumerate()
                .filter(|(batch, checksum)| !is_intact([number, position, *batch], **checksum));
            damaged.extend(wrong.map(|(batch, _)| Part::Batch {
                experiment: experiment.clone(),
                point: point.clone(),
                batch,
            }));
        }
    }
    damaged
}
