//! The comparison as JSON (`--json`), as `schema/ab-1.schema.json` describes it.

use super::programs::Program;
use super::summary::Summary;
use super::told::Judged;
use instrument::ab::{Ending, Outcome, Rules};
use serde::Serialize;
use std::collections::BTreeMap;

/// Version of the document.
const FORMAT: u32 = 1;

/// The document.
#[derive(Serialize)]
pub struct Document<'a> {
    format: u32,
    /// Number of the run in the store.
    run: u64,
    /// The words of the shell; `None` if programs were started directly.
    shell: Option<&'a [String]>,
    seed: u64,
    margin: f64,
    /// Probability that an equal pair is called different.
    error: f64,
    ending: Ending,
    blocks: usize,
    /// The error that ended the comparison.
    failure: Option<&'a str>,
    programs: Vec<Measured<'a>>,
    pairs: Vec<Judged<'a>>,
    remarks: &'a [String],
}

#[derive(Serialize)]
struct Measured<'a> {
    name: &'a str,
    command: &'a str,
    parameters: BTreeMap<&'a str, &'a str>,
    #[serde(flatten)]
    summary: &'a Summary,
}

/// Facts in the document beside the outcome.
pub struct Circumstances<'a> {
    pub run: u64,
    pub shell: Option<&'a [String]>,
    pub seed: u64,
    pub rules: &'a Rules,
    pub failure: Option<&'a str>,
    pub remarks: &'a [String],
}

impl<'a> Document<'a> {
    pub fn new(
        programs: &'a [Program],
        summaries: &'a [Summary],
        outcome: &'a Outcome,
        around: &Circumstances<'a>,
    ) -> Self {
        let measured = programs.iter().zip(summaries);
        let judged = outcome.pairs.iter();
        Self {
            format: FORMAT,
            run: around.run,
            shell: around.shell,
            seed: around.seed,
            margin: around.rules.margin,
            error: around.rules.error,
            ending: outcome.ending,
            blocks: outcome.blocks,
            failure: around.failure,
            programs: measured
                .map(|(program, summary)| Measured {
                    name: &program.name,
                    command: &program.command,
                    parameters: program
                        .parameters
                        .iter()
                        .map(|(name, value)| (name.as_str(), value.as_str()))
                        .collect(),
                    summary,
                })
                .collect(),
            pairs: judged
                .map(|pair| Judged::new(&programs[0].name, &programs[pair.rival].name, pair))
                .collect(),
            remarks: around.remarks,
        }
    }
}
