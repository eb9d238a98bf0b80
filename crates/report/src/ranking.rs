//! The findings that a reader of a whole run sees first.

use crate::{Analysis, ExperimentAnalysis};
use instrument::finding::{Finding, Grade};

/// At most this many findings are together on a page or a terminal. All others are with their
/// experiment.
pub const MOST_FINDINGS: usize = 40;

/// Each further finding of the same experiment weighs this much of the one before it: a tenth sentence
/// on one matter changes less for a reader than the first on another.
const FURTHER: f64 = 0.85;
/// Weight of a likely finding, relative to a certain one.
const LIKELY: f64 = 0.8;
/// A finding that weighs less is about its experiment and not about the machine: it is shown in its chapter
/// only.
const OF_MACHINE: f64 = 0.3;

/// The findings of a run that change most for a reader, at most `most`, the most important first.
/// An undecided finding changes nothing, and a light one says little of the machine: both are left to
/// their experiments. One with a vague number is in no analysis.
pub fn foremost<'r, 'a>(
    analysis: &'r Analysis<'a>,
    most: usize,
) -> Vec<(&'r ExperimentAnalysis<'a>, &'r Finding)> {
    let mut weighed: Vec<_> = analysis.experiments.iter().flat_map(by_weight).collect();
    weighed.sort_by(|(one, ..), (other, ..)| other.total_cmp(one));
    weighed
        .into_iter()
        .take(most)
        .map(|(_, experiment, finding)| (experiment, finding))
        .collect()
}

/// The findings of an experiment with what each adds to those before it.
fn by_weight<'r, 'a>(
    experiment: &'r ExperimentAnalysis<'a>,
) -> impl Iterator<Item = (f64, &'r ExperimentAnalysis<'a>, &'r Finding)> {
    let is_wanted = |finding: &&Finding| !finding.is_undecided() && finding.weight >= OF_MACHINE;
    let decided = experiment.findings.iter().filter(is_wanted);
    let further = std::iter::successors(Some(1.0), |share| Some(share * FURTHER));
    decided.zip(further).map(move |(finding, share)| {
        let surety = match finding.grade {
            Grade::Likely => LIKELY,
            _ => 1.0,
        };
        (finding.weight * surety * share, experiment, finding)
    })
}
