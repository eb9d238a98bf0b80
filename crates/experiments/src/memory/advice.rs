//! What programs should use that work on large blocks of memory.

use super::subloop;
use crate::estimates::{WithEstimate, ratio};
use instrument::advice::{Advice, Rule};
use instrument::claim::Evidence;
use instrument::finding::Finding;
use instrument::quantity::Unit;

const SUBLOOP: &str = "memory.subloop";

pub(crate) const ALL: &[Rule] = &[Rule {
    setting: "loop_piece_size",
    title: "size of the pieces into which repeated work on a large block is cut",
    unit: Some(Unit::Bytes),
    experiments: &[SUBLOOP],
    find: piece_size,
}];

/// The best piece of the largest block that gains by being cut.
fn piece_size(evidence: &Evidence<'_>) -> Option<Advice> {
    let results = evidence.of(SUBLOOP)?;
    let block = *subloop::blocks(results).last()?;
    let (piece, write) = subloop::best(results, block)?;
    let gain = ratio(write, subloop::whole(results, block)?)?;
    if piece >= block || gain.interval?.low <= 1.0 {
        return None;
    }
    let because = Finding::new(
        "because",
        "Repeated work on a block of {block} runs {gain} as fast in such pieces as over the whole.",
    )
    .given("block", block as f64, Unit::Bytes)
    .with("gain", &gain, Unit::Ratio);
    Some(Advice {
        value: piece.into(),
        usual: block.into(),
        gain: Some(gain),
        because,
    })
}
