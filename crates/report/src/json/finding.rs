//! Findings and claims: sentences for readers, numbers for programs.

use crate::{Analysis, ExperimentAnalysis, show};
use instrument::claim::{Claim, Judgement, Ruling};
use instrument::finding::{Finding, Grade, Trust};
use instrument::quantity::Quantity;
use schemars::JsonSchema;
use serde::Serialize;
use std::borrow::Cow;
use std::collections::BTreeMap;

#[derive(Serialize, JsonSchema)]
pub(super) struct FindingJson<'a> {
    /// Id of its experiment.
    experiment: &'a str,
    /// With `experiment`, the stable name of the finding, the same in every run.
    key: &'a str,
    /// Text for readers.
    sentence: String,
    /// The numbers of the sentence by name, for programs.
    numbers: BTreeMap<&'a str, NumberJson>,
    grade: Grade,
    /// The evidence for the grade; `null` for printed values.
    trust: Option<TrustJson<'a>>,
    /// From 0 to 1.
    weight: f64,
}

impl<'a> FindingJson<'a> {
    pub(super) fn new(experiment: &'a ExperimentAnalysis, finding: &'a Finding) -> Self {
        Self {
            experiment: &experiment.definition.id,
            key: &finding.key,
            sentence: show::sentence(finding),
            numbers: numbers(finding),
            grade: finding.grade,
            trust: finding
                .trust
                .as_ref()
                .map(|trust| TrustJson::new(finding, trust)),
            weight: finding.weight,
        }
    }
}

/// The evidence for the grade of a finding.
#[derive(Serialize, JsonSchema)]
struct TrustJson<'a> {
    /// The passes of the run whose values, taken alone, give the same sentence.
    holds_in: usize,
    /// The passes that measured what the sentence rests on.
    passes: usize,
    /// Name of the number that is known least well; `null` if none was estimated.
    weakest: Option<&'a str>,
    /// The next run is expected within this share of that number: 0.04 for ±4 %.
    next_run: Option<f64>,
    /// Labels of the warnings that touch a number of the finding.
    doubts: &'a [Cow<'static, str>],
    /// Text for readers.
    text: String,
}

impl<'a> TrustJson<'a> {
    fn new(finding: &'a Finding, trust: &'a Trust) -> Self {
        let weakest = finding.weakest();
        Self {
            holds_in: trust.held,
            passes: trust.of,
            weakest: weakest.map(|number| number.name),
            next_run: weakest.and_then(|number| number.quantity.relative_half_width()),
            doubts: &trust.doubts,
            text: show::trust(finding, trust),
        }
    }
}

#[derive(Serialize, JsonSchema)]
pub(crate) struct ClaimJson<'a> {
    /// The name of the claim, the same in every version.
    key: &'a str,
    /// The statement.
    says: &'a str,
    /// Source of the statement.
    source: &'a str,
    /// Ids of the experiments that can decide it.
    experiments: &'a [&'a str],
    ruling: Ruling,
    /// The reason, as text for readers.
    because: String,
    /// The numbers of the reason by name, for programs.
    numbers: BTreeMap<&'a str, NumberJson>,
}

impl<'a> ClaimJson<'a> {
    pub(crate) fn new(claim: &'a Claim, judgement: &'a Judgement) -> Self {
        Self {
            key: claim.key,
            says: claim.says,
            source: claim.source,
            experiments: claim.basis.experiments(),
            ruling: judgement.ruling,
            because: show::sentence(&judgement.because),
            numbers: numbers(&judgement.because),
        }
    }
}

/// All claims with their rulings.
pub(super) fn claim_list<'a>(analysis: &'a Analysis) -> Vec<ClaimJson<'a>> {
    let claims = analysis.claims.iter();
    claims
        .map(|(it, judged)| ClaimJson::new(it, judged))
        .collect()
}

#[derive(Serialize, JsonSchema)]
struct NumberJson {
    #[serde(flatten)]
    quantity: Quantity,
    /// True if the interval reaches further from the value than half of it: readers are shown what is known in its
    /// place.
    vague: bool,
}

/// The numbers of a finding by name.
fn numbers(finding: &Finding) -> BTreeMap<&str, NumberJson> {
    let numbers = finding.numbers().map(|number| {
        let quantity = number.quantity;
        let vague = quantity.is_vague();
        (number.name, NumberJson { quantity, vague })
    });
    numbers.collect()
}
