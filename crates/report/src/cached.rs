//! An analysis as text for the cache of a store, so that a run is judged once.

use crate::advice::Guides;
use crate::{Analysis, ExperimentAnalysis, Surroundings};
use advice::Advice;
use instrument::claim::Judgement;
use instrument::figure::Figure;
use instrument::finding::Finding;
use instrument::results::PointResult;
use record::Run;
use serde::{Deserialize, Serialize};
use std::borrow::Cow;

/// The part that an analysis adds to its run.
#[derive(Debug, Deserialize)]
pub struct Cached(Parts<'static>);

#[derive(Debug, Serialize, Deserialize)]
struct Parts<'a> {
    samples: usize,
    experiments: Vec<Experiment<'a>>,
    claims: Vec<(Cow<'a, str>, Cow<'a, Judgement>)>,
    advice: Cow<'a, Advice>,
    guides: Cow<'a, Guides>,
    surroundings: Surroundings,
}

#[derive(Debug, Serialize, Deserialize)]
struct Experiment<'a> {
    points: Cow<'a, [PointResult]>,
    findings: Cow<'a, [Finding]>,
    figures: Cow<'a, [Figure]>,
}

/// The analysis as JSON, for [`Cached::read`].
///
/// # Errors
/// If a part cannot be written as JSON.
pub fn to_text(analysis: &Analysis<'_>) -> serde_json::Result<String> {
    let experiments = analysis.experiments.iter().map(|experiment| Experiment {
        points: Cow::Borrowed(&experiment.points),
        findings: Cow::Borrowed(&experiment.findings),
        figures: Cow::Borrowed(&experiment.figures),
    });
    let claims = analysis.claims.iter();
    serde_json::to_string(&Parts {
        samples: analysis.samples,
        experiments: experiments.collect(),
        claims: claims
            .map(|(claim, judgement)| (Cow::Borrowed(claim.key), Cow::Borrowed(judgement)))
            .collect(),
        advice: Cow::Borrowed(&analysis.advice),
        guides: Cow::Borrowed(&analysis.guides),
        surroundings: analysis.surroundings.clone(),
    })
}

impl Cached {
    /// The analysis of `run` in `text`; `None` if it does not fit.
    pub fn read(text: &str, run: &Run) -> Option<Self> {
        let cached: Self = serde_json::from_str(text).ok()?;
        let fits = cached.0.experiments.len() == run.measured().count();
        fits.then_some(cached)
    }

    /// The analysis of `run`, of which only the outline is read.
    pub fn analysis(self, run: &Run) -> Analysis<'_> {
        let Parts {
            samples,
            experiments,
            claims,
            advice,
            guides,
            surroundings,
        } = self.0;
        let experiments = run.measured().zip(experiments);
        let experiments = experiments.map(|(record, cached)| ExperimentAnalysis {
            definition: &record.definition,
            skipped: record.skipped.as_deref(),
            points: cached.points.into_owned(),
            failures: record.failures().collect(),
            findings: cached.findings.into_owned(),
            figures: cached.figures.into_owned(),
        });
        let claims = claims.into_iter().filter_map(|(key, judgement)| {
            let claim = experiments::claims().find(|claim| claim.key == key)?;
            Some((claim, judgement.into_owned()))
        });
        Analysis {
            run,
            experiments: experiments.collect(),
            claims: claims.collect(),
            advice: advice.into_owned(),
            guides: guides.into_owned(),
            surroundings,
            samples,
            machines: Vec::new(),
        }
    }
}
