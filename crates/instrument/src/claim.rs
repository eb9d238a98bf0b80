//! Claims: what somebody says about systems, judged by what was measured on this one.

use crate::finding::{Finding, sentence};
use crate::point::Level;
use crate::results::{Estimate, Results};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// What a published report or common belief says, with the test that decides it here.
#[derive(Debug)]
pub struct Claim {
    /// Its name, the same in every version: `larger_blocks_are_faster`.
    pub key: &'static str,
    /// What is said, as a sentence.
    pub says: &'static str,
    /// Who says it: a report and its section, or `folklore`.
    pub source: &'static str,
    /// The experiments that decide it; the first is the one whose charts show it.
    pub experiments: &'static [&'static str],
    /// Decides it; `None` where what is needed was not measured or is unsound.
    pub test: fn(&Evidence<'_>) -> Option<Judgement>,
}

/// What becomes of a claim on a machine.
#[derive(Clone, Debug, PartialEq)]
pub struct Judgement {
    /// Whether it holds.
    pub ruling: Ruling,
    /// The numbers that decide it, as a sentence; or what keeps it open.
    pub because: Finding,
}

/// Whether a claim holds.
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "snake_case")]
pub enum Ruling {
    /// It holds.
    Holds,
    /// It holds in a part of what was measured, which the sentence names.
    HoldsInPart,
    /// It does not hold.
    DoesNotHold,
    /// The measurement does not decide it.
    CannotBeTold,
}

/// What one run measured, for claims that rest on several experiments.
pub struct Evidence<'a> {
    results: &'a [Results<'a>],
}

impl<'a> Evidence<'a> {
    /// The evidence that these results are.
    pub fn new(results: &'a [Results<'a>]) -> Self {
        Self { results }
    }

    /// The results of the experiment called `id`; `None` if it gave none.
    pub fn of(&self, id: &str) -> Option<&'a Results<'a>> {
        let is_meant = |results: &&Results<'_>| results.definition.id == id;
        let found = self.results.iter().find(is_meant)?;
        (!found.points.is_empty()).then_some(found)
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
    /// A judgement by a finding.
    pub fn new(ruling: Ruling, because: Finding) -> Self {
        Self { ruling, because }
    }
}

impl Claim {
    /// Judges the claim by what a run measured.
    pub fn judge(&self, evidence: &Evidence<'_>) -> Judgement {
        (self.test)(evidence).unwrap_or_else(|| {
            let missing = self.experiments.iter().find(|id| evidence.of(id).is_none());
            let sentence = match missing {
                Some(id) => sentence!("{id} was not measured; `oscope run {id}` does."),
                None => {
                    sentence!("What it takes is missing among the measured values, or is unsound.")
                }
            };
            Judgement::new(Ruling::CannotBeTold, Finding::new(self.key, sentence))
        })
    }
}
