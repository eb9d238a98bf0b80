//! Claims: published statements about systems, judged by measurements on this machine.

use crate::finding::{Finding, sentence};
use crate::quantity::Quantity;
use crate::results::Results;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A statement from a published report or common belief, with the test that decides it here.
#[derive(Debug)]
pub struct Claim {
    /// Name, the same in every version: `larger_blocks_are_faster`.
    pub key: &'static str,
    /// The statement, as a sentence.
    pub says: &'static str,
    /// The source: a report and its section, or `folklore`.
    pub source: &'static str,
    /// The experiments that decide it, and how. Reports show the charts of the first one.
    pub basis: Basis<Judgement>,
}

/// The experiments from which something follows, and how it follows: `None` if a needed measurement is missing or
/// unsound.
#[derive(Debug)]
pub enum Basis<T: 'static> {
    /// One experiment, by its id.
    One(&'static str, fn(&Results<'_>) -> Option<T>),
    /// Several experiments, or several runs.
    Several(&'static [&'static str], fn(&Evidence<'_>) -> Option<T>),
}

impl<T> Basis<T> {
    /// The ids of the experiments.
    pub fn experiments(&self) -> &[&'static str] {
        match self {
            Self::One(id, _) => std::slice::from_ref(id),
            Self::Several(ids, _) => ids,
        }
    }

    /// The thing that follows from the evidence.
    pub fn follows_from(&self, evidence: &Evidence<'_>) -> Option<T> {
        match self {
            Self::One(id, by) => by(evidence.of(id)?),
            Self::Several(_, by) => by(evidence),
        }
    }
}

/// The judgement of a claim on one machine.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Judgement {
    /// The decision.
    pub ruling: Ruling,
    /// The numbers that decide it, as a sentence, or the reason why it stays open.
    pub because: Finding,
}

/// The decision about a claim.
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "snake_case")]
pub enum Ruling {
    /// The claim holds.
    Holds,
    /// The claim holds for a part of the measured range, which the sentence names.
    HoldsInPart,
    /// The claim does not hold.
    DoesNotHold,
    /// The measurement does not decide it.
    Undecided,
}

/// All measurements of one run, for claims that rest on several experiments, and those of a second run for claims
/// about two systems.
pub struct Evidence<'a> {
    results: &'a [Results<'a>],
    on_windows: &'a [Results<'a>],
}

impl<'a> Evidence<'a> {
    /// The evidence in these results.
    pub fn new(results: &'a [Results<'a>]) -> Self {
        Self {
            results,
            on_windows: &[],
        }
    }

    /// Adds the results of a run that was made on Windows.
    #[must_use]
    pub fn next_to_windows(self, on_windows: &'a [Results<'a>]) -> Self {
        Self { on_windows, ..self }
    }

    /// The results of the experiment called `id`; `None` if it has none.
    pub fn of(&self, id: &str) -> Option<&'a Results<'a>> {
        found(self.results, id)
    }

    /// The results of the experiment called `id` on Windows; `None` if it has none.
    pub fn on_windows(&self, id: &str) -> Option<&'a Results<'a>> {
        found(self.on_windows, id)
    }

    /// True if the run has the experiment called `id`, with values or without.
    fn has_tried(&self, id: &str) -> bool {
        let mut all = self.results.iter();
        all.any(|results| results.definition.id == id)
    }
}

fn found<'a>(results: &'a [Results<'a>], id: &str) -> Option<&'a Results<'a>> {
    let found = results.iter().find(|results| results.definition.id == id)?;
    (!found.points.is_empty()).then_some(found)
}

impl Judgement {
    /// A judgement supported by a finding.
    pub fn new(ruling: Ruling, because: Finding) -> Self {
        Self { ruling, because }
    }

    /// The judgement with a number for programs.
    #[must_use]
    pub fn with_number(self, name: &'static str, quantity: impl Into<Quantity>) -> Self {
        Self {
            because: self.because.with_number(name, quantity),
            ..self
        }
    }
}

impl Claim {
    /// True if everything that decides the claim was measured, and well enough.
    pub fn is_measured(&self, evidence: &Evidence<'_>) -> bool {
        let judged = self.basis.follows_from(evidence);
        judged.is_some_and(|judged| !judged.because.is_vague())
    }

    /// Judges the claim by the measurements of a run.
    pub fn judge(&self, evidence: &Evidence<'_>) -> Judgement {
        let judged = self.basis.follows_from(evidence);
        let is_vague = judged.as_ref().is_some_and(|it| it.because.is_vague());
        judged.filter(|_| !is_vague).unwrap_or_else(|| {
            let mut experiments = self.basis.experiments().iter();
            let missing = experiments.find(|id| evidence.of(id).is_none());
            let sentence = match missing {
                _ if is_vague => {
                    sentence!("A value that the claim rests on is not measured well enough.")
                }
                Some(id) if evidence.has_tried(id) => {
                    sentence!("{id} was tried and could not be measured.")
                }
                Some(id) => sentence!("{id} was not measured; `oscope run {id}` does."),
                None => {
                    sentence!("A value that the claim rests on is missing or unsound.")
                }
            };
            Judgement::new(Ruling::Undecided, Finding::new(self.key, sentence))
        })
    }
}
