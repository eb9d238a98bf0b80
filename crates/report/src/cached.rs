//! An analysis as text for the cache of a store, so that a run is judged once.

use crate::advice::Guides;
use crate::{Analysis, ExperimentAnalysis, Surroundings};
use advice::Advice;
use instrument::claim::Judgement;
use instrument::figure::Figure;
use instrument::finding::Finding;
use instrument::results::PointResult;
use record::Run;
use serde::Deserialize;

/// The part that an analysis adds to its run.
#[derive(Debug, Deserialize)]
pub struct Cached {
    samples: usize,
    experiments: Vec<Experiment>,
    claims: Vec<(String, Judgement)>,
    advice: Advice,
    guides: Guides,
    surroundings: Surroundings,
}

#[derive(Debug, Deserialize)]
struct Experiment {
    points: Vec<PointResult>,
    findings: Vec<Finding>,
    figures: Vec<Figure>,
}

/// The analysis as JSON, for [`Cached::read`].
///
/// # Errors
/// If a part cannot be written as JSON.
pub fn to_text(analysis: &Analysis<'_>) -> serde_json::Result<String> {
    serde_json::to_string(analysis)
}

impl Cached {
    /// The analysis of `run` in `text`; `None` if it does not fit.
    pub fn read(text: &str, run: &Run) -> Option<Self> {
        let cached: Self = serde_json::from_str(text).ok()?;
        let fits = cached.experiments.len() == run.measured().count();
        fits.then_some(cached)
    }

    /// The analysis of `run`, of which only the outline is read.
    pub fn analysis(self, run: &Run) -> Analysis<'_> {
        let experiments = run.measured().zip(self.experiments);
        let experiments = experiments.map(|(record, cached)| ExperimentAnalysis {
            definition: &record.definition,
            skipped: record.skipped.as_deref(),
            points: cached.points,
            failures: record.failures().collect(),
            findings: cached.findings,
            figures: cached.figures,
        });
        let claims = self.claims.into_iter().filter_map(|(key, judgement)| {
            let claim = experiments::claims().find(|claim| claim.key == key)?;
            Some((claim, judgement))
        });
        Analysis {
            run,
            experiments: experiments.collect(),
            claims: claims.collect(),
            advice: self.advice,
            guides: self.guides,
            surroundings: self.surroundings,
            samples: self.samples,
            machines: Vec::new(),
        }
    }
}
