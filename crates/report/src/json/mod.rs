//! Results as JSON for other programs.
//!
//! The format is stable: [`FORMAT`] increases if a field changes its meaning or is removed; new
//! fields may appear at any time. Numbers are in base units (bytes, ns, bytes per second); a
//! missing number is `null`.
//!
//! The schemas are in `schema/` of this crate; `OSCOPE_RENEW_SCHEMA=1 cargo test -p oscope-report
//! --test schemas` regenerates them.

mod experiment;
mod finding;
mod history;

use crate::machines::{Located, Unusual};
use crate::{Analysis, Surroundings, Verdict};
use experiment::ExperimentJson;
pub(crate) use finding::ClaimJson;
use finding::{FindingJson, claim_list};
use history::{ChangesJson, HistoryJson};
pub use history::{changes, histories};

use instrument::clock::Calibration;
use instrument::experiment::Definition;
use instrument::fitness::Check;
use platform::environment::Environment;
use platform::machine::Machine;
use platform::storage::Storage;
use record::store::{RunSummary, Verification};
use record::{Header, Proof};
use schemars::{JsonSchema, Schema, schema_for};
use serde::Serialize;
use serde_json::Value;
use std::borrow::Cow;
use std::path::Path;

/// The version of this format.
pub const FORMAT: u32 = 1;

/// All results of a run: its header, the machine, the findings (most important first, undecided
/// last), and the estimates of each experiment.
pub fn analysis(analysis: &Analysis) -> Value {
    let run = analysis.run;
    let findings = analysis.findings();
    let verdict = Verdict::of(analysis);
    value(&AnalysisJson {
        format: FORMAT,
        run: &run.header,
        finished: run.is_finished(),
        machine: &run.machine,
        environment: &run.environment,
        storage: run.storage.as_ref(),
        calibration: &run.calibration,
        findings: findings
            .iter()
            .map(|(from, found)| FindingJson::new(from, found))
            .collect(),
        claims: claim_list(analysis),
        verdict: VerdictJson {
            text: verdict.text(),
            verdict,
        },
        surroundings: analysis.surroundings.clone(),
        unusual: Unusual::of(analysis),
        experiments: analysis
            .experiments
            .iter()
            .map(ExperimentJson::new)
            .collect(),
    })
}

/// The claims as listed by [`analysis`], with the header of the run that judges them.
pub fn claims(analysis: &Analysis) -> Value {
    value(&ClaimsJson {
        format: FORMAT,
        run: &analysis.run.header,
        claims: claim_list(analysis),
    })
}

/// The results of verifying the store at `path`.
pub fn verification(path: &Path, found: &Verification) -> Value {
    value(&VerificationJson {
        format: FORMAT,
        store: path.to_string_lossy(),
        damaged: found.has_damage(),
        found,
    })
}

/// The results of verifying the exported file at `path`.
pub fn proof(path: &Path, proof: &Proof) -> Value {
    value(&ProofJson {
        format: FORMAT,
        file: path.to_string_lossy(),
        damaged: proof.is_damage(),
        proof,
    })
}

/// A list in which each entry contains the version of its format.
pub fn entries<T: Serialize>(entries: &[T]) -> Vec<Entry<'_, T>> {
    let entry = |entry| Entry {
        format: FORMAT,
        entry,
    };
    entries.iter().map(entry).collect()
}

/// A list entry with the version of its format.
#[derive(Serialize, JsonSchema)]
pub struct Entry<'a, T> {
    format: u32,
    #[serde(flatten)]
    entry: &'a T,
}

/// The schemas of this module's documents, each with the name of its document.
pub fn schemas() -> Vec<(&'static str, Schema)> {
    vec![
        ("analysis", schema_for!(AnalysisJson<'_>)),
        ("changes", schema_for!(ChangesJson<'_>)),
        ("checks", schema_for!(Vec<Entry<'_, Check>>)),
        ("claims", schema_for!(ClaimsJson<'_>)),
        ("definitions", schema_for!(Vec<Entry<'_, Definition>>)),
        ("headers", schema_for!(Vec<Entry<'_, Header>>)),
        ("histories", schema_for!(Vec<HistoryJson<'_>>)),
        ("machines", schema_for!(Vec<Entry<'_, Located>>)),
        ("proof", schema_for!(ProofJson<'_>)),
        ("runs", schema_for!(Vec<Entry<'_, RunSummary>>)),
        ("verification", schema_for!(VerificationJson<'_>)),
    ]
}

pub(crate) fn value(data: &impl Serialize) -> Value {
    serde_json::to_value(data).expect("plain data whose maps have text for keys")
}

#[derive(Serialize, JsonSchema)]
struct AnalysisJson<'a> {
    format: u32,
    run: &'a Header,
    /// True if the run completed its plan.
    finished: bool,
    machine: &'a Machine,
    environment: &'a Environment,
    storage: Option<&'a Storage>,
    calibration: &'a Calibration,
    findings: Vec<FindingJson<'a>>,
    verdict: VerdictJson,
    /// The conditions of the run.
    surroundings: Surroundings,
    /// What is slow or fast compared with other machines of this kind.
    unusual: Unusual,
    claims: Vec<ClaimJson<'a>>,
    experiments: Vec<ExperimentJson<'a>>,
}

/// Counts of the run's values by how well they are known.
#[derive(Serialize, JsonSchema)]
struct VerdictJson {
    #[serde(flatten)]
    verdict: Verdict,
    /// Text for readers.
    text: String,
}

#[derive(Serialize, JsonSchema)]
struct ClaimsJson<'a> {
    format: u32,
    run: &'a Header,
    claims: Vec<ClaimJson<'a>>,
}

#[derive(Serialize, JsonSchema)]
struct VerificationJson<'a> {
    format: u32,
    store: Cow<'a, str>,
    damaged: bool,
    #[serde(flatten)]
    found: &'a Verification,
}

#[derive(Serialize, JsonSchema)]
struct ProofJson<'a> {
    format: u32,
    file: Cow<'a, str>,
    damaged: bool,
    #[serde(flatten)]
    proof: &'a Proof,
}
