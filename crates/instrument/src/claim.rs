//! Claims: published statements about systems, judged by measurements on this machine.

use crate::finding::{Finding, sentence};
use crate::point::Level;
use crate::results::{Estimate, Results};
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
    /// The experiments that decide it; reports show the charts of the first one.
    pub experiments: &'static [&'static str],
    /// Decides the claim; `None` if a needed measurement is missing or unsound.
    pub test: fn(&Evidence<'_>) -> Option<Judgement>,
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

/// All measurements of one run, for claims that rest on several experiments.
pub struct Evidence<'a> {
    results: &'a [Results<'a>],
}

impl<'a> Evidence<'a> {
    /// The evidence in these results.
    pub fn new(results: &'a [Results<'a>]) -> Self {
        Self { results }
    }

    /// The results of the experiment called `id`; `None` if it has none.
    pub fn of(&self, id: &str) -> Option<&'a Results<'a>> {
        let is_meant = |results: &&Results<'_>| results.definition.id == id;
        let found = self.results.iter().find(is_meant)?;
        (!found.points.is_empty()).then_some(found)
    }

    /// True if the run has the experiment called `id`, with values or without.
    fn has_tried(&self, id: &str) -> bool {
        let mut all = self.results.iter();
        all.any(|results| results.definition.id == id)
    }

    /// The sound estimate of `metric` at the point of the experiment called `id` with these levels.
    pub fn estimate(
        &self,
        id: &str,
        metric: impl AsRef<str>,
        levels: &[(&str, Level)],
    ) -> Option<&'a Estimate> {
        let estimate = self.of(id)?.at(levels)?.estimate(metric)?;
        estimate.is_sound().then_some(estimate)
    }
}

impl Judgement {
    /// A judgement supported by a finding.
    pub fn new(ruling: Ruling, because: Finding) -> Self {
        Self { ruling, because }
    }
}

impl Claim {
    /// Judges the claim by the measurements of a run.
    pub fn judge(&self, evidence: &Evidence<'_>) -> Judgement {
        let judged = (self.test)(evidence);
        let is_vague = judged.as_ref().is_some_and(|it| it.because.is_vague());
        judged.filter(|_| !is_vague).unwrap_or_else(|| {
            let missing = self.experiments.iter().find(|id| evidence.of(id).is_none());
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
