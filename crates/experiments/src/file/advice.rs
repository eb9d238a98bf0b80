//! What programs should use that read and write files.

use super::block_size::{Pass, USUAL_BLOCK, best};
use crate::estimates::WithEstimate;
use instrument::advice::{Advice, Rule};
use instrument::claim::Evidence;
use instrument::finding::Finding;
use instrument::quantity::Unit;

const BLOCKS: &str = "file.block_size";

pub(crate) const ALL: &[Rule] = &[
    Rule {
        setting: "read_block_size",
        title: "block size for reading files",
        unit: Some(Unit::Bytes),
        experiments: &[BLOCKS],
        find: |evidence| block_size(evidence, Pass::ReadWarm),
    },
    Rule {
        setting: "read_cold_block_size",
        title: "block size for reading files that are not in memory",
        unit: Some(Unit::Bytes),
        experiments: &[BLOCKS],
        find: |evidence| block_size(evidence, Pass::ReadCold),
    },
    Rule {
        setting: "write_block_size",
        title: "block size for writing files",
        unit: Some(Unit::Bytes),
        experiments: &[BLOCKS],
        find: |evidence| block_size(evidence, Pass::Write),
    },
];

fn block_size(evidence: &Evidence<'_>, pass: Pass) -> Option<Advice> {
    let (size, gain) = best(evidence.of(BLOCKS)?, pass)?;
    let because = Finding::new(
        "because",
        "Larger blocks gain nothing; these give {gain} of what blocks of {usual} give.",
    )
    .with("gain", &gain, Unit::Ratio)
    .given("usual", USUAL_BLOCK as f64, Unit::Bytes);
    Some(Advice {
        value: size.into(),
        usual: USUAL_BLOCK.into(),
        gain: Some(gain),
        because,
    })
}
